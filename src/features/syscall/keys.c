/* keys.c - keys and keyrings in system calls, as strace writes them. */
#include "base/bytes.h"
#include "syscall/show.h"

/*
 * What stands behind the command. k: a key; d: int, l: unsigned long, u: a user or group; s: a text; b: data, as many
 * bytes as the next argument says; r: the keyring for requests; p: permissions; e: an error; a: an address; x: a number.
 */
static const struct {
	u32 command;
	const char *kinds;
} commands[] = {
	{0, "kd" /* GET_KEYRING_ID */},
	{1, "s" /* JOIN_SESSION_KEYRING */},
	{2, "kbl" /* UPDATE */},
	{3, "k" /* REVOKE */},
	{4, "kuu" /* CHOWN */},
	{5, "kp" /* SETPERM */},
	{6, "kal" /* DESCRIBE */},
	{7, "k" /* CLEAR */},
	{8, "kk" /* LINK */},
	{9, "kk" /* UNLINK */},
	{10, "kssk" /* SEARCH */},
	{11, "kal" /* READ */},
	{12, "kblk" /* INSTANTIATE */},
	{13, "kdk" /* NEGATE */},
	{14, "r" /* SET_REQKEY */},
	{15, "kd" /* SET_TIMEOUT */},
	{16, "k" /* ASSUME_AUTH */},
	{17, "kal" /* GET_SECURITY */},
	{18, "" /* SESSION_TO_PARENT */},
	{19, "kdek" /* REJECT */},
	{20, "kadk" /* INSTANTIATE_IOV */},
	{21, "k" /* INVALIDATE */},
	{22, "uk" /* GET_PERSISTENT */},
};

static const char *kinds_of(u64 command)
{
	for (size_t i = 0; i < countof(commands); i++)
		if (commands[i].command == (u32)command)
			return commands[i].kinds;
	return "xxxx";
}

u32 call_keyctl_args(u64 command)
{
	return 1 + (u32)strlen(kinds_of(command));
}

void shown_key(struct shown *s, u64 v)
{
	shown_constant(s, call_word(STR("key_spec"), v), v);
}

/* It was copied up to its first NUL. */
static void put_data(struct shown *s, u32 i)
{
	struct str t = shown_part(s, s->enter, i);
	u64 n = s->in.arg[i + 1];
	if (t.s && n < t.n)
		shown_data(s, str_n(t.s, (u32)MIN(n, s->in.limit)), n, s->in.arg[i]);
	else
		shown_address(s, s->in.arg[i]);
}

void shown_keyctl(struct shown *s, u32 i)
{
	u64 v = s->in.arg[i];
	const char *name;
	switch (kinds_of(s->in.arg[0])[i - 1]) {
	case 'k': shown_key(s, v); break;
	case 'd': sb_fmt(s->text, "%d", (i32)v); break;
	case 'l': sb_u64(s->text, v); break;
	case 'u': call_put_id(s->text, (u32)v); break;
	case 's': shown_text(s, i, false); break;
	case 'b': put_data(s, i); break;
	case 'r': shown_constant(s, call_word(STR("key_request"), v), v); break;
	case 'p': call_put_flags(s->text, STR("key_permissions"), v); break;
	case 'e':
		name = strerrorname_np((int)v);
		shown_constant(s, v ? name : NULL, v);
		break;
	case 'a': shown_address(s, v); break;
	default: sb_fmt(s->text, v ? "0x%llx" : "0", v); break;
	}
}
