/* names.c - tables of words. Numbers are those of x86_64, which most architectures share. */
#include "core/names.h"
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define IS(n)                \
	{                    \
#n, n, ~0ull \
	}
struct word {
	const char *name;
	u64 bits, mask; /* n & mask == bits */
};
struct names {
	const char *name;
	const struct word *words;
	const char *(*find)(i64 n); /* instead of words */
	bool flags;                 /* all that fit, with '|' between them */
	u64 most;                   /* of numbers; 0: any */
};

static const char *find_signal(i64 n)
{
	return n > 0 && n < 64 ? sigabbrev_np((int)n) : NULL;
}

static const char *find_errno(i64 n)
{
	i64 no = n < 0 ? -n : n;
	return no && no < 4096 ? strerrorname_np((int)no) : NULL;
}

static const struct word tcp_states[] = {{"ESTABLISHED", 1, ~0ull},
					 {"SYN_SENT", 2, ~0ull},
					 {"SYN_RECV", 3, ~0ull},
					 {"FIN_WAIT1", 4, ~0ull},
					 {"FIN_WAIT2", 5, ~0ull},
					 {"TIME_WAIT", 6, ~0ull},
					 {"CLOSE", 7, ~0ull},
					 {"CLOSE_WAIT", 8, ~0ull},
					 {"LAST_ACK", 9, ~0ull},
					 {"LISTEN", 10, ~0ull},
					 {"CLOSING", 11, ~0ull},
					 {"NEW_SYN_RECV", 12, ~0ull},
					 {0}};
/* As ps has them: bits of include/linux/sched.h. */
static const struct word task_states[] = {{"R", 0, ~0ull},     {"S", 1, ~0ull},
					  {"D", 2, ~0ull},     {"T", 4, ~0ull},
					  {"t", 8, ~0ull},     {"X", 0x10, ~0ull},
					  {"Z", 0x20, ~0ull},  {"P", 0x40, ~0ull},
					  {"I", 0x402, ~0ull}, {0}};
static const struct word families[] = {IS(AF_UNSPEC),  IS(AF_UNIX),   IS(AF_INET), IS(AF_INET6),
				       IS(AF_NETLINK), IS(AF_PACKET), {0}};
static const struct word protocols[] = {{"IP", 0, ~0ull},        {"ICMP", 1, ~0ull},
					{"TCP", 6, ~0ull},       {"UDP", 17, ~0ull},
					{"ICMPV6", 58, ~0ull},   {"SCTP", 132, ~0ull},
					{"UDPLITE", 136, ~0ull}, {"RAW", 255, ~0ull},
					{"MPTCP", 262, ~0ull},   {0}};
/* The longer ones come first: O_SYNC holds the bit of O_DSYNC. */
static const struct word open_flags[] = {
	{"O_RDONLY", 0, 3},
	{"O_WRONLY", 1, 3},
	{"O_RDWR", 2, 3},
	{"O_CREAT", O_CREAT, O_CREAT},
	{"O_EXCL", O_EXCL, O_EXCL},
	{"O_NOCTTY", O_NOCTTY, O_NOCTTY},
	{"O_TRUNC", O_TRUNC, O_TRUNC},
	{"O_APPEND", O_APPEND, O_APPEND},
	{"O_NONBLOCK", O_NONBLOCK, O_NONBLOCK},
	{"O_SYNC", O_SYNC, O_SYNC},
	{"O_DSYNC", O_DSYNC, O_SYNC},
	{"O_ASYNC", O_ASYNC, O_ASYNC},
	{"O_DIRECT", O_DIRECT, O_DIRECT},
	{"O_LARGEFILE", 0100000, 0100000},
	{"O_TMPFILE", O_TMPFILE, O_TMPFILE},
	{"O_DIRECTORY", O_DIRECTORY, O_TMPFILE},
	{"O_NOFOLLOW", O_NOFOLLOW, O_NOFOLLOW},
	{"O_NOATIME", O_NOATIME, O_NOATIME},
	{"O_CLOEXEC", O_CLOEXEC, O_CLOEXEC},
	{"O_PATH", O_PATH, O_PATH},
	{0},
};
static const struct word file_types[] = {{"FIFO", S_IFIFO, S_IFMT},  {"CHR", S_IFCHR, S_IFMT},
					 {"DIR", S_IFDIR, S_IFMT},   {"BLK", S_IFBLK, S_IFMT},
					 {"REG", S_IFREG, S_IFMT},   {"LNK", S_IFLNK, S_IFMT},
					 {"SOCK", S_IFSOCK, S_IFMT}, {0}};
static const struct word softirqs[] = {{"hi", 0, ~0ull},
				       {"timer", 1, ~0ull},
				       {"net_tx", 2, ~0ull},
				       {"net_rx", 3, ~0ull},
				       {"block", 4, ~0ull},
				       {"irq_poll", 5, ~0ull},
				       {"tasklet", 6, ~0ull},
				       {"sched", 7, ~0ull},
				       {"hrtimer", 8, ~0ull},
				       {"rcu", 9, ~0ull},
				       {0}};
static const struct word mount_flags[] = {{"MS_RDONLY", MS_RDONLY, MS_RDONLY},
					  {"MS_NOSUID", MS_NOSUID, MS_NOSUID},
					  {"MS_NODEV", MS_NODEV, MS_NODEV},
					  {"MS_NOEXEC", MS_NOEXEC, MS_NOEXEC},
					  {"MS_REMOUNT", MS_REMOUNT, MS_REMOUNT},
					  {"MS_NOATIME", MS_NOATIME, MS_NOATIME},
					  {"MS_BIND", MS_BIND, MS_BIND},
					  {"MS_MOVE", MS_MOVE, MS_MOVE},
					  {"MS_REC", MS_REC, MS_REC},
					  {"MS_SILENT", MS_SILENT, MS_SILENT},
					  {"MS_PRIVATE", MS_PRIVATE, MS_PRIVATE},
					  {"MS_SLAVE", MS_SLAVE, MS_SLAVE},
					  {"MS_SHARED", MS_SHARED, MS_SHARED},
					  {"MS_RELATIME", MS_RELATIME, MS_RELATIME},
					  {0}};
static const struct word tcp_flags[] = {{"FIN", 1, 1},   {"SYN", 2, 2},     {"RST", 4, 4},
					{"PSH", 8, 8},   {"ACK", 16, 16},   {"URG", 32, 32},
					{"ECE", 64, 64}, {"CWR", 128, 128}, {0}};
static const struct word capabilities[] = {{"CAP_CHOWN", 0, ~0ull},
					   {"CAP_DAC_OVERRIDE", 1, ~0ull},
					   {"CAP_DAC_READ_SEARCH", 2, ~0ull},
					   {"CAP_FOWNER", 3, ~0ull},
					   {"CAP_FSETID", 4, ~0ull},
					   {"CAP_KILL", 5, ~0ull},
					   {"CAP_SETGID", 6, ~0ull},
					   {"CAP_SETUID", 7, ~0ull},
					   {"CAP_SETPCAP", 8, ~0ull},
					   {"CAP_LINUX_IMMUTABLE", 9, ~0ull},
					   {"CAP_NET_BIND_SERVICE", 10, ~0ull},
					   {"CAP_NET_BROADCAST", 11, ~0ull},
					   {"CAP_NET_ADMIN", 12, ~0ull},
					   {"CAP_NET_RAW", 13, ~0ull},
					   {"CAP_IPC_LOCK", 14, ~0ull},
					   {"CAP_IPC_OWNER", 15, ~0ull},
					   {"CAP_SYS_MODULE", 16, ~0ull},
					   {"CAP_SYS_RAWIO", 17, ~0ull},
					   {"CAP_SYS_CHROOT", 18, ~0ull},
					   {"CAP_SYS_PTRACE", 19, ~0ull},
					   {"CAP_SYS_PACCT", 20, ~0ull},
					   {"CAP_SYS_ADMIN", 21, ~0ull},
					   {"CAP_SYS_BOOT", 22, ~0ull},
					   {"CAP_SYS_NICE", 23, ~0ull},
					   {"CAP_SYS_RESOURCE", 24, ~0ull},
					   {"CAP_SYS_TIME", 25, ~0ull},
					   {"CAP_SYS_TTY_CONFIG", 26, ~0ull},
					   {"CAP_MKNOD", 27, ~0ull},
					   {"CAP_LEASE", 28, ~0ull},
					   {"CAP_AUDIT_WRITE", 29, ~0ull},
					   {"CAP_AUDIT_CONTROL", 30, ~0ull},
					   {"CAP_SETFCAP", 31, ~0ull},
					   {"CAP_MAC_OVERRIDE", 32, ~0ull},
					   {"CAP_MAC_ADMIN", 33, ~0ull},
					   {"CAP_SYSLOG", 34, ~0ull},
					   {"CAP_WAKE_ALARM", 35, ~0ull},
					   {"CAP_BLOCK_SUSPEND", 36, ~0ull},
					   {"CAP_AUDIT_READ", 37, ~0ull},
					   {"CAP_PERFMON", 38, ~0ull},
					   {"CAP_BPF", 39, ~0ull},
					   {"CAP_CHECKPOINT_RESTORE", 40, ~0ull},
					   {0}};

const char names_list[] = "capability errno family file_type mount_flags open_flags protocol "
			  "signal softirq task_state tcp_flags tcp_state";
static const struct names tables[] = {
	{"capability", capabilities, NULL, false, 0}, {"errno", NULL, find_errno, false, 0},
	{"family", families, NULL, false, 0},         {"file_type", file_types, NULL, false, 0},
	{"mount_flags", mount_flags, NULL, true, 0},  {"open_flags", open_flags, NULL, true, 0},
	{"protocol", protocols, NULL, false, 0},      {"signal", NULL, find_signal, false, 64},
	{"softirq", softirqs, NULL, false, 0},        {"tcp_flags", tcp_flags, NULL, true, 0},
	{"tcp_state", tcp_states, NULL, false, 0},    {"task_state", task_states, NULL, false, 0},
};

const struct names *names_find(struct str table)
{
	for (size_t i = 0; i < countof(tables); i++)
		if (str_is(table, tables[i].name))
			return &tables[i];
	return NULL;
}

u64 names_most(const struct names *t)
{
	return t->most ? t->most : UINT64_MAX;
}

struct str names_table(const struct names *t)
{
	return str_z(t->name);
}

bool names_put(struct sb *out, const struct names *t, i64 n)
{
	const char *one = t->find ? t->find(n) : NULL;
	u64 left = (u64)n;
	bool any = false;
	if (one)
		sb_z(out, one);
	for (const struct word *w = t->words; w && w->name && (t->flags || !any); w++) {
		if (((u64)n & w->mask) != w->bits)
			continue;
		sb_fmt(out, "%s%s", any ? "|" : "", w->name);
		left &= ~w->bits;
		any = true;
	}
	if (t->flags && left)
		sb_fmt(out, "%s0x%llx", any ? "|" : "", left);
	else if (t->flags && !any)
		sb_char(out, '0');
	return one || any || t->flags;
}
