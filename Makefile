# make             build/sonde            make check     unit, language and IR tests (no root)
# make asan|debug  same, other flags      make rootcheck runtime tests on this kernel
# make static      one file, no libraries make vm        runtime tests on the kernel matrix
# make aarch64     the same by a cross compiler, and a tree of Debian's libraries; make vm ARCH=aarch64
# make install     DESTDIR, PREFIX, TOOLS=1 (links with the tools' names); make uninstall takes all of it away
#                                         make lint      format, layers, sizes, banned calls
# make lib         libsonde.a and libsonde.so, for programs that embed sonde; make install-dev
# make distros     tests in bare trees     make toolchains    every gcc and clang that Debian has
# make deb|rpm|tarball    packages, in build/package; make packages-check tries them in bare trees
# make bench       beside other tracers, as root, on a quiet machine; QUICK=1: two minutes, only printed
#
# make B=DIR                  build in another folder, so that several builds can run side by side
# make build/src/compiler/ir/emit.o    one object
# make unit ONLY='base ir' T='str ir'   unit tests t_str.c and t_ir.c, linked with these folders alone

B      ?= build
CC     ?= cc
PREFIX ?= /usr/local
# Recordings are compressed by zstd where it is installed, else by zlib. ZSTD= leaves it out.
ZSTD   := $(shell pkg-config --exists libzstd 2>/dev/null && echo libzstd)
# The web servers of sonde serve and of live --web: libmicrohttpd where it is installed. HTTP= leaves them out.
HTTP   := $(shell pkg-config --exists libmicrohttpd 2>/dev/null && echo libmicrohttpd)
# sonde-agent, which answers `sonde fleet --nats`, is built where libnats is installed. NATS= leaves it out; so does a
# static build, for which there is no archive.
NATS   := $(if $(findstring -static,$(LDFLAGS)),,$(shell pkg-config --exists libnats 2>/dev/null && echo libnats))
PKGS   := libbpf libelf zlib $(ZSTD)
CFLAGS ?= -O2 -g
WARN   := -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wstrict-prototypes \
          -Wmissing-prototypes -Wvla -Wformat=2 -Wundef \
          $(if $(findstring clang,$(CC)),-Wno-string-conversion)
# Folders of the source stand in these; an include names its folder: "lang/ast.h", "kern/bpf.h".
GROUPS := src src/compiler src/machine src/features
ALL    := -std=gnu17 -D_GNU_SOURCE $(GROUPS:%=-I%) -Iinclude $(WARN) $(CFLAGS) -fno-common -fvisibility=hidden \
          -ffunction-sections -fdata-sections $(shell pkg-config --cflags $(PKGS))
# Our own checks build with WERROR=-Werror; a newer compiler's opinion stops nobody else.
WERROR ?=
LINK   := $(LDFLAGS) -Wl,--gc-sections
# What this machine's libraries take to link, found once by trying: scripts/libs.sh. SHARED=1: shared libraries even
# where there are archives of all; LIBC=shared: only the C library.
LIBS   := @$B/libs @$B/libs.http

ONLY   ?= *
T      ?= *
# DRAFT=1: files that do little work are not optimized. Builds that only tests use compile faster so. t_step.c steps
# through its own code, which sanitizers and no optimization make too long.
COLD   := $(if $(DRAFT),tests/unit/% $(addprefix src/,api/% cmd/% features/% machine/kern/%))
SRC    := $(sort $(foreach g,$(GROUPS),$(wildcard $(ONLY:%=$g/%/*.c))))
HDR    := $(sort $(foreach g,$(GROUPS),$(wildcard $g/*/*.h)))
TESTS  := $(sort $(wildcard $(T:%=tests/unit/t_%.c)))
# sonde-agent is a program of its own: sonde has none of its parts.
AGENT  := $(patsubst %.c,$B/%.o,$(filter src/agent/%,$(SRC)))
OBJ    := $(patsubst %.c,$B/%.o,$(filter-out src/agent/%,$(SRC))) $B/gen/embed.o $B/gen/version.o
LIBOBJ := $(filter-out $B/src/cmd/main.o,$(OBJ))
# What tests link of it: all that needs no server.
AGENTOBJ := $(filter-out $(addprefix $B/src/agent/,main.o nats.o ask.o who.o),$(AGENT))
UNIT   := $(patsubst %.c,$B/%.o,tests/unit/main.c tests/unit/sinks.c $(TESTS))
FUZZ   := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
BENCH  := $(wildcard bench/*.[ch])
# Parts of pictures and of the page of live; what runs on other hosts.
ASSETS := $(sort $(wildcard src/features/sink/*.js src/features/sink/*.css src/cmd/*.js src/cmd/*.css src/fleet/*.sh))
EMBED  := $(sort $(wildcard tools/*.bt tools/lib/*.bt tools/record/*.bt tools/on/*.bt tools/board/*.bt tools/aliases))
# Other versions of clang-format lay out some lines differently.
CLANG_FORMAT ?= $(or $(shell command -v clang-format-14),$(if $(findstring version 14.,$(shell clang-format --version 2>/dev/null)),clang-format))
FORMAT  = $(SRC) $(HDR) $(BENCH) $(wildcard tests/unit/*.[ch] tests/fuzz/*.c tests/host/*.c) tests/viewers/draw.c tests/kernel/oracle.c

all: $B/sonde $(if $(NATS),$B/sonde-agent)
# Where a program begins that relocates itself: src/machine/arch/entry.c.
$B/sonde: private ENTRY = $(if $(findstring -static-pie,$(file <$B/libs)),$(if $(findstring x86_64,$(shell $(CC) -dumpmachine)),-e sonde_start))
$B/sonde: $(OBJ)
$B/unit: $(UNIT) $(LIBOBJ) $(AGENTOBJ)
$B/sonde $B/unit: $B/objects $B/libs $B/libs.http
	$(call say,LD,$@) $(CC) $(CFLAGS) $(LINK) $(ENTRY) $(filter %.o,$^) $(LIBS) -o $@
$B/dynamic/sonde: $(OBJ) $B/objects $B/libs.dynamic $B/libs.http
	$(call say,LD,$@) mkdir -p $(@D) && $(CC) $(CFLAGS) $(LINK) $(filter %.o,$^) @$B/libs.dynamic @$B/libs.http -o $@
$B/sonde-agent: $(AGENT) $(filter-out $B/src/base/embed.o,$(filter $B/src/base/% $B/src/fleet/%,$(OBJ))) $B/objects
	$(call say,LD,$@) $(CC) $(CFLAGS) $(LINK) $(filter %.o,$^) $(shell pkg-config --libs $(NATS)) -o $@
$B/%.o: %.c $B/flags
	$(call say,CC,$<) mkdir -p $(@D) && $(CC) $(ALL) $(DEFS) $(if $(filter $<,$(FAST)),-O2) $(if $(filter $(COLD),$(filter-out tests/unit/t_step.c,$<)),-O0) $(WERROR) -MMD -MP -c $< -o $@
$B/src/rec/pack.o $B/src/machine/types/elfutils.o: DEFS = $(if $(ZSTD),-DHAVE_ZSTD)
# The shared library is made of the same objects as the program. These are position independent, as compilers make them by
# default and all names are hidden; files that use variables of the C library need more. (A compiler that makes no such
# objects by default: CFLAGS='-O2 -g -fPIC'.)
$(addprefix $B/src/,base/spawn.o compiler/ir/check.o): DEFS = -fPIC
# One program, which is the fuzzer of the name by which it is started.
$B/tests/fuzz/fuzz_%.o: DEFS = -DLLVMFuzzerTestOneInput=$(notdir $*)
SERVES = $(if $(file <$B/libs.http),-DHAVE_HTTP)
$B/src/cmd/webchild.o $B/src/cmd/pagechild.o: DEFS = $(SERVES)
$B/tests/fuzz/fuzz_http.o: DEFS = -DLLVMFuzzerTestOneInput=fuzz_http $(SERVES)
$B/src/cmd/webchild.o $B/src/cmd/pagechild.o $B/tests/fuzz/fuzz_http.o: $B/libs.http
$B/tests/fuzz/main.o: $B/fuzz.list
$B/tests/fuzz/main.o: DEFS = -D'FUZZERS=$(foreach f,$(FUZZ),F($f))'
$B/fuzz/ready: $(FUZZ:%=$B/tests/fuzz/fuzz_%.o) $B/tests/fuzz/main.o $B/tests/fuzz/grammar.o $(LIBOBJ) $(AGENTOBJ) $B/libs $B/libs.http
	$(call say,LD,$@) rm -rf $(@D) && mkdir -p $(@D) && \
		$(CC) $(CFLAGS) $(LINK) -fsanitize=fuzzer $(filter %.o,$^) $(LIBS) -o $(@D)/all && \
		for f in $(FUZZ); do ln -s all $(@D)/fuzz_$$f || exit; done && touch $@
# Scripts by grammar for this kernel's verifier.
$B/grammar: $B/tests/fuzz/load.o $B/tests/fuzz/grammar.o $(LIBOBJ) $B/libs $B/libs.http
	$(call say,LD,$@) $(CC) $(CFLAGS) $(LINK) $(filter %.o,$^) $(LIBS) -o $@
$B/gen/embed.c: Makefile scripts/embed.sh $(EMBED) $(ASSETS)
	$(call say,GEN,$@) mkdir -p $(@D) && sh scripts/embed.sh $(EMBED) $(ASSETS) > $@
$B/gen/version.c: FORCE
	@mkdir -p $(@D); CC='$(CC)' sh scripts/version.sh > $@.new; cmp -s $@.new $@ || mv $@.new $@
$B/gen/%.o: $B/gen/%.c $B/flags ; $(call say,CC,$<) $(CC) $(ALL) -c $< -o $@
# Changed flags recompile; a file added or removed relinks.
$B/flags: FORCE ; $(call stamp,$(strip $(CC) $(ALL) $(FAST) $(COLD) $(ZSTD)))
$B/objects: FORCE ; $(call stamp,$(LINK) $(OBJ) $(AGENTOBJ) $(UNIT))
$B/fuzz.list: FORCE ; $(call stamp,$(FUZZ))
$B/linker: FORCE ; $(call stamp,$(CC) $(CFLAGS) $(LINK) $(SHARED) $(LIBC))
# Of a program that needs no other file, or can be one; and of one whose calls of the C library a test can replace.
$B/libs.dynamic: private LIBC = shared
$B/libs $B/libs.dynamic: scripts/libs.sh $B/linker $B/src/machine/types/elfutils.o
	@CC='$(CC)' PKGS='$(PKGS)' SLIM=$B/slim SHARED='$(SHARED)' LIBC='$(LIBC)' sh scripts/libs.sh $B/src/machine/types/elfutils.o $(CFLAGS) $(LINK) > $@.new && mv $@.new $@

# Of the program alone; empty: it serves nothing.
$B/libs.http: scripts/http.sh $B/linker
	@CC='$(CC)' HTTP='$(HTTP)' sh scripts/http.sh $(CFLAGS) $(LINK) > $@.new && { cmp -s $@.new $@ || cp $@.new $@; }

# libsonde: the same objects without the command line. Only names of <sonde/sonde.h> are visible outside. The archive is
# one object, in which all other names are local, so that they cannot clash with those of the program.
VERSION  = $(shell sed -n 's/^\#define SONDE_VERSION *"\(.*\)"$$/\1/p' src/api/version.h)
SONAME  := libsonde.so.0
APIOBJ  := $(filter-out $B/src/cmd/% $B/src/machine/arch/entry.o,$(OBJ))
OBJCOPY ?= $(shell $(CC) -print-prog-name=objcopy)
lib: $B/libsonde.a $B/$(SONAME)
$B/$(SONAME): scripts/libsonde.map $(APIOBJ) $B/objects $B/shared.libs
	$(call say,LD,$@) $(CC) $(CFLAGS) $(LINK) -shared -Wl,-soname,$(SONAME),-z,defs,--version-script=scripts/libsonde.map \
		$(filter %.o,$^) @$B/shared.libs -o $@
	@ln -sf $(SONAME) $B/libsonde.so
$B/libsonde.a: $(APIOBJ) $B/objects
	$(call say,LD,$@) $(CC) $(filter-out -flto%,$(CFLAGS)) -nostdlib -r $(filter %.o,$^) -o $B/libsonde.o && \
		$(OBJCOPY) --wildcard --keep-global-symbol='sonde_*' $B/libsonde.o && \
		rm -f $@ && $(AR) rc $@ $B/libsonde.o
$B/shared.libs: scripts/libs.sh $B/linker $B/src/machine/types/elfutils.o
	@CC='$(CC)' PKGS='$(PKGS)' SHARED=1 LIBRARY=1 sh scripts/libs.sh $B/src/machine/types/elfutils.o $(CFLAGS) $(LINK) > $@.new && mv $@.new $@

debug:  ; $(MAKE) B=build/debug CFLAGS='-O0 -g3' all
asan:
	$(MAKE) B=build/asan CC=clang \
		CFLAGS='-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined -DARENA_SPARES=0' all check
# The static build is small; what reads unwind tables, for each file of each process at the start of a tool, is fast.
FAST = $(if $(findstring -Oz,$(CFLAGS)),$(addprefix src/machine/,sym/cfi.c sym/cfi_ask.c sym/cfi_code.c sym/cfi_stretch.c arch/x86_64_insn.c) src/features/unwind/blocks.c)
STATIC = B=build/static CFLAGS='-Oz -flto=auto -fno-asynchronous-unwind-tables -fno-pie' LDFLAGS='-static -s -Wl,-z,noseparate-code'
static: ; $(MAKE) $(STATIC) all
install-static: ; $(MAKE) $(STATIC) install
# Every fuzzer for T seconds; T=0 only builds them.
FUZZING = B=build/fuzzing DRAFT=1 CC=clang TEST_CC='$(CC)' CFLAGS='-O1 -gline-tables-only -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -DARENA_SPARES=0'
fuzz: T = 60
fuzz: $B/host/ready
	$(MAKE) $(FUZZING) fuzzers
	$(if $(filter-out 0,$T),tests/fuzz/run.sh build/fuzzing $T)
# What the fuzzers are made of, as a program: the sanitizers see unit tests, compiler tests and some on this kernel (as
# root; what is traced is built as for other runs, not by clang). Leaks of a run are not looked for: the filter of system
# calls that it has by then does not let them.
SANE_RUN := $(addprefix tests/run/,string.t ustack.t usdt.t)
sanitize: $B/host/ready
	$(MAKE) $(FUZZING) sanitized
sanitized: all $B/unit $B/host/ready
	$(RUN_UNIT)
	SONDE=$B/sonde tests/checks/lang.py
	CC='$(TEST_CC)' TEST_SLOW=4 ASAN_OPTIONS=detect_leaks=0 tests/run.sh $B/sonde $(SANE_RUN)
# What both need, built.
fuzzing: ; $(MAKE) $(FUZZING) fuzzers all build/fuzzing/unit
# Scripts by grammar, N of them from seed SEED on, to this kernel's verifier; as root.
N    ?= 10000
SEED ?= 1
grammar: $B/grammar ; $B/grammar $N $(SEED)
fuzzers: $B/fuzz/ready

# A test gone wild must not take the machine with it (sanitizers need the address space).
RUN_UNIT = $(if $(findstring sanitize,$(CFLAGS)),,ulimit -v 4000000;) $B/unit
unit: $B/unit $B/host/ready ; $(RUN_UNIT)
check: all $B/dynamic/sonde $B/unit $B/draw $B/mkrec $B/host/ready $B/bench/minimum $B/bench/driver
	$(RUN_UNIT)
	SONDE=$B/sonde tests/checks/lang.py
	SONDE=$B/sonde tests/checks/cli.sh
	tests/record/query.sh $B
	tests/record/merge.sh $B
	tests/checks/covered.sh $B/sonde
	tests/checks/messages.sh
	tests/checks/audit.sh
	$(if $(findstring sanitize,$(CFLAGS)),,CC="$(CC)" tests/kernel/fault.sh $B/dynamic/sonde 8)
# Recorded machines for compiler tests: their files, BTF made of types.txt, a program for uprobes.
$B/host/mkbtf: tests/host/mkbtf.c $B/flags
	$(call say,CC,$<) mkdir -p $(@D) && $(CC) $(ALL) $< $(shell pkg-config --libs libbpf) -o $@
$B/host/ready: $B/host/mkbtf tests/host/app.c tests/host/app-aarch64.S tests/progs/typed.c tests/progs/passed.c $(wildcard tests/progs/split/*) $(shell find tests/host/*/ -type f)
	$(call say,GEN,$(@D)) rm -rf $(@D)/*/ && cp -r tests/host/*/ $(@D) && for d in $(@D)/*/; do \
		mkdir -p $$d/sys/kernel/btf && $B/host/mkbtf $$d/types.txt $$d/sys/kernel/btf/vmlinux || exit; \
		for m in $$d/modules/*.txt; do [ ! -f $$m ] || $B/host/mkbtf $$m $$d/sys/kernel/btf/$$(basename $$m .txt) $$d/sys/kernel/btf/vmlinux || exit; done; done
	@$(CC) -O1 -g0 tests/host/app.c -o $(@D)/app
	@$(CC) -shared -nostdlib tests/host/app-aarch64.S -o $(@D)/app-aarch64
	@$(CC) -O0 -g tests/progs/passed.c -o $(@D)/passed-aarch64
	@for f in app passed; do printf '\267\0' | dd of=$(@D)/$$f-aarch64 bs=1 seek=18 conv=notrunc 2>/dev/null || exit; done
	@for v in 4 5; do for o in 0 2; do \
		$(CC) -O$$o -gdwarf-$$v tests/progs/typed.c -o $(@D)/typed-$$v-$$o || exit; done; \
		$(CC) -O1 -gdwarf-$$v -gsplit-dwarf -fdebug-types-section -c tests/progs/split/one.c -o $(@D)/split-$$v.o || exit; done
	@! command -v dwp >/dev/null || dwp $(@D)/split-4.dwo -o $(@D)/split-4.dwp
	@touch $@
rootcheck: all
	tests/run.sh $B/sonde tests/run
	tests/kernel/probes.sh $B/sonde
# For another architecture, from any machine that can unpack Debian's packages.
aarch64:
	tree=$$(tests/vm/tree.sh arm64) && \
	PKG_CONFIG_LIBDIR=$$tree/usr/lib/aarch64-linux-gnu/pkgconfig PKG_CONFIG_SYSROOT_DIR=$$tree $(MAKE) \
		B=build/aarch64 CC="aarch64-linux-gnu-gcc --sysroot=$$tree" CFLAGS=-Os LDFLAGS='-static -s' all
ifeq ($(ARCH),aarch64)
vm: aarch64
	tests/vm/run.sh -a aarch64 build/aarch64/sonde
else
vm: static
	tests/vm/run.sh build/static/sonde
	GUEST_APPEND=lockdown=confidentiality tests/vm/run.sh -c \
		'TEST_SLOW=4 sh tests/run.sh build/static/sonde tests/run/lockdown.t' build/static/sonde 6.12
endif
# An hour of many events, short processes and libraries that come and go: nothing leaks, nothing is missing.
soak: all ; tests/kernel/soak.sh $B/sonde 3600
# Killed 200 times, 100,000 processes, 10,000 threads: what docs/operations.md promises, at full length; as root.
ordeal: all ; TEST_FULL=200 TEST_SLOW=20 tests/run.sh -n 'operations:*' $B/sonde tests/run/operations.t
# Bare trees of Debian releases: built there as a newcomer would, and tested.
toolchains: ; tests/distros/toolchains.sh
distros:
	tests/distros/run.sh
packages-check: ; tests/distros/packages.sh
# Measured beside other tracers that are installed.
bench: all $B/bench/load $B/bench/minimum $B/bench/driver
	SONDE=$B/sonde B=$B/bench bench/run.sh $(if $(QUICK),quick)
DRIVER := $(patsubst %,bench/%.c,driver figures account tracer start events volume dd)
$B/bench/driver: $(DRIVER) bench/bench.h $B/flags
	$(call say,CC,bench/driver.c) mkdir -p $(@D) && $(CC) -std=gnu17 -D_GNU_SOURCE $(WARN) $(CFLAGS) $(DRIVER) -lm -o $@
# Stacks through a sink, for tests of pictures.
$B/draw: $B/tests/viewers/draw.o $(LIBOBJ) $B/libs $B/libs.http
	$(call say,LD,$@) $(CC) $(CFLAGS) $(LINK) $(filter %.o,$^) $(LIBS) -o $@
# Recordings that tests ask.
query: all $B/mkrec ; tests/record/query.sh $B
$B/mkrec: $B/tests/record/mkrec.o $(LIBOBJ) $B/libs $B/libs.http
	$(call say,LD,$@) $(CC) $(CFLAGS) $(LINK) $(filter %.o,$^) $(LIBS) -o $@
# Programs of scripts in the kernel and in vm/; as root.
oracle: $B/oracle $B/grammar ; tests/kernel/oracle.sh $B
$B/oracle: $B/tests/kernel/oracle.o $(LIBOBJ) $B/libs $B/libs.http
	$(call say,LD,$@) $(CC) $(CFLAGS) $(LINK) $(filter %.o,$^) $(LIBS) -o $@
$B/bench/minimum: $B/bench/minimum.o $(LIBOBJ) $B/libs $B/libs.http
	$(call say,LD,$@) $(CC) $(CFLAGS) $(LINK) $(filter %.o,$^) $(LIBS) -o $@
# Calls must stay calls, and stacks must be walkable.
$B/bench/load: bench/load.c $B/flags
	$(call say,CC,$<) mkdir -p $(@D) && $(CC) -std=gnu17 -D_GNU_SOURCE -O2 -g -Wall -Wextra \
		-fno-omit-frame-pointer -fno-optimize-sibling-calls $< -lpthread -o $@
# What clang has to say of all C here, without building it.
syntax:
	@printf '%s\n' $(filter-out tests/host/app.c $(if $(NATS),,src/agent/nats.c),$(filter %.c,$(FORMAT))) | \
		xargs -P "$$(nproc)" -n 12 $(if $(findstring clang,$(CC)),$(CC),clang) $(ALL) -D'FUZZERS=$(foreach f,$(FUZZ),F($f))' \
		-Wno-string-conversion -Werror -fsyntax-only
PAGES = README.md CHANGELOG.md tests/README.md tests/audit.md $(sort $(wildcard docs/*.md))
lint:
	@awk -f scripts/layers.awk src/LAYERS $(SRC) $(HDR)
	@awk -f scripts/sizes.awk $(SRC) $(HDR) $(BENCH)
	@awk -f scripts/comments.awk $(FORMAT)
	@! grep -nE '^ *#.*\b__(x86_64|i386|aarch64|arm)__' $(filter-out src/machine/arch/%,$(SRC) $(HDR))
	@awk -f scripts/homes.awk $(SRC) $(HDR)
	@awk -f scripts/structs.awk src/run/session.h src/report/report.h src/core/probe.h src/core/unit.h src/core/record.h src/core/columns.h
	@sh scripts/additions.sh
	@awk -f scripts/prose.awk $(PAGES) $(wildcard man/*)
	@awk -f scripts/links.awk $(PAGES) $(PAGES)
	@sh scripts/root.sh
	@sh scripts/exports.sh $B
	@awk -f scripts/names.awk $(filter src/features/builtin/% src/features/probe/%,$(SRC)) $(foreach f,compiler/source compiler/declare compiler/sema compiler/lower compiler/ir core report run features/store features/sink,$(filter src/$f/%,$(SRC) $(HDR)))
	@! grep -n '^#include <bpf/' $(filter-out src/machine/kern/%,$(SRC) $(HDR))
	@! grep -nE '"(%s)?/(proc|sys)(/[^" ]*)?"' $(filter-out src/machine/kern/% src/machine/rights/% src/machine/proc/% src/base/file.c src/agent/main.c,$(SRC) $(HDR)) | grep -vE ':[0-9]+:\s*/?\*'
	@! grep -nE '\b(bt|lex|p)_[a-z_]+\(|"lang/(bt|lex|parse)\.h"' $(filter-out src/compiler/lang/%,$(SRC) $(HDR)) | grep -vE ':[0-9]+:\s*/?\*'
	@! grep -nE '\b(str(cpy|cat|ncpy|tok)|v?sprintf|gets|atoi|localtime|getpwuid|system|popen)\(' $(SRC)
	@! grep -nE '\b(bpf_object__[a-z_]+|bpf_linker__[a-z_]+|btf__(parse|load)[a-z_]*|btf__new(_split)?|btf_dump__[a-z_]+)\(' $(SRC)
	@! grep -nE '(^|[^_x[:alnum:]])(malloc|calloc|realloc|strdup)\(' $(filter-out src/base/alloc.c,$(SRC))
	@$(if $(CLANG_FORMAT),$(CLANG_FORMAT) --dry-run -Werror $(FORMAT),echo 'no clang-format 14: layout not checked')

TOOL_NAMES  = $$($(abspath $B/sonde) tools | sed -n 's/^    \([a-z0-9_-]*\) .*/\1/p')
LIBDIR      = lib
COMPLETIONS = share/bash-completion/completions
UNITS = lib/systemd/system
EXAMPLES = share/doc/sonde-agent/examples
install: all $(if $(NATS),install-agent)
	install -D -m 755 $B/sonde $(DESTDIR)$(PREFIX)/bin/sonde
	install -D -m 644 tools/board/top.bt $(DESTDIR)$(PREFIX)/share/sonde/top.bt
	mkdir -p $(DESTDIR)$(PREFIX)/share/man/man1
	sh scripts/man.sh $B/sonde man/sonde.1.in > $B/sonde.1
	install -D -m 644 $B/sonde.1 $(DESTDIR)$(PREFIX)/share/man/man1/sonde.1
	install -D -m 644 include/sonde/sdt.h $(DESTDIR)$(PREFIX)/include/sonde/sdt.h
	install -D -m 644 packaging/completion.bash $(DESTDIR)$(PREFIX)/$(COMPLETIONS)/sonde
	install -D -m 644 packaging/completion.zsh $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_sonde
	install -D -m 644 packaging/completion.fish $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/sonde.fish
	install -d $(DESTDIR)$(PREFIX)/$(UNITS)
	for u in sonde-record sonde-metrics; do \
		sed 's|/usr/bin/sonde|$(PREFIX)/bin/sonde|' packaging/$$u.service > $(DESTDIR)$(PREFIX)/$(UNITS)/$$u.service || exit; done
	cd $(DESTDIR)$(PREFIX) && sh $(CURDIR)/scripts/tool-man.sh -d share/man/man1 $(abspath $B/sonde) $(TOOL_NAMES) \
		$(if $(TOOLS),&& for t in $(TOOL_NAMES); do ln -sf sonde bin/$$t && ln -sf sonde $(COMPLETIONS)/$$t || exit; done)
install-agent: all
	install -D -m 755 $B/sonde-agent $(DESTDIR)$(PREFIX)/bin/sonde-agent
	install -D -m 644 man/sonde-agent.1 $(DESTDIR)$(PREFIX)/share/man/man1/sonde-agent.1
	install -d $(DESTDIR)$(PREFIX)/$(UNITS) $(DESTDIR)$(PREFIX)/$(EXAMPLES)
	sed 's|/usr/bin/sonde|$(PREFIX)/bin/sonde|' packaging/sonde-agent.service > $(DESTDIR)$(PREFIX)/$(UNITS)/sonde-agent.service
	install -m 644 packaging/fleet/*.conf packaging/k8s/daemonset.yaml $(DESTDIR)$(PREFIX)/$(EXAMPLES)
	install -m 755 packaging/fleet/nkey.sh $(DESTDIR)$(PREFIX)/$(EXAMPLES)
# What programs that embed sonde are built with.
install-dev: lib
	install -D -m 644 include/sonde/sonde.h $(DESTDIR)$(PREFIX)/include/sonde/sonde.h
	install -D -m 644 include/sonde/sdt.h $(DESTDIR)$(PREFIX)/include/sonde/sdt.h
	install -D -m 755 $B/$(SONAME) $(DESTDIR)$(PREFIX)/$(LIBDIR)/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(PREFIX)/$(LIBDIR)/libsonde.so
	install -D -m 644 $B/libsonde.a $(DESTDIR)$(PREFIX)/$(LIBDIR)/libsonde.a
	sh scripts/libsonde.sh $(VERSION) $(PREFIX) $(LIBDIR) $$(cat $B/libs) > $B/libsonde.pc
	install -D -m 644 $B/libsonde.pc $(DESTDIR)$(PREFIX)/$(LIBDIR)/pkgconfig/libsonde.pc
	install -D -m 644 man/libsonde.3 $(DESTDIR)$(PREFIX)/share/man/man3/libsonde.3
# A program of a tool's name that is not our link stays, as do folders that others may use.
uninstall: all
	cd $(DESTDIR)$(PREFIX) && for t in $(TOOL_NAMES); do rm -f share/man/man1/sonde-$$t.1 || exit; \
		for l in bin/$$t $(COMPLETIONS)/$$t; do \
			[ "$$(readlink $$l)" != sonde ] || rm $$l || exit; done; done
	cd $(DESTDIR)$(PREFIX) && rm -f $(LIBDIR)/$(SONAME) $(LIBDIR)/libsonde.so $(LIBDIR)/libsonde.a \
		$(LIBDIR)/pkgconfig/libsonde.pc share/man/man3/libsonde.3 include/sonde/sonde.h
	cd $(DESTDIR)$(PREFIX) && rm -f bin/sonde share/sonde/top.bt share/man/man1/sonde.1 include/sonde/sdt.h $(COMPLETIONS)/sonde \
		share/zsh/site-functions/_sonde share/fish/vendor_completions.d/sonde.fish \
		$(UNITS)/sonde-record.service $(UNITS)/sonde-metrics.service $(UNITS)/sonde-agent.service \
		bin/sonde-agent share/man/man1/sonde-agent.1 $(EXAMPLES)/fleet.conf $(EXAMPLES)/nats-server.conf \
		$(EXAMPLES)/nkey.sh $(EXAMPLES)/daemonset.yaml
	for d in $(EXAMPLES) share/doc/sonde-agent; do [ ! -d $(DESTDIR)$(PREFIX)/$$d ] || rmdir $(DESTDIR)$(PREFIX)/$$d || exit; done
	[ ! -d $(DESTDIR)$(PREFIX)/include/sonde ] || rmdir $(DESTDIR)$(PREFIX)/include/sonde
deb rpm tarball: ; packaging/build.sh $@
clean: ; rm -rf build

stamp = @mkdir -p $B; echo '$1' | cmp -s - $@ || echo '$1' > $@
say = @$(if $(V),,printf '  %-4s %s\n' $1 $2;)$(if $(V),set -x;)

-include $(OBJ:.o=.d) $(AGENT:.o=.d) $B/tests/viewers/draw.d $B/tests/kernel/oracle.d $(UNIT:.o=.d) $B/bench/minimum.d $B/tests/fuzz/load.d \
	$B/tests/fuzz/grammar.d $(FUZZ:%=$B/tests/fuzz/fuzz_%.d) $B/tests/fuzz/main.d
.SECONDARY:
.PHONY: all lib install-dev query debug asan fuzz fuzzing fuzzers sanitize sanitized grammar static aarch64 unit check syntax rootcheck vm distros packages-check toolchains bench lint oracle soak ordeal install install-agent uninstall install-static deb rpm tarball clean FORCE
