# make             build/sonde            make check     unit, language and IR tests (no root)
# make asan|debug  same, other flags      make rootcheck runtime tests on this kernel
# make static      one file, no libraries make vm        runtime tests on the kernel matrix
# make install     DESTDIR, PREFIX        make lint      format, layers, sizes, banned calls
# make bench       beside other tracers, as root, on a quiet machine; QUICK=1: two minutes, only printed
#
# make B=DIR                  build in another folder, so that several builds can run side by side
# make build/src/ir/emit.o    one object
# make unit ONLY='base ir' T='str ir'   unit tests t_str.c and t_ir.c, linked with these folders alone

B      ?= build
CC     ?= cc
PREFIX ?= /usr/local
PKGS   := libbpf libelf zlib
CFLAGS ?= -O2 -g
WARN   := -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wstrict-prototypes \
          -Wmissing-prototypes -Wvla -Wformat=2 -Wundef -Werror \
          $(if $(findstring clang,$(CC)),-Wno-string-conversion)
ALL    := -std=gnu17 -D_GNU_SOURCE -Isrc $(WARN) $(CFLAGS) -fno-common -fvisibility=hidden \
          -ffunction-sections -fdata-sections $(shell pkg-config --cflags $(PKGS))
# libdw.a where there is one: the shared library would bring three more with it, at every start.
LIBDW  := $(or $(filter /%,$(shell $(CC) -print-file-name=libdw.a)),-ldw)
# liblzma.a, too: without it, symbols in .gnu_debugdata are not found, which is told where it matters.
LZMA   := $(filter /%,$(shell $(CC) -print-file-name=liblzma.a))
LIBS   := $(LIBDW) $(LZMA:%=-Wl,-u,lzma_stream_buffer_decode %) $(shell pkg-config $(if $(findstring -static,$(LDFLAGS)),--static) --libs $(PKGS)) -liberty
LINK   := $(LDFLAGS) -Wl,--gc-sections

ONLY   ?= *
T      ?= *
SRC    := $(sort $(wildcard $(ONLY:%=src/%/*.c)))
HDR    := $(sort $(wildcard src/*/*.h))
TESTS  := $(sort $(wildcard $(T:%=tests/unit/t_%.c)))
OBJ    := $(SRC:%.c=$B/%.o) $B/gen/embed.o
LIBOBJ := $(filter-out $B/src/cmd/main.o,$(OBJ))
UNIT   := $(patsubst %.c,$B/%.o,tests/unit/main.c $(TESTS))
FUZZ   := $(patsubst tests/fuzz/%.c,$B/fuzz/%,$(wildcard tests/fuzz/*.c))
BENCH  := $(wildcard bench/*.[ch])
EMBED  := $(sort $(wildcard tools/*.bt))
# Other versions of clang-format lay out some lines differently.
CLANG_FORMAT ?= $(or $(shell command -v clang-format-14),$(if $(findstring version 14.,$(shell clang-format --version 2>/dev/null)),clang-format))
FORMAT  = $(SRC) $(HDR) $(BENCH) $(wildcard tests/unit/*.[ch] tests/fuzz/*.c tests/host/*.c)

all: $B/sonde
$B/sonde: $(OBJ)
$B/unit: $(UNIT) $(LIBOBJ)
$B/sonde $B/unit: $B/objects
	$(call say,LD,$@) $(CC) $(CFLAGS) $(LINK) $(filter %.o,$^) $(LIBS) -o $@
$B/%.o: %.c $B/flags
	$(call say,CC,$<) mkdir -p $(@D) && $(CC) $(ALL) -MMD -MP -c $< -o $@
$B/fuzz/%: $B/tests/fuzz/%.o $(LIBOBJ)
	$(call say,LD,$@) mkdir -p $(@D) && $(CC) $(CFLAGS) $(LINK) -fsanitize=fuzzer $^ $(LIBS) -o $@
$B/gen/embed.c: scripts/embed.sh $(EMBED)
	$(call say,GEN,$@) mkdir -p $(@D) && sh scripts/embed.sh $(EMBED) > $@
$B/gen/embed.o: $B/gen/embed.c $B/flags ; $(call say,CC,$<) $(CC) $(ALL) -c $< -o $@
# Changed flags recompile; a file added or removed relinks.
$B/flags: FORCE ; $(call stamp,$(CC) $(ALL))
$B/objects: FORCE ; $(call stamp,$(LINK) $(OBJ) $(UNIT) $(LIBS))

debug:  ; $(MAKE) B=build/debug CFLAGS='-O0 -g3' all
asan:
	$(MAKE) B=build/asan CC=clang \
		CFLAGS='-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined' all check
static:
	$(MAKE) B=build/static CFLAGS=-Os LDFLAGS='-static -s' all
fuzz:
	$(MAKE) B=build/fuzzing CC=clang CFLAGS='-O1 -g -fsanitize=fuzzer-no-link,address,undefined' fuzzers
fuzzers: $(FUZZ)

# A test gone wild must not take the machine with it (sanitizers need the address space).
RUN_UNIT = $(if $(findstring sanitize,$(CFLAGS)),,ulimit -v 4000000;) $B/unit
unit: $B/unit $B/host/ready ; $(RUN_UNIT)
check: all $B/unit $B/host/ready $B/bench/minimum $B/bench/driver
	$(RUN_UNIT)
	SONDE=$B/sonde tests/lang.sh
	SONDE=$B/sonde tests/cli.sh
	tests/covered.sh $B/sonde
	tests/messages.sh
	$(if $(wildcard tests/ir.sh),SONDE=$B/sonde tests/ir.sh)
# Recorded machines for compiler tests: their files, BTF made of types.txt, a program for uprobes.
$B/host/mkbtf: tests/host/mkbtf.c $B/flags
	$(call say,CC,$<) mkdir -p $(@D) && $(CC) $(ALL) $< $(shell pkg-config --libs libbpf) -o $@
$B/host/ready: $B/host/mkbtf tests/host/app.c tests/progs/typed.c $(shell find tests/host/*/ -type f)
	$(call say,GEN,$(@D)) rm -rf $(@D)/*/ && cp -r tests/host/*/ $(@D) && for d in $(@D)/*/; do \
		mkdir -p $$d/sys/kernel/btf && $B/host/mkbtf $$d/types.txt $$d/sys/kernel/btf/vmlinux || exit; done
	@$(CC) -O1 -g0 tests/host/app.c -o $(@D)/app
	@for v in 4 5; do for o in 0 2; do \
		$(CC) -O$$o -gdwarf-$$v tests/progs/typed.c -o $(@D)/typed-$$v-$$o || exit; done; done
	@touch $@
rootcheck: all
	tests/run.sh $B/sonde tests/run
	tests/probes.sh $B/sonde
vm: static
	tests/vm/run.sh build/static/sonde
	GUEST_APPEND=lockdown=confidentiality tests/vm/run.sh -c \
		'TEST_SLOW=4 sh tests/run.sh build/static/sonde tests/run/lockdown.t' build/static/sonde 6.12
# Measured beside other tracers that are installed.
bench: all $B/bench/load $B/bench/minimum $B/bench/driver
	SONDE=$B/sonde B=$B/bench bench/run.sh $(if $(QUICK),quick)
DRIVER := $(patsubst %,bench/%.c,driver figures account tracer start events volume dd)
$B/bench/driver: $(DRIVER) bench/bench.h $B/flags
	$(call say,CC,bench/driver.c) mkdir -p $(@D) && $(CC) -std=gnu17 -D_GNU_SOURCE $(WARN) $(CFLAGS) $(DRIVER) -lm -o $@
$B/bench/minimum: $B/bench/minimum.o $(LIBOBJ)
	$(call say,LD,$@) $(CC) $(CFLAGS) $(LINK) $^ $(LIBS) -o $@
# Calls must stay calls, and stacks must be walkable.
$B/bench/load: bench/load.c $B/flags
	$(call say,CC,$<) mkdir -p $(@D) && $(CC) -std=gnu17 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Werror \
		-fno-omit-frame-pointer -fno-optimize-sibling-calls $< -lpthread -o $@
lint:
	@awk -f scripts/layers.awk src/LAYERS $(SRC) $(HDR)
	@awk -f scripts/sizes.awk $(SRC) $(HDR) $(BENCH)
	@! grep -nE '\b(str(cpy|cat|ncpy|tok)|v?sprintf|gets|atoi|localtime|getpwuid|system|popen)\(' $(SRC)
	@$(if $(CLANG_FORMAT),$(CLANG_FORMAT) --dry-run -Werror $(FORMAT),echo 'no clang-format 14: layout not checked')

install: all
	install -D -m 755 $B/sonde $(DESTDIR)$(PREFIX)/bin/sonde
	install -D -m 644 man/sonde.1 $(DESTDIR)$(PREFIX)/share/man/man1/sonde.1
	install -D -m 644 include/sonde/sdt.h $(DESTDIR)$(PREFIX)/include/sonde/sdt.h
	$(if $(EMBED),install -d $(DESTDIR)$(PREFIX)/share/sonde/tools)
	$(if $(EMBED),install -m 644 $(EMBED) $(DESTDIR)$(PREFIX)/share/sonde/tools)
clean: ; rm -rf build

stamp = @mkdir -p $B; echo '$1' | cmp -s - $@ || echo '$1' > $@
say = @$(if $(V),,printf '  %-4s %s\n' $1 $2;)$(if $(V),set -x;)

-include $(OBJ:.o=.d) $(UNIT:.o=.d) $B/bench/minimum.d $(patsubst $B/fuzz/%,$B/tests/fuzz/%.d,$(FUZZ))
.SECONDARY:
.PHONY: all debug asan fuzz fuzzers static unit check rootcheck vm bench lint install clean FORCE
