/* arch.c - the architectures that we know, and which of them this is. */
#include "arch/arch.h"
#include <string.h>

static const struct arch *const all[ARCH_COUNT] = {
	[ARCH_X86_64] = &arch_x86_64,
	[ARCH_AARCH64] = &arch_aarch64,
};

const struct arch *arch_native(void)
{
#if defined(__x86_64__)
	return &arch_x86_64;
#elif defined(__aarch64__)
	return &arch_aarch64;
#else
#error "sonde does not know this architecture: it takes a file like x86_64.c"
#endif
}

const struct arch *arch_of(u16 machine)
{
	for (u32 i = 0; i < countof(all); i++)
		if (all[i]->machine == machine)
			return all[i];
	return NULL;
}

const struct arch *arch_that_runs(u16 machine)
{
	for (u32 i = 0; i < countof(all); i++)
		if (all[i]->machine == machine || (machine && all[i]->machine32 == machine))
			return all[i];
	return NULL;
}

const struct arch *arch_by_name(struct str name)
{
	for (u32 i = 0; i < countof(all); i++)
		if (str_is(name, all[i]->name))
			return all[i];
	return NULL;
}

const struct arch_reg *arch_reg(const struct arch_regs *r, struct str name)
{
	for (u32 i = 0; i < r->n; i++)
		for (u32 k = 0; k < ARCH_REG_NAMES && r->v[i].name[k]; k++)
			if (str_is(name, r->v[i].name[k]))
				return &r->v[i];
	return NULL;
}

static u32 number_of(const struct arch_calls *calls, struct str name)
{
	for (u32 nr = 0; nr < calls->n; nr++)
		if (calls->at[nr] && str_is(name, arch_call_name(calls, nr)))
			return nr;
	return calls->n;
}

u32 arch_call(const struct arch *a, struct str name)
{
	return number_of(&a->calls, name);
}

u32 arch_twin(const struct arch_calls *calls, struct str call, u32 i, struct arch_twin *how)
{
	bool other = false; /* the call of the same name has a row */
	for (const struct arch_twin *t = calls->twins; t && t->name; t++) {
		other |= str_is(call, t->name);
		if (!str_is(call, t->call) || i--)
			continue;
		*how = *t;
		return number_of(calls, str_z(t->name));
	}
	*how = (struct arch_twin){.same = ARCH_CALL_ARGS, .narrow = true};
	return other || i ? calls->n : number_of(calls, call);
}

static struct str behind(struct str name, const char *head)
{
	struct str h = str_z(head);
	return str_starts(name, h) ? str_from(name, h.n) : (struct str){0};
}

struct str arch_call_of(struct str name)
{
	static const char *const heads[] = {"sys_enter_", "sys_exit_", "sys_", "SyS_", "__se_sys_"};
	struct str call = {0};
	for (u32 i = 0; i < countof(all) && !call.s; i++)
		call = behind(behind(name, all[i]->calls.wrapper), "sys_");
	for (u32 i = 0; i < countof(heads) && !call.s; i++)
		call = behind(name, heads[i]);
	return call;
}

bool arch_is_of_call(struct str name, struct str want)
{
	bool is = str_eq(behind(name, "sys_enter_"), want);
	for (u32 i = 0; i < countof(all) && !is; i++)
		is = str_eq(behind(name, all[i]->calls.wrapper), want);
	return is && want.n;
}

const char *arch_instead(const struct arch *a, struct str call)
{
	for (const struct arch_instead *i = a->calls.instead; i && i->call; i++)
		if (str_is(call, i->call))
			return i->instead;
	return NULL;
}
