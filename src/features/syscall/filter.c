/* filter.c - filters of system calls: instructions of classic BPF, as strace writes them. */
#include "base/bytes.h"
#include "syscall/show.h"
#include <linux/filter.h>

enum { CODE = 8 /* bytes of an instruction */ };

/* Bits of a code by their table; *left: those that have not been shown yet. */
static void put_bits(struct sb *out, const char *table, u32 mask, u32 *left)
{
	const char *name = call_word(str_z(table), *left & mask);
	if (name)
		sb_fmt(out, "|%s", name);
	else
		sb_fmt(out, "|%#x /* BPF_??? */", *left & mask);
	*left &= ~mask;
}

static void put_code(struct sb *out, u32 code)
{
	enum { CLASS = 7, SIZE = 0x18, MODE = 0xe0, SOURCE = 8, OPERATION = 0xf0, MISC = 0xf8 };
	u32 class = code & CLASS, left = code & ~(u32)CLASS;
	sb_z(out, call_word(STR("bpf_class"), class));
	switch (class) {
	case BPF_LD:
	case BPF_LDX:
		put_bits(out, "bpf_size", SIZE, &left);
		put_bits(out, "bpf_mode", MODE, &left);
		break;
	case BPF_ALU:
	case BPF_JMP:
		put_bits(out, "bpf_source", SOURCE, &left);
		put_bits(out, class == BPF_ALU ? "bpf_alu" : "bpf_jump", OPERATION, &left);
		break;
	case BPF_RET: put_bits(out, "bpf_source", SIZE, &left); break;
	case BPF_MISC: put_bits(out, "bpf_misc", MISC, &left); break;
	default: break; /* ST, STX */
	}
	if (left)
		sb_fmt(out, "|%#x /* BPF_??? */", left);
}

/* What a filter decides, and the number that goes with it. */
static void put_action(struct sb *out, u32 k)
{
	u32 data = k & 0xffff;
	call_put_enum(out, STR("seccomp_ret"), k & ~0xffffu);
	if (data)
		sb_fmt(out, "|%#x", data);
}

static void put_instruction(struct sb *out, struct bytes *b)
{
	u16 code = bytes_u16(b);
	const u8 *jump = bytes_take(b, 2);
	u32 k = bytes_u32(b);
	bool jumps = jump && (jump[0] || jump[1]);
	sb_z(out, jumps ? "BPF_JUMP(" : "BPF_STMT(");
	put_code(out, code);
	sb_z(out, ", ");
	if ((code & 7) == BPF_RET)
		put_action(out, k);
	else
		sb_fmt(out, "%#x", k);
	if (jumps)
		sb_fmt(out, ", %#x, %#x", jump[0], jump[1]);
	sb_char(out, ')');
}

void shown_filter(struct shown *s, u32 i)
{
	struct str t = call_part(s->enter, i), filter = call_part(s->enter, CALL_NESTED);
	struct bytes b = bytes_of(t.s, t.n), code = bytes_of(filter.s, filter.n);
	u16 len = bytes_u16(&b);
	bytes_take(&b, 6);
	u64 at = bytes_u64(&b);
	if (!t.s || b.bad) {
		shown_address(s, s->in.arg[i]);
		return;
	}
	sb_fmt(s->text, "{len=%u, filter=", len);
	if (filter.n < CODE || !(s->flags & CALL_WHOLE)) {
		shown_address(s, at);
	} else {
		for (u32 k = 0; k < len && code.at + CODE <= code.n; k++) {
			sb_z(s->text, k ? ", " : "[");
			put_instruction(s->text, &code);
		}
		sb_z(s->text, len * CODE > filter.n ? ", ...]" : "]");
	}
	sb_char(s->text, '}');
}
