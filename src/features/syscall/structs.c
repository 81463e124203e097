/* structs.c - constants and structs of system calls in words, as strace writes them. */
#include "base/bytes.h"
#include "core/names.h"
#include "syscall/calls.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>

#define SOL_NETLINK 270
#ifndef SOL_IPV6
#define SOL_IPV6 41
#endif
#ifndef SOL_IP
#define SOL_IP 0
#endif

/* ---- constants ---- */

/* A table's name behind a byte 1, those of its constants, and so on. */
static const char word_text[] =
#define T(table)       "\1" #table "\0"
#define W(name)        #name "\0"
#define N(name, value) #name "\0"
#include "syscall/words.def"
	;
static const u32 word_value[] = {
#define T(table)       0,
#define W(name)        (u32)(name),
#define N(name, value) value,
#include "syscall/words.def"
};

struct word_walk {
	const char *at;
	size_t i;
};

static const char *next_string(struct word_walk *w)
{
	w->at += strlen(w->at) + 1;
	w->i++;
	return w->i < countof(word_value) ? w->at : NULL;
}

/* In front of the table's constants. */
static struct word_walk words_of(struct str table)
{
	struct word_walk w = {word_text, 0};
	const char *s = w.at;
	while (s && !(*s == 1 && str_is(table, s + 1)))
		s = next_string(&w);
	return w;
}

/* The table's next constant; NULL: there is none. */
static const char *next_word(struct word_walk *w, u64 *value)
{
	const char *s = w->i < countof(word_value) ? next_string(w) : NULL;
	*value = s && *s != 1 ? word_value[w->i] : 0;
	return s && *s != 1 ? s : NULL;
}

const char *call_word(struct str table, u64 v)
{
	struct word_walk w = words_of(table);
	const char *name;
	u64 value;
	while ((name = next_word(&w, &value)))
		if (value == (u32)v)
			return name;
	return NULL;
}

/* Such as SEEK_???: how all names of the table begin, up to an underscore; least: so many there must be. */
static void put_unknown(struct sb *out, struct str table, u32 least)
{
	struct word_walk w = words_of(table);
	const char *name, *first = NULL;
	u64 value;
	size_t common = 0, count = 0;
	while ((name = next_word(&w, &value))) {
		size_t n = 0;
		if (!count++) {
			first = name;
			common = strlen(name);
		}
		while (n < common && name[n] == first[n])
			n++;
		common = n;
	}
	/* IPC_NOWAIT, MCAST_JOIN_GROUP are among others. */
	if (!common && (str_ends(table, STR("_flags")) || str_starts(table, STR("ip"))))
		common = strlen(first);
	while (common && first[common - 1] != '_')
		common--;
	if (common && count >= least)
		sb_fmt(out, " /* %.*s??? */", (int)common, first);
}

void call_put_enum(struct sb *out, struct str table, u64 v)
{
	static const char *const ways[] = {"_IOC_NONE", "_IOC_WRITE", "_IOC_READ",
					   "_IOC_READ|_IOC_WRITE"};
	const char *name = call_word(table, v);
	u32 n = (u32)v;
	if (name)
		sb_z(out, name);
	else if (str_is(table, "ioctl"))
		sb_fmt(out, "_IOC(%s, %#x, %#x, %#x)", ways[n >> 30], n >> 8 & 0xff, n & 0xff,
		       n >> 16 & 0x3fff);
	else {
		sb_fmt(out, "%#x", n);
		put_unknown(out, table, 2);
	}
}

/* One of several in the low bits, then single bits; what has no name is a number. */
void call_put_flags(struct sb *out, struct str table, u64 v)
{
	u64 left = (u32)v;
	size_t start = out->n;
	const char *zero = NULL;
	bool access = str_is(table, "open"), type = str_is(table, "sock");
	u64 low = access                         ? 3
		  : type                         ? 15
		  : str_is(table, "map")         ? 15
		  : str_is(table, "personality") ? 255
		  : str_is(table, "statx_at")    ? 0x6000
		  : str_is(table, "fan_init")    ? 12
						 : 0;
	if (low) {
		const char *name = call_word(table, left & low);
		sb_z(out, name ? name : "");
		if (!name)
			sb_fmt(out, "%#llx", left & low);
		if (!name && !type)
			put_unknown(out, table, 1);
		left &= ~low;
	}
	struct word_walk w = words_of(table);
	const char *word;
	u64 bit;
	while ((word = next_word(&w, &bit))) {
		if ((bit & low) || (low && !bit))
			continue;
		if (!bit)
			zero = word;
		if (!bit || (left & bit) != bit)
			continue;
		if (access && bit == (u32)O_TMPFILE && (left & bit) != bit)
			continue;
		if (out->n > start)
			sb_char(out, '|');
		sb_z(out, word);
		left &= ~bit;
	}
	if (!left && out->n > start)
		return;
	bool mode = str_ends(table, STR("_mode"));
	bool known = out->n > start;
	if (left && mode)
		sb_fmt(out, "%s%#03llo", known ? "|" : "", left);
	else if (left)
		sb_fmt(out, known ? "|0x%llx" : "0x%llx", left);
	else if (!zero)
		sb_z(out, mode ? "000" : "0");
	else
		sb_z(out, zero);
	if (left && !mode && !known)
		put_unknown(out, table, 1);
}

void call_put_clone(struct sb *out, u64 flags)
{
	if (flags & ~0xffull) {
		call_put_flags(out, STR("clone"), flags & ~0xffull);
		sb_z(out, flags & 0xff ? "|" : "");
	}
	if (flags & 0xff)
		call_put_signal(out, flags & 0xff);
	else if (!flags)
		sb_z(out, "0");
}

void call_put_signal(struct sb *out, u64 n)
{
	const char *name = n == SIGIO ? "IO" : sigabbrev_np((int)n);
	if (name)
		sb_fmt(out, "SIG%s", name);
	else if (n >= 32 && n <= 64)
		sb_fmt(out, n > 32 ? "SIGRT_%llu" : "SIGRTMIN", n - 32);
	else
		sb_fmt(out, "%lld", (i64)n);
}

void call_put_mode(struct sb *out, u32 mode, bool with_type)
{
	static const struct {
		u32 type;
		const char *name;
	} types[] = {{S_IFREG, "S_IFREG"},  {S_IFDIR, "S_IFDIR"}, {S_IFCHR, "S_IFCHR"},
		     {S_IFBLK, "S_IFBLK"},  {S_IFIFO, "S_IFIFO"}, {S_IFLNK, "S_IFLNK"},
		     {S_IFSOCK, "S_IFSOCK"}};
	if (!with_type) {
		sb_fmt(out, "%#03o", mode);
		return;
	}
	for (size_t i = 0; i < countof(types); i++)
		if ((mode & S_IFMT) == types[i].type)
			sb_fmt(out, "%s|", types[i].name);
	if (!(mode & S_IFMT)) {
		sb_fmt(out, "%#03o", mode);
		return;
	}
	if (mode & S_ISUID)
		sb_z(out, "S_ISUID|");
	if (mode & S_ISGID)
		sb_z(out, "S_ISGID|");
	if (mode & S_ISVTX)
		sb_z(out, "S_ISVTX|");
	sb_fmt(out, "0%03o", mode & 0777);
}

static bool printable(struct str s)
{
	for (u32 i = 0; i < s.n; i++)
		if ((s.s[i] < ' ' || s.s[i] > '~') && (!s.s[i] || !strchr("\n\t\r\v\f", s.s[i])))
			return false;
	return true;
}

void call_put_quoted(struct sb *out, struct str s, u32 flags)
{
	if (flags & CALL_ALL_HEX || (flags & CALL_HEX && !printable(s))) {
		sb_char(out, '"');
		for (u32 i = 0; i < s.n; i++)
			sb_fmt(out, "\\x%02x", (u8)s.s[i]);
		sb_char(out, '"');
		return;
	}
	sb_char(out, '"');
	for (u32 i = 0; i < s.n; i++) {
		u8 c = (u8)s.s[i];
		bool digit = i + 1 < s.n && s.s[i + 1] >= '0' && s.s[i + 1] <= '7';
		switch (c) {
		case '\n': sb_z(out, "\\n"); break;
		case '\t': sb_z(out, "\\t"); break;
		case '\r': sb_z(out, "\\r"); break;
		case '\v': sb_z(out, "\\v"); break;
		case '\f': sb_z(out, "\\f"); break;
		case '"': sb_z(out, "\\\""); break;
		case '\\': sb_z(out, "\\\\"); break;
		default:
			if (c >= ' ' && c < 127)
				sb_char(out, (char)c);
			else
				sb_fmt(out, digit ? "\\%03o" : "\\%o", c);
		}
	}
	sb_char(out, '"');
}

/* ---- structs: bytes b, of which n were copied ---- */

enum { RUSAGE_REST = 14 * 8 }; /* what is not shown but with -v */

static void put_timespec(struct sb *out, struct bytes *b)
{
	i64 sec = (i64)bytes_u64(b);
	u64 nsec = bytes_u64(b);
	sb_fmt(out, "{tv_sec=%lld, tv_nsec=%llu}", sec, nsec);
}

static void put_timeval(struct sb *out, struct bytes *b)
{
	i64 sec = (i64)bytes_u64(b), usec = (i64)bytes_u64(b);
	sb_fmt(out, "{tv_sec=%lld, tv_usec=%lld}", sec, usec);
}

static void put_itimerval(struct sb *out, struct bytes *b)
{
	sb_z(out, "{it_interval=");
	put_timeval(out, b);
	sb_z(out, ", it_value=");
	put_timeval(out, b);
	sb_char(out, '}');
}

static void put_itimerspec(struct sb *out, struct bytes *b)
{
	sb_z(out, "{it_interval=");
	put_timespec(out, b);
	sb_z(out, ", it_value=");
	put_timespec(out, b);
	sb_char(out, '}');
}

/* struct stat differs by architecture in the order of its first members. */
static void put_stat(struct sb *out, struct bytes *b)
{
	struct stat st;
	const u8 *p = bytes_take(b, sizeof(st));
	if (!p)
		return;
	memcpy(&st, p, sizeof(st));
	sb_z(out, "{st_mode=");
	call_put_mode(out, st.st_mode, true);
	if (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode))
		sb_fmt(out, ", st_rdev=makedev(%#x, %#x)", major(st.st_rdev), minor(st.st_rdev));
	else
		sb_fmt(out, ", st_size=%lld", (i64)st.st_size);
	sb_z(out, ", ...}");
}

/* The seconds, the same as a date, the rest. */
static void put_when(struct sb *out, const char *name, i64 sec, u64 nsec)
{
	char text[64] = "";
	struct tm tm;
	time_t t = sec;
	if (localtime_r(&t, &tm))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	sb_fmt(out, ", %s=%lld /* %s", name, sec, text);
	if (nsec)
		sb_fmt(out, ".%09llu", nsec);
	strftime(text, sizeof(text), "%z", &tm);
	sb_fmt(out, "%s */, %s_nsec=%llu", text, name, nsec);
}

static void put_whole_stat(struct sb *out, struct bytes *b)
{
	struct stat st;
	const u8 *p = bytes_take(b, sizeof(st));
	if (!p)
		return;
	memcpy(&st, p, sizeof(st));
	sb_fmt(out, "{st_dev=makedev(%#x, %#x), st_ino=%llu, st_mode=", major(st.st_dev),
	       minor(st.st_dev), (u64)st.st_ino);
	call_put_mode(out, st.st_mode, true);
	sb_fmt(out, ", st_nlink=%llu, st_uid=%u, st_gid=%u, st_blksize=%llu, st_blocks=%llu",
	       (u64)st.st_nlink, st.st_uid, st.st_gid, (u64)st.st_blksize, (u64)st.st_blocks);
	if (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode))
		sb_fmt(out, ", st_rdev=makedev(%#x, %#x)", major(st.st_rdev), minor(st.st_rdev));
	else
		sb_fmt(out, ", st_size=%lld", (i64)st.st_size);
	put_when(out, "st_atime", st.st_atim.tv_sec, (u64)st.st_atim.tv_nsec);
	put_when(out, "st_mtime", st.st_mtim.tv_sec, (u64)st.st_mtim.tv_nsec);
	put_when(out, "st_ctime", st.st_ctim.tv_sec, (u64)st.st_ctim.tv_nsec);
	sb_char(out, '}');
}

static void put_statx(struct sb *out, struct bytes *b)
{
	const u8 *p = bytes_take(b, 256);
	u32 mask;
	u16 mode;
	u64 size, attributes;
	if (!p)
		return;
	memcpy(&mask, p, 4);
	memcpy(&mode, p + 28, 2);
	memcpy(&size, p + 40, 8);
	sb_z(out, "{stx_mask=");
	call_put_flags(out, STR("statx"), mask);
	memcpy(&attributes, p + 8, 8);
	sb_z(out, ", stx_attributes=");
	call_put_flags(out, STR("statx_attributes"), attributes);
	sb_z(out, ", stx_mode=");
	call_put_mode(out, mode, true);
	sb_fmt(out, ", stx_size=%llu, ...}", size);
}

static void put_statfs(struct sb *out, struct bytes *b)
{
	static const struct {
		u64 magic;
		const char *name;
	} types[] = {{0xef53, "EXT2_SUPER_MAGIC"},      {0x01021994, "TMPFS_MAGIC"},
		     {0x9fa0, "PROC_SUPER_MAGIC"},      {0x794c7630, "OVERLAYFS_SUPER_MAGIC"},
		     {0x62656572, "SYSFS_MAGIC"},       {0x58465342, "XFS_SUPER_MAGIC"},
		     {0x9123683e, "BTRFS_SUPER_MAGIC"}, {0x63677270, "CGROUP2_SUPER_MAGIC"},
		     {0xf97cff8c, "SELINUX_MAGIC"},     {0x6969, "NFS_SUPER_MAGIC"},
		     {0x27e0eb, "CGROUP_SUPER_MAGIC"},  {0x74726163, "TRACEFS_MAGIC"},
		     {0x1cd1, "DEVPTS_SUPER_MAGIC"},    {0x64626720, "DEBUGFS_MAGIC"},
		     {0x73636673, "SECURITYFS_MAGIC"},  {0x6165676c, "PSTOREFS_MAGIC"},
		     {0xcafe4a11, "BPF_FS_MAGIC"},      {0x858458f6, "RAMFS_MAGIC"},
		     {0x958458f6, "HUGETLBFS_MAGIC"},   {0x65735546, "FUSE_SUPER_MAGIC"},
		     {0x73717368, "SQUASHFS_MAGIC"},    {0x9660, "ISOFS_SUPER_MAGIC"},
		     {0x4d44, "MSDOS_SUPER_MAGIC"},     {0x6e736673, "NSFS_MAGIC"}};
	u64 type = bytes_u64(b), bsize = bytes_u64(b), blocks = bytes_u64(b), bfree = bytes_u64(b),
	    bavail = bytes_u64(b), files = bytes_u64(b), ffree = bytes_u64(b);
	u32 id0 = bytes_u32(b), id1 = bytes_u32(b);
	u64 namelen = bytes_u64(b), frsize = bytes_u64(b), flags = bytes_u64(b);
	const char *name = NULL;
	for (size_t i = 0; i < countof(types); i++)
		if (types[i].magic == type)
			name = types[i].name;
	sb_z(out, "{f_type=");
	if (name)
		sb_z(out, name);
	else
		sb_fmt(out, "%#llx", type);
	sb_fmt(out,
	       ", f_bsize=%llu, f_blocks=%llu, f_bfree=%llu, f_bavail=%llu, f_files=%llu, "
	       "f_ffree=%llu, f_fsid={val=[%#x, %#x]}, f_namelen=%llu, f_frsize=%llu, f_flags=",
	       bsize, blocks, bfree, bavail, files, ffree, id0, id1, namelen, frsize);
	static const char *const words[] = {
		"ST_RDONLY",  "ST_NOSUID",     "ST_NODEV",   "ST_NOEXEC", "ST_SYNCHRONOUS",
		"ST_VALID",   "ST_MANDLOCK",   NULL,         NULL,        NULL,
		"ST_NOATIME", "ST_NODIRATIME", "ST_RELATIME"};
	sb_z(out, flags & 32 ? "ST_VALID" : "");
	for (size_t i = 0; i < countof(words); i++)
		if (words[i] && i != 5 && flags >> i & 1)
			sb_fmt(out, "|%s", words[i]);
	sb_char(out, '}');
}

static void put_u64(struct sb *out, struct bytes *b)
{
	sb_fmt(out, "[%llu]", bytes_u64(b));
}

static void put_cpus(struct sb *out, struct bytes *b)
{
	const char *sep = "";
	u64 set = bytes_u64(b);
	sb_char(out, '[');
	for (u32 i = 0; i < 64; i++) {
		if (set >> i & 1) {
			sb_fmt(out, "%s%u", sep, i);
			sep = " ";
		}
	}
	sb_char(out, ']');
}

static void put_sigstack(struct sb *out, struct bytes *b)
{
	u64 sp = bytes_u64(b), flags = bytes_u64(b), size = bytes_u64(b);
	sb_fmt(out, sp ? "{ss_sp=%#llx, ss_flags=" : "{ss_sp=NULL, ss_flags=", sp);
	call_put_flags(out, STR("sigstack"), (u32)flags);
	sb_fmt(out, ", ss_size=%llu}", size);
}

void call_put_capability(struct sb *out, u64 v)
{
	AUTO_SB name = {0};
	if (names_put(&name, names_find(STR("capability")), (i64)v))
		sb_add(out, sb_str(&name));
	else
		sb_fmt(out, "%#llx /* CAP_??? */", v);
}

static void put_capabilities(struct sb *out, const char *member, u64 set)
{
	const struct names *names = names_find(STR("capability"));
	u64 left = set;
	sb_fmt(out, set ? "%s=" : "%s=0", member);
	for (i64 i = 0; i < 64; i++) {
		AUTO_SB name = {0};
		if (!(set >> i & 1) || !names_put(&name, names, i))
			continue;
		sb_fmt(out, left == set ? "1<<%.*s" : "|1<<%.*s", STRF(sb_str(&name)));
		left &= ~(1ull << i);
	}
	if (left)
		sb_fmt(out, left == set ? "%#llx" : "|%#llx", left);
}

static void put_cap_head(struct sb *out, struct bytes *b)
{
	u32 version = bytes_u32(b), pid = bytes_u32(b);
	sb_z(out, "{version=");
	call_put_enum(out, STR("cap_version"), version);
	sb_fmt(out, ", pid=%d}", (i32)pid);
}

/* As versions 2 and 3 have it: the low halves of the sets, then the high ones. */
static void put_cap_data(struct sb *out, struct bytes *b)
{
	static const char *const member[] = {"{effective", ", permitted", ", inheritable"};
	u32 w[6];
	for (u32 i = 0; i < countof(w); i++)
		w[i] = bytes_u32(b);
	for (u32 i = 0; i < countof(member); i++)
		put_capabilities(out, member[i], w[i] | (u64)w[i + 3] << 32);
	sb_char(out, '}');
}

static void put_u32(struct sb *out, struct bytes *b)
{
	sb_fmt(out, "[%u]", bytes_u32(b));
}

static void put_i32(struct sb *out, struct bytes *b)
{
	sb_fmt(out, "[%d]", (i32)bytes_u32(b));
}

static void put_pair(struct sb *out, struct bytes *b)
{
	i32 x = (i32)bytes_u32(b), y = (i32)bytes_u32(b);
	sb_fmt(out, "[%d, %d]", x, y);
}

static void put_sembuf(struct sb *out, struct bytes *b)
{
	u16 num = bytes_u16(b);
	i16 op = (i16)bytes_u16(b);
	sb_fmt(out, "{sem_num=%u, sem_op=%d, sem_flg=", num, op);
	call_put_flags(out, STR("sem_flags"), bytes_u16(b));
	sb_char(out, '}');
}

/* Of select(): the descriptors whose bits are set. */
static void put_fdset(struct sb *out, struct bytes *b)
{
	bool first = true;
	sb_char(out, '[');
	for (u32 i = 0; i < 16; i++) {
		u64 bits = bytes_u64(b);
		for (u32 k = 0; k < 64; k++) {
			if (!(bits >> k & 1))
				continue;
			sb_fmt(out, first ? "%u" : " %u", i * 64 + k);
			first = false;
		}
	}
	sb_char(out, ']');
}

void call_put_time(struct sb *out, i64 sec)
{
	char text[64] = "";
	struct tm tm;
	time_t t = sec;
	if (localtime_r(&t, &tm))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S%z", &tm);
	sb_z(out, text);
}

/* A time of a file, as a date, too. */
static void put_date(struct sb *out, i64 sec, u64 part, u32 digits)
{
	char text[64] = "", zone[16] = "";
	struct tm tm;
	time_t t = sec;
	if ((!sec && !part) || !localtime_r(&t, &tm))
		return;
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	strftime(zone, sizeof(zone), "%z", &tm);
	sb_fmt(out, " /* %s", text);
	if (part)
		sb_fmt(out, ".%0*llu", (int)digits, part);
	sb_fmt(out, "%s */", zone);
}

static void put_utimespec(struct sb *out, struct bytes *b)
{
	enum { NOW = (1 << 30) - 1, OMIT = (1 << 30) - 2 };
	i64 sec = (i64)bytes_u64(b);
	u64 nsec = bytes_u64(b);
	if (nsec == NOW || nsec == OMIT) {
		sb_z(out, nsec == NOW ? "UTIME_NOW" : "UTIME_OMIT");
		return;
	}
	sb_fmt(out, "{tv_sec=%lld, tv_nsec=%llu}", sec, nsec);
	put_date(out, sec, nsec, 9);
}

static void put_utimeval(struct sb *out, struct bytes *b)
{
	i64 sec = (i64)bytes_u64(b);
	u64 usec = bytes_u64(b);
	sb_fmt(out, "{tv_sec=%lld, tv_usec=%llu}", sec, usec);
	put_date(out, sec, usec, 6);
}

static void put_pollfd(struct sb *out, struct bytes *b)
{
	i32 fd = (i32)bytes_u32(b);
	u16 events = bytes_u16(b);
	bytes_u16(b);
	if (fd < 0) { /* passed over */
		sb_fmt(out, "{fd=%d}", fd);
		return;
	}
	sb_fmt(out, "{fd=%d, events=", fd);
	call_put_flags(out, STR("poll_events"), events);
	sb_char(out, '}');
}

static void put_epoll_event(struct sb *out, struct bytes *b)
{
	u32 events = bytes_u32(b);
	u64 data = bytes_u64(b);
	sb_z(out, "{events=");
	call_put_flags(out, STR("epoll_events"), events);
	sb_fmt(out, ", data={u32=%u, u64=%llu}}", (u32)data, data);
}

static void put_sigset(struct sb *out, struct bytes *b)
{
	u64 set = bytes_u64(b);
	bool negate = __builtin_popcountll(set) > 32, first = true;
	sb_z(out, negate ? "~[" : "[");
	for (u32 i = 1; i <= 64; i++) {
		if ((set >> (i - 1) & 1) == negate)
			continue;
		AUTO_SB name = {0};
		call_put_signal(&name, i);
		sb_fmt(out, "%s%s", first ? "" : " ",
		       name.s + (str_starts(sb_str(&name), STR("SIG")) ? 3 : 0));
		first = false;
	}
	sb_char(out, ']');
}

static void put_sigaction(struct sb *out, struct bytes *b)
{
	u64 handler = bytes_u64(b), flags = bytes_u64(b), restorer = bytes_u64(b);
	sb_z(out, "{sa_handler=");
	if (handler > 1)
		sb_fmt(out, "%#llx", handler);
	else
		sb_z(out, handler ? "SIG_IGN" : "SIG_DFL");
	sb_z(out, ", sa_mask=");
	put_sigset(out, b);
	sb_z(out, ", sa_flags=");
	call_put_flags(out, STR("sa"), flags);
	if (flags >> 32) /* what was on the stack */
		sb_fmt(out, "|%#llx", flags >> 32 << 32);
	if (flags & 0x04000000)
		sb_fmt(out, ", sa_restorer=%#llx", restorer);
	sb_char(out, '}');
}

static void put_status(struct sb *out, struct bytes *b)
{
	u32 st = bytes_u32(b);
	if (WIFEXITED(st)) {
		sb_fmt(out, "[{WIFEXITED(s) && WEXITSTATUS(s) == %d}]", WEXITSTATUS(st));
	} else if (WIFSTOPPED(st)) {
		sb_z(out, "[{WIFSTOPPED(s) && WSTOPSIG(s) == ");
		call_put_signal(out, (u64)WSTOPSIG(st));
		sb_z(out, "}]");
	} else if (WIFSIGNALED(st)) {
		sb_z(out, "[{WIFSIGNALED(s) && WTERMSIG(s) == ");
		call_put_signal(out, (u64)WTERMSIG(st));
		sb_z(out, WCOREDUMP(st) ? " && WCOREDUMP(s)}]" : "}]");
	} else {
		sb_z(out, "[{WIFCONTINUED(s)}]");
	}
}

static void put_rusage(struct sb *out, struct bytes *b)
{
	sb_z(out, "{ru_utime=");
	put_timeval(out, b);
	sb_z(out, ", ru_stime=");
	put_timeval(out, b);
	bytes_take(b, RUSAGE_REST);
	sb_z(out, ", ...}");
}

static void put_whole_rusage(struct sb *out, struct bytes *b)
{
	static const char *const members[] = {"maxrss", "ixrss",    "idrss",   "isrss",   "minflt",
					      "majflt", "nswap",    "inblock", "oublock", "msgsnd",
					      "msgrcv", "nsignals", "nvcsw",   "nivcsw"};
	sb_z(out, "{ru_utime=");
	put_timeval(out, b);
	sb_z(out, ", ru_stime=");
	put_timeval(out, b);
	for (size_t i = 0; i < countof(members); i++)
		sb_fmt(out, ", ru_%s=%llu", members[i], bytes_u64(b));
	sb_char(out, '}');
}

static void put_text_of(struct sb *out, struct bytes *b, u32 n)
{
	const u8 *p = bytes_take(b, n);
	if (p)
		call_put_quoted(out, str_n((const char *)p, strnlen((const char *)p, n)), 0);
}

static void put_utsname(struct sb *out, struct bytes *b)
{
	sb_z(out, "{sysname=");
	put_text_of(out, b, 65);
	sb_z(out, ", nodename=");
	put_text_of(out, b, 65);
	sb_z(out, ", ...}");
}

static void put_whole_utsname(struct sb *out, struct bytes *b)
{
	static const char *const members[] = {"{sysname=",  ", nodename=", ", release=",
					      ", version=", ", machine=",  ", domainname="};
	for (size_t i = 0; i < countof(members); i++) {
		sb_z(out, members[i]);
		put_text_of(out, b, 65);
	}
	sb_char(out, '}');
}

static void put_limit(struct sb *out, u64 v)
{
	if (v == ~0ull)
		sb_z(out, "RLIM64_INFINITY");
	else if (v > 1024 && !(v % 1024))
		sb_fmt(out, "%llu*1024", v / 1024);
	else
		sb_u64(out, v);
}

static void put_rlimit(struct sb *out, struct bytes *b)
{
	sb_z(out, "{rlim_cur=");
	put_limit(out, bytes_u64(b));
	sb_z(out, ", rlim_max=");
	put_limit(out, bytes_u64(b));
	sb_char(out, '}');
}

static void put_sysinfo(struct sb *out, struct bytes *b)
{
	u64 uptime = bytes_u64(b), l0 = bytes_u64(b), l1 = bytes_u64(b), l2 = bytes_u64(b),
	    total = bytes_u64(b), free = bytes_u64(b), shared = bytes_u64(b), buf = bytes_u64(b),
	    swap = bytes_u64(b), freeswap = bytes_u64(b);
	u16 procs = bytes_u16(b);
	bytes_take(b, 6);
	u64 high = bytes_u64(b), freehigh = bytes_u64(b);
	u32 unit = bytes_u32(b);
	sb_fmt(out,
	       "{uptime=%llu, loads=[%llu, %llu, %llu], totalram=%llu, freeram=%llu, "
	       "sharedram=%llu, bufferram=%llu, totalswap=%llu, freeswap=%llu, procs=%u, "
	       "totalhigh=%llu, freehigh=%llu, mem_unit=%u}",
	       uptime, l0, l1, l2, total, free, shared, buf, swap, freeswap, procs, high, freehigh,
	       unit);
}

static void put_clone_args(struct sb *out, struct bytes *b)
{
	u64 flags = bytes_u64(b), pidfd = bytes_u64(b), child = bytes_u64(b), parent = bytes_u64(b),
	    sig = bytes_u64(b), stack = bytes_u64(b), size = bytes_u64(b), tls = bytes_u64(b);
	sb_z(out, "{flags=");
	call_put_flags(out, STR("clone"), flags);
	sb_z(out, flags >> 32 & 1 ? "|CLONE_CLEAR_SIGHAND" : "");
	sb_z(out, flags >> 32 & 2 ? "|CLONE_INTO_CGROUP" : "");
	if (flags & 0x1000)
		sb_fmt(out, ", pidfd=%#llx", pidfd);
	if (flags & (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID))
		sb_fmt(out, ", child_tid=%#llx", child);
	if (flags & CLONE_PARENT_SETTID)
		sb_fmt(out, ", parent_tid=%#llx", parent);
	sb_z(out, ", exit_signal=");
	call_put_signal(out, sig);
	if (stack)
		sb_fmt(out, ", stack=%#llx, stack_size=%#llx", stack, size);
	else
		sb_z(out, ", stack=NULL, stack_size=0");
	if (flags & CLONE_SETTLS)
		sb_fmt(out, ", tls=%#llx", tls);
	u64 set = b->at + 16 <= b->n ? bytes_u64(b) : 0, nset = set ? bytes_u64(b) : 0;
	if (set)
		sb_fmt(out, ", set_tid=%#llx, set_tid_size=%llu", set, nset);
	sb_char(out, '}');
}

static void put_open_how(struct sb *out, struct bytes *b)
{
	u64 flags = bytes_u64(b), mode = bytes_u64(b), resolve = bytes_u64(b);
	sb_z(out, "{flags=");
	call_put_flags(out, STR("open"), flags);
	if (mode) {
		sb_z(out, ", mode=");
		call_put_mode(out, (u32)mode, false);
	}
	sb_z(out, ", resolve=");
	call_put_flags(out, STR("resolve"), resolve);
	sb_char(out, '}');
}

static const struct call_struct structs[] = {
	{"timespec", 16, put_timespec},
	{"timeval", 16, put_timeval},
	{"itimerval", 32, put_itimerval},
	{"itimerspec", 32, put_itimerspec},
	{"stat", sizeof(struct stat), put_stat},
	{"statx", 256, put_statx},
	{"statfs", 120, put_statfs},
	{"u64", 8, put_u64},
	{"u32", 4, put_u32},
	{"cpus", 8, put_cpus},
	{"sigstack", 24, put_sigstack},
	{"cap_head", 8, put_cap_head},
	{"cap_data", 24, put_cap_data},
	{"i32", 4, put_i32},
	{"pair", 8, put_pair},
	{"pollfd", 8, put_pollfd},
	{"sembuf", 6, put_sembuf},
	{"fdset", 128, put_fdset},
	{"utimespec", 16, put_utimespec},
	{"utimeval", 16, put_utimeval},
	{"epoll_event", sizeof(struct epoll_event), put_epoll_event},
	{"sigset", 8, put_sigset},
	{"sigaction", 32, put_sigaction},
	{"status", 4, put_status},
	{"rusage", 32 + RUSAGE_REST, put_rusage},
	{"utsname", 390, put_utsname},
	{"rlimit", 16, put_rlimit},
	{"sysinfo", 112, put_sysinfo},
	{"clone_args", 64, put_clone_args},
	{"open_how", 24, put_open_how},
	{0},
};

static const struct call_struct *find_struct(struct str name)
{
	for (const struct call_struct *s = structs; s->name; s++)
		if (str_is(name, s->name))
			return s;
	for (const struct call_struct *s = call_rare; s->name; s++)
		if (str_is(name, s->name))
			return s;
	return NULL;
}

/* Those of which the others leave something out. */
static const struct {
	const char *name;
	void (*put)(struct sb *out, struct bytes *b);
} whole_structs[] = {
	{"stat", put_whole_stat},
	{"rusage", put_whole_rusage},
	{"utsname", put_whole_utsname},
};

static void put_name(struct sb *out, struct str table, const char *member, u32 v)
{
	sb_fmt(out, "%s=", member);
	call_put_enum(out, table, v);
}

/* union bpf_attr: what the commands have in common; b: as much as there is. */
void call_put_bpf(struct sb *out, u32 cmd, struct bytes *b)
{
	enum { MAP_CREATE, LOOKUP, UPDATE, DELETE, NEXT_KEY, PROG_LOAD, RAW_OPEN = 17 };
	u32 w[24] = {0}, n = 0;
	while (n < countof(w) && b->at + 4 <= b->n)
		w[n++] = bytes_u32(b);
	const char *name = (const char *)&w[cmd == MAP_CREATE ? 7 : 12];
	sb_char(out, '{');
	if (cmd == MAP_CREATE) {
		put_name(out, STR("bpf_map"), "map_type", w[0]);
		sb_fmt(out,
		       ", key_size=%u, value_size=%u, max_entries=%u, map_flags=%#x, map_name=",
		       w[1], w[2], w[3], w[4]);
		call_put_quoted(out, str_n(name, (u32)strnlen(name, 16)), 0);
		sb_z(out, ", ...");
	} else if (cmd == PROG_LOAD) {
		put_name(out, STR("bpf_prog"), "prog_type", w[0]);
		sb_fmt(out, ", insn_cnt=%u, prog_name=", w[1]);
		call_put_quoted(out, str_n(name, (u32)strnlen(name, 16)), 0);
		sb_z(out, ", ...");
	} else if (cmd >= LOOKUP && cmd <= NEXT_KEY) {
		sb_fmt(out, "map_fd=%u, key=%#llx", w[0], (u64)w[3] << 32 | w[2]);
		if (cmd != DELETE)
			sb_fmt(out, ", %s=%#llx", cmd == NEXT_KEY ? "next_key" : "value",
			       (u64)w[5] << 32 | w[4]);
		if (cmd == UPDATE || (cmd == LOOKUP && n >= 8)) {
			sb_z(out, ", flags=");
			call_put_flags(out, STR("bpf_update"), w[6]);
		}
	} else {
		sb_z(out, "...");
	}
	sb_char(out, '}');
}

u32 call_struct_size(struct str name)
{
	const struct call_struct *s = find_struct(name);
	return s ? s->size : 0;
}

void call_put_sockaddr(struct sb *out, struct str s)
{
	struct bytes b = bytes_of(s.s, s.n);
	u16 family = bytes_u16(&b);
	char text[INET6_ADDRSTRLEN];
	sb_z(out, "{sa_family=");
	call_put_enum(out, STR("family"), family);
	const u8 *p;
	if (family == AF_INET && (p = bytes_take(&b, 6))) {
		inet_ntop(AF_INET, p + 2, text, sizeof(text));
		sb_fmt(out, ", sin_port=htons(%u), sin_addr=inet_addr(\"%s\")", p[0] << 8 | p[1],
		       text);
	} else if (family == AF_INET6 && (p = bytes_take(&b, 26))) {
		u32 scope, flow;
		memcpy(&scope, p + 22, 4);
		memcpy(&flow, p + 2, 4);
		inet_ntop(AF_INET6, p + 6, text, sizeof(text));
		sb_fmt(out,
		       ", sin6_port=htons(%u), sin6_flowinfo=htonl(%u), inet_pton(AF_INET6, "
		       "\"%s\", &sin6_addr), sin6_scope_id=%u",
		       p[0] << 8 | p[1], ntohl(flow), text, scope);
	} else if (family == AF_UNIX && s.n > 2) {
		bool hidden = !s.s[2];
		struct str path = str_from(s, hidden ? 3 : 2);
		path.n = hidden ? path.n : (u32)strnlen(path.s, path.n);
		sb_z(out, hidden ? ", sun_path=@" : ", sun_path=");
		call_put_quoted(out, path, 0);
	} else if (family == AF_NETLINK && bytes_u16(&b) == 0) {
		u32 pid = bytes_u32(&b), groups = bytes_u32(&b);
		sb_fmt(out, ", nl_pid=%d, nl_groups=%08x", (i32)pid, groups);
	} else if (s.n > 2) {
		sb_z(out, ", sa_data=");
		call_put_quoted(out, str_from(s, 2), 0);
	}
	sb_char(out, '}');
}

void call_put_struct(struct sb *out, struct str name, u32 flags, struct bytes *b)
{
	for (size_t i = 0; flags & CALL_WHOLE && i < countof(whole_structs); i++) {
		if (!str_is(name, whole_structs[i].name))
			continue;
		whole_structs[i].put(out, b);
		return;
	}
	const struct call_struct *s = find_struct(name);
	if (s)
		s->put(out, b);
}
