/*
 * sym.h - names for addresses and addresses for names.
 *
 * Nothing is read before the first question; caches are bounded. Files are read by a child without
 * rights (rights/sandbox.h): path in, plain tables out.
 */
#pragma once
#include "kern/host.h"
#include "types/image.h"

struct syms;
struct symbol {
	struct str name;   /* demangled when asked for; "" unknown */
	u64 addr;          /* start of the symbol; file's virtual address for ELF */
	u64 off;           /* address asked for minus start */
	u64 size;          /* 0 unknown */
	struct str module; /* kernel: "" for vmlinux; user: path of the file */
	u64 file_off; /* ELF: offset in the file, what a uprobe wants; sym_user(): of the address */
	struct str build_id; /* sym_user(): of the file, in hex; "" unknown */
	bool made;           /* sym_user(): generated code; module is the list that names it */
	bool ifunc;          /* ELF: what runs first, and once, to choose a function */
	u8 rank;             /* ELF: of names for one address the one to show: the least */
};
void syms_init(struct host *h, bool demangle, struct syms **ret);
void syms_free(struct syms *s);

/* Kernel, from /proc/kallsyms (read once, sorted). */
bool sym_kernel(struct syms *s, u64 addr, struct symbol *ret);
/* Was a name asked for, and there is not a single one? */
bool sym_kernel_hidden(const struct syms *s);
bool sym_kernel_addr(struct syms *s, struct str name, u64 *ret);
/* Names that these give stay until the next call with the same syms. */
/* User: the file mapped at addr in that process (also when it has ended, if it was noted, read or
 * asked about before), its symbols; or generated code that the process keeps a list of. */
bool sym_user(struct syms *s, u32 pid, u64 addr, struct symbol *ret);
/*
 * Of a file with many functions only those are known that were asked for, and each question takes a
 * pass over all of them: so what will be asked is told before. First each address, then that these
 * were all. Nothing of it must be done. Until a file with so many was met there is nothing to gain
 * for a few addresses.
 */
void sym_user_expect(struct syms *s, u32 pid, u64 addr);
void sym_user_expected(struct syms *s);
bool sym_user_gains(const struct syms *s);
/*
 * The same address as the source has it, by debug information: functions that were inlined there,
 * the innermost first, then the one that has the symbol. call: it is a return address. The texts
 * stay until the next call. 0: the file has no such information.
 */
struct source_frame {
	struct str name;   /* demangled when asked for; "" unknown */
	struct str source; /* path; "" unknown */
	u32 line;
	bool inlined;
};
u32 sym_user_source(struct syms *s, u32 pid, u64 addr, bool call, struct source_frame *v, u32 max);
/* Remember a process's mappings while it is there; those of all processes: how many are known. */
void sym_user_read(struct syms *s, u32 pid);
u32 sym_user_read_all(struct syms *s);
/* From now on there are notes (kern/mmaps.h) of what is mapped: by all, or by some processes. */
void sym_user_events(struct syms *s, bool all);
/* The processes that it knows. */
struct procs;
struct procs *sym_procs(struct syms *s);
struct mmap_event;
void sym_user_event(struct syms *s, const struct mmap_event *n);

/* ELF symbol tables (.symtab, .dynsym), Go's own one: function symbols of a file. */
struct elf_syms {
	struct symbol *v; /* sorted by address */
	u32 n;
	bool packed;         /* there are more in .gnu_debugdata, which could not be read */
	u64 go_from, go_end; /* Go's functions, where the file has no other list of them */
};
struct err *elf_read_syms(struct host *h, struct arena *a, const char *path, struct elf_syms *ret);
/* With what else an address in a process needs to be found in the file. */
enum { ELF_SEGMENTS = 16 };
struct elf_facts {
	struct elf_syms syms;
	struct segment seg[ELF_SEGMENTS]; /* executable PT_LOADs */
	u32 nseg;
	u64 entry;           /* where it begins; 0: nowhere */
	struct str build_id; /* in hex */
	bool large;          /* it has more symbols than were wanted, so there are none here */
};
/* data: variables, too. */
struct err *elf_read(struct host *h, struct arena *a, const char *path, bool data,
		     struct elf_facts *ret);
/* Functions, if there are no more of them than most. */
struct err *elf_read_some(struct host *h, struct arena *a, const char *path, u32 most,
			  struct elf_facts *ret);
/* What only some addresses are called; they ascend, and no two are the same. of[i]: NULL: nothing
 * is there. */
struct addresses {
	u64 *v;
	u32 n, cap;
};
struct err *elf_read_names(struct host *h, struct arena *a, const char *path,
			   const struct addresses *v, const struct symbol **of);
/* The separate file that a struct debug_wanted of the child's leads to; NULL: none. Freed by the
 * caller. */
char *elf_find_debug(struct host *h, const char *path, struct bytes *wanted);
/* What the child answered, checked. */
struct err *elf_take_answer(struct arena *a, struct bytes b, const char *path,
			    struct elf_facts *ret);
bool elf_take_names(struct bytes *b, struct arena *a, const struct symbol **of, u32 n);
/* The same, read once for all the probes of a script: what is given stays as long as the host. */
struct err *elf_syms_of(struct host *h, const char *path, struct elf_syms *ret);
struct err *elf_read_syms_mem(struct arena *a, const void *p, size_t n, struct elf_syms *ret);
/* In the child: of an image, the file with what was stripped from it (or NULL). Full: it has all. */
void elf_image_syms(struct arena *a, const struct image *im, const struct image *other, bool data,
		    struct elf_syms *ret);
bool elf_image_full(const struct image *im);
/* In the child: functions that it calls and others define, and the libraries that it asks for (DT_NEEDED);
 * the names lie in the image. */
struct image;
typedef bool elf_name_cb(struct str name, void *arg); /* false: stop */
void elf_each_import(const struct image *im, elf_name_cb *cb, void *arg);
void elf_each_needed(const struct image *im, elf_name_cb *cb, void *arg);
/* The same, asked of it. */
struct elf_links {
	bool go; /* a program of Go's */
	u32 nimport, nneeded;
	struct str *import, *needed;
};
struct err *elf_links_of(struct host *h, struct arena *a, const char *path,
			 struct elf_links *ret) MUST_USE;
bool elf_take_links(struct bytes *b, struct arena *a, struct elf_links *ret);
/*
 * Functions that choose their code when they are loaded: what they chose, by a process that has the file
 * mapped (pid, if that is one). Addresses are the file's.
 */
struct choice {
	u64 by, at,
		form; /* what chooses; the word that keeps the answer; the answer, 0: nobody told */
};
struct choices {
	struct choice *v;
	u32 n;
};
struct err *elf_choices(struct host *h, struct arena *a, const char *path, int pid,
			struct choices *ret) MUST_USE;
void elf_take_choices(struct bytes *b, struct arena *a, struct choices *ret);
u64 elf_chosen(const struct choices *c, u64 by); /* 0: not known */
/* The symbol that holds a virtual address of the file; NULL: none. */
/* How many begin at or below an address. */
u32 elf_up_to(const struct elf_syms *e, u64 vaddr);
const struct symbol *elf_at(const struct elf_syms *e, u64 vaddr);
/* Should a be shown rather than b, which comes behind it and has the same address? */
bool symbol_preferred(const struct symbol *a, const struct symbol *b);
/* Exact name (or NULL: none); versions (@@GLIBC_2.2) are cut off names. */
const struct symbol *elf_find(const struct elf_syms *e, struct str name);
/*
 * Versions of a name of .dynsym, by .gnu.version and .gnu.version_d: what programs are linked with
 * today is the default one (memcpy@@GLIBC_2.14); programs of former days call others
 * (memcpy@GLIBC_2.2.5). The names lie in the image. Gives how many there are, at most max.
 */
enum { MAX_VERSIONS = 64 };
struct symbol_version {
	struct str name;
	u64 addr;
	bool is_default;
};
u32 elf_versions(const struct image *im, struct str symbol, struct symbol_version *v, u32 max);
/* The same, asked of the child: at most MAX_VERSIONS, their names in a. */
u32 elf_versions_of(struct host *h, struct arena *a, const char *path, struct str symbol,
		    struct symbol_version *v);
/* Is what lies at addr only a version that is not the default one, while there is one? */
/*
 * A return probe puts an address of the kernel's where the function's return address is. NULL: that does no
 * harm; else why the program would go astray: it goes back there later, when the kernel no longer knows the
 * call (setjmp), or looks for what lies at that address (exceptions of C++, the end of a thread).
 */
const char *sym_noreturn(struct str name);
/* Of the C library: a function of its caller's runs inside, whose exceptions pass through it. */
bool sym_calls_back(struct str name);
bool elf_hidden(const struct symbol_version *v, u32 n, u64 addr);
/* A function or variable by name, in its default version; ret->name is the name asked for. */
struct err *elf_symbol(struct host *h, const char *path, struct str name, struct symbol *ret);
/* Virtual address in the file -> file offset by its program headers. */
struct err *elf_offset(struct host *h, const char *path, u64 vaddr, u64 *off);
/* Demangle C++ and Rust; NULL: not mangled. */
char *demangle(struct arena *a, struct str name);
/* Is want (a glob) the demangled name, with or without parameters and result? C's names are C++'s,
 * too. */
enum demangle_lang { DEMANGLE_CPP, DEMANGLE_RUST };
bool demangle_fits(enum demangle_lang lang, struct str want, struct str name);
