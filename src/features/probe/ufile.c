/* ufile.c - code of programs: Go's functions, returns, landing pads; see ufile.h. */
#include "probe/ufile.h"
#include "base/pack.h"
#include "base/vec.h"
#include "rights/sandbox.h"
#include <elf.h>

enum { MAX_FUNCTION = 1 << 24 };

/* ---- Go ---- */

/* "go1.16.3" and older pass arguments on the stack. */
static bool old_go(const struct arch *a, struct str version)
{
	u64 minor = 0;
	u32 n = 0;
	if (!str_starts(version, STR("go1.")))
		return false;
	struct str s = str_from(version, 4);
	while (n < s.n && s.s[n] >= '0' && s.s[n] <= '9')
		n++;
	return str_u64((struct str){s.s, n}, &minor) && minor < a->go_minor;
}

/*
 * .go.buildinfo: "\xff Go buildinf:", size of a pointer, flags. Flag 2: at 32 the version, its
 * length before it; else at 16 the address of a string's address and length.
 */
static struct str go_version(const struct image *im, const struct section *s)
{
	enum { HEAD = 16, INLINE = 32, FLAG_INLINE = 2, MAX_VERSION = 127 };
	struct bytes b = image_bytes(im, s);
	const u8 *head = bytes_take(&b, HEAD);
	u64 off;
	if (!head)
		return STR("");
	if (head[15] & FLAG_INLINE) {
		bytes_seek(&b, INLINE);
		u8 n = bytes_u8(&b);
		const u8 *p = n <= MAX_VERSION ? bytes_take(&b, n) : NULL;
		return p ? str_n((const char *)p, n) : STR("");
	}
	u64 at = bytes_u64(&b);
	struct bytes all = bytes_of(im->p, im->n);
	if (b.bad || !image_offset(im, at, &off))
		return STR("");
	bytes_seek(&all, off);
	u64 text = bytes_u64(&all), n = bytes_u64(&all);
	if (all.bad || n > MAX_VERSION || !image_offset(im, text, &off))
		return STR("");
	bytes_seek(&all, off);
	const u8 *p = bytes_take(&all, n);
	return p ? str_n((const char *)p, n) : STR("");
}

/* Functions that go on on another stack. */
static const char *const stack_switches[] = {
	"swapcontext",   "setcontext",         "makecontext",
	"jump_fcontext", "make_fcontext",      "ontop_fcontext",
	"co_switch",     "coroutine_transfer", NULL};

/* Does it import one? */
static bool imports_switch(const struct image *im)
{
	struct section s;
	if (!image_section_named(im, ".dynstr", &s))
		return false;
	struct bytes b = image_bytes(im, &s);
	for (const char *const *name = stack_switches; *name; name++)
		if (b.n && memmem(b.p, b.n, *name, strlen(*name) + 1))
			return true;
	return false;
}

/* In the child: is it Go's, and of which version? */
static struct err *answer_go(struct job *j)
{
	struct image im;
	struct section s;
	struct err *e = image_map(&j->file[0], j->path, &im);
	if (e)
		return e;
	bool told = image_section_named(&im, ".go.buildinfo", &s);
	pack_u8(&j->out, told || image_section_named(&im, ".gopclntab", &s) ||
				 image_section_named(&im, ".data.rel.ro.gopclntab", &s) ||
				 image_section_named(&im, ".note.go.buildid", &s));
	pack_str(&j->out, told ? go_version(&im, &s) : STR(""));
	pack_u8(&j->out, image_section_named(&im, ".gcc_except_table", &s) && s.size);
	pack_u8(&j->out, imports_switch(&im));
	image_close(&im);
	return NULL;
}

/* Is it Go's, are there tables for exceptions, does it change stacks? */
static void ask_kind(struct host *h, const char *path, struct ufile *f)
{
	AUTO_SB out = {0};
	struct question q = {.path = path, .nfile = 1};
	struct err *e = image_find(path, &q.file[0]);
	if (!e) {
		e = sandbox_ask(h, answer_go, &q, &out);
		close(q.file[0].fd);
	}
	struct bytes b = bytes_of(out.s, out.n);
	bool is_go = !e && bytes_u8(&b);
	struct str version = e ? STR("") : unpack_str(&b);
	f->pads = !e && bytes_u8(&b);
	f->switches = !e && bytes_u8(&b);
	err_free(e);
	f->go = ABI_C;
	if (is_go)
		f->go = f->im.machine == EM_386 || old_go(h->arch, version) ? ABI_GO_STACK : ABI_GO;
}

void ufile_go_range(struct ufile *f, const struct elf_syms *syms)
{
	if (f->go == ABI_C)
		return;
	const struct symbol *from = elf_find(syms, STR("runtime.text")),
			    *end = elf_find(syms, STR("runtime.etext"));
	if (from && end && from->addr < end->addr) {
		f->go_from = from->addr;
		f->go_end = end->addr;
	} else if (syms->go_end) {
		f->go_from = syms->go_from;
		f->go_end = syms->go_end;
	}
}

enum abi ufile_abi(const struct ufile *f, u64 vaddr)
{
	bool go = !f->go_end || (vaddr >= f->go_from && vaddr < f->go_end);
	return go && f->go != ABI_C ? f->go : f->im.machine == EM_386 ? ABI_C32 : ABI_C;
}

/* ---- files ---- */

static const char *machine_name(u16 m)
{
	switch (m) {
	case EM_X86_64: return "x86_64";
	case EM_386: return "i386";
	case EM_AARCH64: return "aarch64";
	case EM_ARM: return "arm";
	case EM_RISCV: return "riscv";
	case EM_PPC64: return "ppc64";
	case EM_S390: return "s390";
	case EM_BPF: return "bpf";
	default: return NULL;
	}
}

struct err *ufile_open(struct host *h, const char *path, struct ufile *ret)
{
	const struct arch *a = h->arch;
	struct ufile f = {.path = path};
	struct err *e = image_ask(h, path, &f.im);
	if (e)
		return e;
	if (f.im.machine != a->machine && (!a->machine32 || f.im.machine != a->machine32)) {
		const char *name = machine_name(f.im.machine);
		e = name ? err_new("%s is for %s, and this machine is %s", path, name, a->name)
			 : err_new("%s is for a machine that has no name here (e_machine %u), and "
				   "this machine is %s",
				   path, f.im.machine, a->name);
		image_close(&f.im);
		return e;
	}
	ask_kind(h, path, &f);
	*ret = f;
	return NULL;
}

void ufile_close(struct ufile *f)
{
	image_close(&f->im);
}

/* ---- code ---- */

struct codes ufile_code(const struct ufile *f, const struct symbol *fn)
{
	struct codes c = {.machine = f->im.machine};
	u64 off = fn->file_off;
	if (!off || off >= f->im.n || fn->size > MIN((u64)MAX_FUNCTION, f->im.n - off))
		return c;
	c.p = f->im.p + off;
	c.n = (u32)fn->size;
	return c;
}

static bool has_any(const struct elf_syms *syms, const char *const *names)
{
	while (*names && !elf_find(syms, str_z(*names)))
		names++;
	return *names;
}

const char *ufile_keeps_returns(const struct ufile *f, const struct elf_syms *syms,
				const struct symbol *fn)
{
	static const char *const throwing[] = {"__cxa_throw", "__gxx_personality_v0",
					       "rust_eh_personality", NULL};
	bool libc = elf_find(syms, STR("__libc_start_main")) != NULL;
	if (f->pads && (!libc || has_any(syms, throwing) || (fn && sym_calls_back(fn->name))))
		return "exceptions may pass through";
	bool program =
		!libc || elf_find(syms, STR("main")); /* not the C library, which has them all */
	if (program && (f->switches || has_any(syms, stack_switches)))
		return "the program may change to another stack in";
	return NULL;
}

/* A function's code, and what the compiler moved out of it as rarely used. */
struct leaving {
	const struct ufile *f;
	const struct elf_syms *syms;
	const struct symbol *fn, *cold;
	VEC(u64) ret;
	u32 njump;
	u32 bad; /* offset of an instruction that is not known */
	bool lost;
};

static bool is_inside(const struct symbol *fn, u64 addr)
{
	return fn && addr >= fn->addr && addr - fn->addr < fn->size;
}

/* "f.cold" of "f". */
static bool is_cold_of(const struct symbol *cold, const struct symbol *fn)
{
	return cold && str_starts(cold->name, fn->name) &&
	       str_starts(str_from(cold->name, fn->name.n), STR(".cold"));
}

static void note_jump(struct leaving *l, const struct symbol *at, const struct insn *i)
{
	u64 to = at->addr + (u64)i->to;
	if (i->jumps && (is_inside(l->fn, to) || is_inside(l->cold, to)))
		return;
	if (!i->jumps && i->kind != CODE_JUMP)
		return;
	const struct symbol *s = i->jumps ? elf_at(l->syms, to) : NULL;
	if (!l->cold && is_cold_of(s, l->fn))
		l->cold = s;
	else
		l->njump++;
}

static void look_through(struct leaving *l, const struct symbol *fn)
{
	struct codes c = ufile_code(l->f, fn);
	struct insn i;
	u32 at = 0;
	while (code_next(&c, &at, &i)) {
		if (i.kind == CODE_RET)
			vec_add(&l->ret, fn->file_off + i.at);
		else
			note_jump(l, fn, &i);
	}
	l->lost |= at < c.n;
	l->bad = at;
}

struct err *ufile_ways_out(const struct ufile *f, const struct elf_syms *syms,
			   const struct symbol *fn, struct arena *a, struct ways_out *ret)
{
	struct leaving l = {.f = f, .syms = syms, .fn = fn};
	struct err *e = NULL;
	look_through(&l, fn);
	if (!l.lost && l.cold)
		look_through(&l, l.cold);
	if (!ufile_code(f, fn).n)
		e = err_new("%s does not contain the size of %.*s, so its return instructions "
			    "cannot be found",
			    f->path, STRF(fn->name));
	else if (l.lost)
		e = err_new("%.*s+%u in %s is an instruction that is not known, so the function's "
			    "return instructions cannot be found",
			    STRF(fn->name), l.bad, f->path);
	else if (!l.ret.n)
		e = err_new("%.*s in %s has no return instruction", STRF(fn->name), f->path);
	if (!e) {
		u64 *all = arena_newn(a, u64, l.ret.n);
		memcpy(all, l.ret.v, l.ret.n * sizeof(*all));
		*ret = (struct ways_out){l.ret.n, all, l.njump};
	}
	vec_free(&l.ret);
	return e;
}

/* What the kernel emulates since 4.17. A nop of five bytes only since it makes calls of them; but
 * there is nothing to lose. */
static bool is_emulated(const u8 *p, const struct insn *i)
{
	switch (i->kind) {
	case CODE_PUSH: return i->len == 1 || (i->len == 2 && p[0] == 0x41);
	case CODE_NOP: return i->len == 1;
	case CODE_JUMP: return p[0] == 0xe9 || p[0] == 0xeb;
	case CODE_NOP5: return true;
	case CODE_OTHER:
	case CODE_RET:
	case CODE_CALL:
	case CODE_ENDBR:
	case CODE_VECTOR: break;
	}
	return false;
}

enum { ENOUGH = 20 }; /* bytes for two instructions that matter */

static struct codes code_at(const struct ufile *f, u64 file_off)
{
	u64 left = file_off < f->im.n ? f->im.n - file_off : 0;
	return (struct codes){f->im.p + file_off, (u32)MIN(left, (u64)ENOUGH), f->im.machine};
}

bool ufile_refused(const struct ufile *f, u64 file_off)
{
	struct codes c = code_at(f, file_off);
	struct insn i;
	u32 at = 0;
	return code_next(&c, &at, &i) && i.refused;
}

u32 ufile_skip(const struct ufile *f, u64 file_off)
{
	struct codes c = code_at(f, file_off);
	struct insn first, next;
	u32 at = 0;
	if (c.machine != EM_X86_64 || !code_next(&c, &at, &first) || first.kind != CODE_ENDBR ||
	    !code_next(&c, &at, &next))
		return 0;
	return is_emulated(c.p + next.at, &next) ? next.at : 0;
}

u32 ufile_past_vectors(const struct ufile *f, u64 file_off)
{
	struct codes c = code_at(f, file_off);
	struct insn i = {0};
	u32 at = 0;
	while (code_next(&c, &at, &i) && i.refused && i.kind == CODE_VECTOR)
		;
	return i.refused ? 0 : i.at;
}

/* ---- nops that become calls ---- */

static bool has_bytes(const struct ufile *f, u64 off, const void *p, u32 n)
{
	return off < f->im.n && n <= f->im.n - off && !memcmp(f->im.p + off, p, n);
}

static const u8 nops[] = {0x90, 0x0f, 0x1f, 0x44, 0, 0, 0x66, 0x2e,
			  0x0f, 0x1f, 0x84, 0,    0, 0, 0,    0};
enum { NOP5_AT = 1, NOP5 = 5, NOP10_AT = 6 };

/* Compilers keep nothing below the stack pointer in functions that call others. */
static bool calls_others(const struct ufile *f, const struct symbol *fn)
{
	struct codes c = {0};
	struct insn i;
	u32 at = 0;
	if (fn)
		c = ufile_code(f, fn);
	while (code_next(&c, &at, &i))
		if (i.kind == CODE_CALL)
			return true;
	return false;
}

bool ufile_has_nops(const struct ufile *f, u64 file_off)
{
	return f->im.machine == EM_X86_64 && has_bytes(f, file_off, nops, sizeof(nops));
}

u32 ufile_best_nop(const struct ufile *f, struct host *h, u64 file_off, const struct symbol *fn)
{
	if (!ufile_has_nops(f, file_off))
		return 0;
	if (host_has(h, FEAT_NOP10_CALL))
		return NOP10_AT;
	return calls_others(f, fn) && host_has(h, FEAT_NOP5_CALL) ? NOP5_AT : 0;
}

bool ufile_harms(const struct ufile *f, struct host *h, u64 file_off, const struct symbol *fn)
{
	bool start = fn && fn->file_off == file_off; /* nothing is kept there yet */
	return f->im.machine == EM_X86_64 && has_bytes(f, file_off, nops + NOP5_AT, NOP5) &&
	       !start && !calls_others(f, fn) && host_has(h, FEAT_NOP5_CALL);
}
