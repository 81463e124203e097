/* progbtf.c - BTF for our programs: functions (callbacks need it) and the script's lines (for the
 * verifier's log). */
#include "base/alloc.h"
#include "kern/sys.h"
#include <bpf/btf.h>
#include <ctype.h>
#include <errno.h>

enum { MAX_PARAMS = 5, MAX_LINE_NO = (1 << 22) - 1, MAX_COL_NO = 1023 };

/* BTF takes C identifiers only. */
static void identifier(char *dst, size_t size, struct str s)
{
	size_t n = 0;
	for (u32 i = 0; i < s.n && n + 1 < size; i++) {
		char c = s.s[i];
		bool ok = isalpha((u8)c) || c == '_' || (n && isdigit((u8)c));
		dst[n++] = ok ? c : '_';
	}
	if (!n)
		dst[n++] = '_';
	dst[n] = 0;
}

/* main: int (void *ctx); callbacks: static long (u64 a0, ...). Ids, or a negative error. */
static int add_types(struct btf *b, const struct prog_spec *s, struct bpf_func_info *out)
{
	int i32_id = btf__add_int(b, "int", 4, BTF_INT_SIGNED);
	int i64_id = btf__add_int(b, "long", 8, BTF_INT_SIGNED);
	int u64_id = btf__add_int(b, "u64", 8, 0);
	int ptr_id = btf__add_ptr(b, 0);
	for (u32 i = 0; i < s->nfunc; i++) {
		const struct func_info *f = &s->func[i];
		char name[64], param[16];
		int proto = btf__add_func_proto(b, f->is_static ? i64_id : i32_id);
		if (!f->is_static)
			btf__add_func_param(b, "ctx", ptr_id);
		assert(f->narg <= MAX_PARAMS);
		for (u32 k = 0; f->is_static && k < f->narg; k++) {
			snprintf(param, sizeof(param), "a%u", k);
			btf__add_func_param(b, param, u64_id);
		}
		identifier(name, sizeof(name), f->name);
		int id = btf__add_func(b, name, f->is_static ? BTF_FUNC_STATIC : BTF_FUNC_GLOBAL,
				       proto);
		if (id < 0)
			return id;
		out[i] = (struct bpf_func_info){.insn_off = f->insn, .type_id = (u32)id};
	}
	return 0;
}

static u32 add_text(struct btf *b, struct str s)
{
	AUTO_SB z = {0};
	sb_add(&z, s);
	for (size_t i = 0; i < z.n; i++)
		if ((u8)z.s[i] < ' ')
			z.s[i] = ' ';
	int off = btf__add_str(b, z.n ? z.s : "");
	return off < 0 ? 0 : (u32)off;
}

static void add_line(struct btf *b, struct prog_btf *r, u32 insn, const struct line_info *l)
{
	r->line[r->nline++] = (struct bpf_line_info){
		.insn_off = insn,
		.file_name_off = add_text(b, l->file),
		.line_off = add_text(b, l->text),
		.line_col = MIN(l->line, (u32)MAX_LINE_NO) << 10 | MIN(l->col, (u32)MAX_COL_NO),
	};
}

/*
 * The kernel wants ascending instructions, none in the second half of a wide one, and an entry at
 * the start of every function: where there is none, the next line's (or the last one's) stands in.
 */
static void add_lines(struct btf *b, const struct prog_spec *s, struct prog_btf *r)
{
	r->line = xcalloc(s->nline + s->nfunc, sizeof(*r->line));
	u32 f = 0;
	i64 last = -1;
	for (u32 i = 0; i < s->nline; i++) {
		const struct line_info *l = &s->line[i];
		for (; f < s->nfunc && s->func[f].insn <= l->insn; f++) {
			if ((i64)s->func[f].insn > last)
				add_line(b, r, s->func[f].insn, l);
			last = MAX(last, (i64)s->func[f].insn);
		}
		if ((i64)l->insn <= last || l->insn >= s->ninsn || !s->insn[l->insn].code)
			continue;
		add_line(b, r, l->insn, l);
		last = l->insn;
	}
	for (; s->nline && f < s->nfunc; f++)
		add_line(b, r, s->func[f].insn, &s->line[s->nline - 1]);
}

int prog_btf_load(const struct prog_spec *s, struct prog_btf *ret)
{
	*ret = (struct prog_btf){.fd = -1};
	if (!s->nfunc)
		return -ENOENT;
	struct btf *b = btf__new_empty();
	if (!b)
		return -ENOMEM;
	long fd = -ENOMEM;
	ret->func = xcalloc(s->nfunc, sizeof(*ret->func));
	ret->nfunc = s->nfunc;
	if (add_types(b, s, ret->func) == 0) {
		add_lines(b, s, ret);
		u32 size = 0;
		const void *raw = btf__raw_data(b, &size);
		union bpf_attr attr;
		memset(&attr, 0, sizeof(attr));
		attr.btf = ptr_u64(raw);
		attr.btf_size = size;
		fd = raw ? sys_bpf(BPF_BTF_LOAD, &attr, sizeof(attr)) : -ENOMEM;
	}
	btf__free(b);
	ret->fd = (int)MAX(fd, -1);
	if (fd < 0)
		prog_btf_free(ret);
	return (int)MIN(fd, 0);
}

void prog_btf_free(struct prog_btf *b)
{
	close_fd(&b->fd);
	free(b->func);
	free(b->line);
	*b = (struct prog_btf){.fd = -1};
}
