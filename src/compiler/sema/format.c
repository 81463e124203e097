/* format.c - do a format string and its arguments fit? */
#include "core/printf.h"
#include "sema/check.h"

static bool conv_fits(const struct conv *c, const struct node *arg)
{
	const struct type *t = arg->type;
	bool num = type_is_int(t) || t->kind == T_BOOL || t->kind == T_PTR || t->kind == T_KSYM ||
		   t->kind == T_USERNAME;
	switch (c->conv[0]) {
	case 'd':
	case 'i':
	case 'u':
	case 'o':
	case 'x':
	case 'X':
	case 'c':
	case 'p': return num;
	case 'r': return t->kind == T_BUF;
	case 'f':
	case 'F':
	case 'e':
	case 'E':
	case 'g':
	case 'G':
	case 'a':
	case 'A': return t->kind == T_FLOAT || c->conv[1];
	default: return true;
	}
}

/* '*' as width or precision takes an argument of its own, an integer. */
static bool check_star(struct sema *s, struct node **arg, u32 *want)
{
	struct node *n = *arg;
	++*want;
	if (!n)
		return true;
	*arg = n->next;
	if (!n->type || type_is_error(n->type) || type_is_int(n->type))
		return true;
	AUTO_SB name = {0};
	type_name(n->type, &name);
	return sema_fail(s, E_FORMAT, n->loc, "'*' in a format needs an int argument (%s provided)",
			 name.s);
}

/* What neither the kernel's formatting nor ours in programs can do: why, or NULL. */
static const char *seq_cannot(struct sema *s, const struct conv *c, const struct type *t)
{
	bool text = c->conv[0] == 's';
	bool number = type_is_int(t) || t->kind == T_BOOL || t->kind == T_PTR;
	bool pointer = c->conv[0] == 'p' || (text && t->kind == T_PTR);
	if (c->width == -2 || c->prec == -2)
		return "takes no width from an argument";
	if (c->width > SEQ_WIDTH_MAX)
		return "has widths up to 128";
	if (text && (t->kind == T_STRING || t->kind == T_PROBE || t->kind == T_BOOL))
		return NULL;
	if (text && (!number || t->kind == T_ENUM))
		return "has texts, numbers, bool and pointers only; others get their text from "
		       "sonde";
	if (!c->conv[0] || !strchr("diuxXcps", c->conv[0]) || c->conv[1])
		return "has d, i, u, x, X, c, p and s only";
	if (c->prec >= 0 || strchr(c->flags, '#'))
		return "has no precision of numbers, and no #";
	if (pointer && (c->width > 0 || *c->flags))
		return "has no width of pointers";
	if (c->conv[0] == 'X' && !host_has(s->c->host, FEAT_SNPRINTF))
		return "has no X before Linux 5.13";
	return NULL;
}

bool sema_check_seq(struct sema *s, struct node *call, struct str fmt)
{
	u32 at = 0;
	struct str lit;
	struct conv c;
	bool ok = true;
	struct node *arg = call_arg(call, 1);
	for (; arg && conv_next(fmt, &at, &lit, &c); arg = arg->next) {
		const char *no = arg->type ? seq_cannot(s, &c, arg->type) : NULL;
		if (no)
			ok = sema_fail(s, E_FORMAT, arg->loc,
				       "%.*s: the printf of a pinned iterator, which is the "
				       "kernel's, %s",
				       STRF(c.text), no);
	}
	return ok;
}

bool sema_check_format(struct sema *s, struct node *call, struct str fmt, u32 first)
{
	u32 at = 0, want = 0;
	struct str lit;
	struct conv c;
	bool ok = true;
	struct node *arg = call_arg(call, first);
	while (conv_next(fmt, &at, &lit, &c)) {
		if (c.width == -2 && !check_star(s, &arg, &want))
			ok = false;
		if (c.prec == -2 && !check_star(s, &arg, &want))
			ok = false;
		want++;
		bool known = arg && arg->type &&
			     (arg->type->kind == T_FLOAT || type_is_error(arg->type));
		if (c.conv[0] && strchr("nfeFEgGaA", c.conv[0]) && c.conv[1] == 0 &&
		    (!known || c.conv[0] == 'n')) {
			ok = sema_fail(s, E_FORMAT, call->a->loc,
				       "unsupported format specifier: %s", c.conv);
			if (arg)
				arg = arg->next;
			continue;
		}
		if (!arg)
			continue;
		if (c.conv[0] == 's')
			warn_address(s, arg);
		if (arg->type && !type_is_error(arg->type) && !conv_fits(&c, arg)) {
			AUTO_SB name = {0};
			type_name(arg->type, &name);
			ok = sema_fail(s, E_FORMAT, arg->loc,
				       "unsupported format specifier for type '%s': %s", name.s,
				       c.conv);
		}
		arg = arg->next;
	}
	u32 have = call_nargs(call) - first;
	if (have != want)
		ok = sema_fail(s, E_FORMAT, call->loc,
			       "%s arguments for format string (%u supplied, %u expected)",
			       have < want ? "not enough" : "too many", have, want);
	return ok;
}
