/* structs_rare.c - structs of timers, the scheduler, terminals and System V IPC, as strace writes them. */
#include "base/bytes.h"
#include "syscall/calls.h"
#include <arpa/inet.h>
#include <signal.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>

static void put_pointer(struct sb *out, const char *member, u64 p)
{
	sb_fmt(out, p ? "%s=%#llx" : "%s=NULL", member, p);
}

static void put_sigevent(struct sb *out, struct bytes *b)
{
	u64 value = bytes_u64(b);
	u32 sig = bytes_u32(b), notify = bytes_u32(b);
	u64 function = bytes_u64(b), attributes = bytes_u64(b);
	sb_char(out, '{');
	if (value) {
		sb_fmt(out, "sigev_value={sival_int=%d", (i32)value);
		put_pointer(out, ", sival_ptr", value);
		sb_z(out, "}, ");
	}
	sb_z(out, "sigev_signo=");
	if (notify == SIGEV_SIGNAL || notify == SIGEV_THREAD_ID)
		call_put_signal(out, sig);
	else
		sb_u64(out, sig);
	sb_z(out, ", sigev_notify=");
	call_put_enum(out, STR("sigev"), notify);
	if (notify == SIGEV_THREAD_ID) {
		sb_fmt(out, ", sigev_notify_thread_id=%d", (i32)function);
	} else if (notify == SIGEV_THREAD) {
		put_pointer(out, ", sigev_notify_function", function);
		put_pointer(out, ", sigev_notify_attributes", attributes);
	}
	sb_char(out, '}');
}

static void put_sched_attr(struct sb *out, struct bytes *b)
{
	enum { SECOND = 56 }; /* the size since there are limits of utilization */
	u32 size = bytes_u32(b), policy = bytes_u32(b);
	u64 flags = bytes_u64(b);
	i32 nice = (i32)bytes_u32(b);
	u32 priority = bytes_u32(b);
	u64 runtime = bytes_u64(b), deadline = bytes_u64(b), period = bytes_u64(b);
	u32 least = bytes_u32(b), most = bytes_u32(b);
	sb_fmt(out, "{size=%u, sched_policy=", size);
	call_put_enum(out, STR("sched"), policy);
	sb_z(out, ", sched_flags=");
	call_put_flags(out, STR("sched_flags"), flags);
	sb_fmt(out,
	       ", sched_nice=%d, sched_priority=%u, sched_runtime=%llu, sched_deadline=%llu, "
	       "sched_period=%llu",
	       nice, priority, runtime, deadline, period);
	if (size >= SECOND)
		sb_fmt(out, ", sched_util_min=%u, sched_util_max=%u", least, most);
	sb_char(out, '}');
}

/* Of pselect6(): where the set of signals is; that is not read. */
static void put_sigset_at(struct sb *out, struct bytes *b)
{
	sb_char(out, '{');
	put_pointer(out, "sigmask", bytes_u64(b));
	sb_fmt(out, ", sigsetsize=%llu}", bytes_u64(b));
}

/* Where no bit is set strace writes nothing. */
static void put_bits(struct sb *out, const char *table, u32 bits)
{
	if (bits)
		call_put_flags(out, str_z(table), bits);
}

static void put_termios(struct sb *out, struct bytes *b)
{
	static const struct {
		u32 mask, shift;
		const char *name;
	} delays[] = {{0400, 8, "NL"},    {03000, 9, "CR"},   {014000, 11, "TAB"},
		      {020000, 13, "BS"}, {040000, 14, "VT"}, {0100000, 15, "FF"}};
	enum { SPEED = 0010017, SIZE = 060, DELAY = 0177400 };
	u32 in = bytes_u32(b), to = bytes_u32(b), control = bytes_u32(b), local = bytes_u32(b);
	sb_z(out, "{c_iflag=");
	put_bits(out, "termios_in", in);
	sb_z(out, ", c_oflag=");
	for (size_t i = 0; i < countof(delays); i++) {
		u32 n = (to & delays[i].mask) >> delays[i].shift;
		if (delays[i].shift == 11 && n == 3)
			sb_z(out, "XTABS|");
		else
			sb_fmt(out, "%s%u|", delays[i].name, n);
	}
	put_bits(out, "termios_out", to & ~DELAY);
	sb_z(out, ", c_cflag=");
	call_put_enum(out, STR("termios_speed"), control & SPEED);
	sb_fmt(out, "|CS%u|", 5 + ((control & SIZE) >> 4));
	put_bits(out, "termios_control", control & ~(SPEED | SIZE));
	sb_z(out, ", c_lflag=");
	put_bits(out, "termios_local", local);
	sb_z(out, ", ...}");
}

static void put_flock(struct sb *out, struct bytes *b)
{
	u16 type = bytes_u16(b), whence = bytes_u16(b);
	bytes_u32(b);
	i64 start = (i64)bytes_u64(b), len = (i64)bytes_u64(b);
	sb_z(out, "{l_type=");
	call_put_enum(out, STR("lease"), type);
	sb_z(out, ", l_whence=");
	call_put_enum(out, STR("seek"), whence);
	sb_fmt(out, ", l_start=%lld, l_len=%lld}", start, len);
}

/* The answer: by whom. */
static void put_flock_of(struct sb *out, struct bytes *b)
{
	put_flock(out, b);
	if (out->n)
		out->n--;
	sb_fmt(out, ", l_pid=%d}", (i32)bytes_u32(b));
}

static void put_owner(struct sb *out, struct bytes *b)
{
	sb_z(out, "{type=");
	call_put_enum(out, STR("owner"), bytes_u32(b));
	sb_fmt(out, ", pid=%d}", (i32)bytes_u32(b));
}

static void put_linger(struct sb *out, struct bytes *b)
{
	i32 on = (i32)bytes_u32(b), time = (i32)bytes_u32(b);
	sb_fmt(out, "{l_onoff=%d, l_linger=%d}", on, time);
}

static void put_ucred(struct sb *out, struct bytes *b)
{
	i32 pid = (i32)bytes_u32(b);
	u32 uid = bytes_u32(b), gid = bytes_u32(b);
	sb_fmt(out, "{pid=%d, uid=", pid);
	call_put_id(out, uid);
	sb_z(out, ", gid=");
	call_put_id(out, gid);
	sb_char(out, '}');
}

static void put_mreq(struct sb *out, struct bytes *b)
{
	char text[2][INET_ADDRSTRLEN] = {"", ""};
	const u8 *p = bytes_take(b, 8);
	if (!p)
		return;
	inet_ntop(AF_INET, p, text[0], sizeof(text[0]));
	inet_ntop(AF_INET, p + 4, text[1], sizeof(text[1]));
	sb_fmt(out, "{imr_multiaddr=inet_addr(\"%s\"), imr_interface=inet_addr(\"%s\")}", text[0],
	       text[1]);
}

/* ---- System V IPC: structs of the C library, which are those of the kernel ---- */

static void put_perm(struct sb *out, const char *name, const struct ipc_perm *p, bool whole)
{
	sb_fmt(out, "{%s_perm={uid=%u, gid=%u, mode=%#03o", name, p->uid, p->gid, p->mode);
	if (whole)
		sb_fmt(out, ", key=%#x, cuid=%u, cgid=%u", p->__key, p->cuid, p->cgid);
	sb_char(out, '}');
}

static void put_shm(struct sb *out, struct bytes *b, bool whole)
{
	struct shmid_ds s;
	const u8 *p = bytes_take(b, sizeof(s));
	if (!p)
		return;
	memcpy(&s, p, sizeof(s));
	put_perm(out, "shm", &s.shm_perm, whole);
	if (whole)
		sb_fmt(out,
		       ", shm_segsz=%llu, shm_cpid=%d, shm_lpid=%d, shm_nattch=%llu, "
		       "shm_atime=%lld, shm_dtime=%lld, shm_ctime=%lld",
		       (u64)s.shm_segsz, s.shm_cpid, s.shm_lpid, (u64)s.shm_nattch,
		       (i64)s.shm_atime, (i64)s.shm_dtime, (i64)s.shm_ctime);
	sb_char(out, '}');
}

static void put_sem(struct sb *out, struct bytes *b, bool whole)
{
	struct semid_ds s;
	const u8 *p = bytes_take(b, sizeof(s));
	if (!p)
		return;
	memcpy(&s, p, sizeof(s));
	put_perm(out, "sem", &s.sem_perm, whole);
	if (whole)
		sb_fmt(out, ", sem_otime=%lld, sem_ctime=%lld, sem_nsems=%llu", (i64)s.sem_otime,
		       (i64)s.sem_ctime, (u64)s.sem_nsems);
	sb_char(out, '}');
}

static void put_queue(struct sb *out, struct bytes *b, bool whole)
{
	struct msqid_ds s;
	const u8 *p = bytes_take(b, sizeof(s));
	if (!p)
		return;
	memcpy(&s, p, sizeof(s));
	put_perm(out, "msg", &s.msg_perm, whole);
	if (whole)
		sb_fmt(out,
		       ", msg_stime=%lld, msg_rtime=%lld, msg_ctime=%lld, msg_qnum=%llu, "
		       "msg_qbytes=%llu, msg_lspid=%d, msg_lrpid=%d",
		       (i64)s.msg_stime, (i64)s.msg_rtime, (i64)s.msg_ctime, (u64)s.msg_qnum,
		       (u64)s.msg_qbytes, s.msg_lspid, s.msg_lrpid);
	sb_char(out, '}');
}

static void put_ipc(struct sb *out, struct str name, struct bytes *b, bool whole)
{
	if (str_is(name, "shm"))
		put_shm(out, b, whole);
	else if (str_is(name, "sem"))
		put_sem(out, b, whole);
	else
		put_queue(out, b, whole);
}

bool call_put_ipc(struct sb *out, struct str name, u32 cmd, struct str in, struct str answer)
{
	struct str t = cmd == IPC_STAT ? answer : in;
	struct bytes b = bytes_of(t.s, t.n);
	if (!t.s || (cmd != IPC_STAT && cmd != IPC_SET))
		return false;
	put_ipc(out, name, &b, cmd == IPC_STAT);
	return !b.bad;
}
_Static_assert(sizeof(struct shmid_ds) <= CALL_IPC && sizeof(struct semid_ds) <= CALL_IPC &&
		       sizeof(struct msqid_ds) <= CALL_IPC,
	       "as much is copied");

/* ---- times, addresses, buffers ---- */

static void put_utimbuf(struct sb *out, struct bytes *b)
{
	static const char *const member[] = {"{actime", ", modtime"};
	for (size_t i = 0; i < countof(member); i++) {
		i64 sec = (i64)bytes_u64(b);
		sb_fmt(out, "%s=%lld", member[i], sec);
		if (sec) {
			sb_z(out, " /* ");
			call_put_time(out, sec);
			sb_z(out, " */");
		}
	}
	sb_char(out, '}');
}

static void put_timezone(struct sb *out, struct bytes *b)
{
	i32 west = (i32)bytes_u32(b), dst = (i32)bytes_u32(b);
	sb_fmt(out, "{tz_minuteswest=%d, tz_dsttime=%d}", west, dst);
}

static void put_time_at(struct sb *out, struct bytes *b)
{
	i64 sec = (i64)bytes_u64(b);
	sb_fmt(out, "[%lld /* ", sec);
	call_put_time(out, sec);
	sb_z(out, " */]");
}

/* In ticks, of which there are a hundred in a second. */
static void put_tms(struct sb *out, struct bytes *b)
{
	static const char *const member[] = {"{tms_utime", ", tms_stime", ", tms_cutime",
					     ", tms_cstime"};
	for (size_t i = 0; i < countof(member); i++) {
		u64 ticks = bytes_u64(b);
		sb_fmt(out, "%s=%llu", member[i], ticks);
		if (ticks)
			sb_fmt(out, " /* %llu.%02llu s */", ticks / 100, ticks % 100);
	}
	sb_char(out, '}');
}

static void put_address(struct sb *out, struct bytes *b)
{
	u64 at = bytes_u64(b);
	sb_fmt(out, at ? "[%#llx]" : "[NULL]", at);
}

/* A buffer that is not shown. */
static void put_iovec(struct sb *out, struct bytes *b)
{
	sb_char(out, '{');
	put_pointer(out, "iov_base", bytes_u64(b));
	sb_fmt(out, ", iov_len=%llu}", bytes_u64(b));
}

static void put_futex_waitv(struct sb *out, struct bytes *b)
{
	u64 val = bytes_u64(b), at = bytes_u64(b);
	u32 flags = bytes_u32(b);
	bytes_u32(b);
	sb_fmt(out, val ? "{val=%#llx, " : "{val=%llu, ", val);
	put_pointer(out, "uaddr", at);
	sb_z(out, ", flags=");
	call_put_flags(out, STR("futex2"), flags);
	sb_char(out, '}');
}

static void put_mq_attr(struct sb *out, struct bytes *b)
{
	u64 flags = bytes_u64(b), maxmsg = bytes_u64(b), size = bytes_u64(b), n = bytes_u64(b);
	sb_z(out, "{mq_flags=");
	call_put_flags(out, STR("open_rest"), flags);
	sb_fmt(out, ", mq_maxmsg=%lld, mq_msgsize=%lld, mq_curmsgs=%lld}", (i64)maxmsg, (i64)size,
	       (i64)n);
}

/* shown_filter() does. */
static void put_fprog(struct sb *out, struct bytes *b)
{
	(void)out;
	bytes_take(b, CALL_FPROG);
}

static void put_mount_attr(struct sb *out, struct bytes *b)
{
	u64 set = bytes_u64(b), clear = bytes_u64(b), propagation = bytes_u64(b),
	    userns = bytes_u64(b);
	sb_z(out, "{attr_set=");
	call_put_flags(out, STR("mount_attr"), set);
	sb_z(out, ", attr_clr=");
	call_put_flags(out, STR("mount_attr"), clear);
	sb_z(out, ", propagation=");
	call_put_enum(out, STR("mount"), propagation);
	sb_fmt(out, ", userns_fd=%llu}", userns);
}

/* ---- landlock, io_uring ---- */

/* As much as there is: newer kernels know more. */
static void put_ruleset(struct sb *out, struct bytes *b)
{
	static const struct {
		const char *name, *table;
	} members[] = {{", handled_access_net", "landlock_net"}, {", scoped", "landlock_scope"}};
	sb_z(out, "{handled_access_fs=");
	call_put_flags(out, STR("landlock_fs"), bytes_u64(b));
	for (size_t i = 0; i < countof(members) && b->at + 8 <= b->n; i++) {
		sb_fmt(out, "%s=", members[i].name);
		call_put_flags(out, str_z(members[i].table), bytes_u64(b));
	}
	sb_z(out, b->at < b->n ? ", ...}" : "}");
}

static void put_path_beneath(struct sb *out, struct bytes *b)
{
	sb_z(out, "{allowed_access=");
	call_put_flags(out, STR("landlock_fs"), bytes_u64(b));
	sb_fmt(out, ", parent_fd=%d}", (i32)bytes_u32(b));
}

static void put_net_port(struct sb *out, struct bytes *b)
{
	sb_z(out, "{allowed_access=");
	call_put_flags(out, STR("landlock_net"), bytes_u64(b));
	sb_fmt(out, ", port=%llu}", bytes_u64(b));
}

static void put_members(struct sb *out, struct bytes *b, const char *const *name, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sb_fmt(out, i ? ", %s=%u" : "{%s=%u", name[i], bytes_u32(b));
	sb_char(out, '}');
	bytes_take(b, 12); /* what is kept for later */
}

/* struct io_uring_params: what is asked for, and what the kernel answers. */
static void put_uring(struct sb *out, struct bytes *b, bool answer)
{
	static const char *const sq[] = {"head",  "tail",    "ring_mask", "ring_entries",
					 "flags", "dropped", "array"};
	static const char *const cq[] = {"head",     "tail", "ring_mask", "ring_entries",
					 "overflow", "cqes", "flags"};
	enum { ATTACH_WQ = 32 };
	u32 nsq = bytes_u32(b), ncq = bytes_u32(b), flags = bytes_u32(b), cpu = bytes_u32(b),
	    idle = bytes_u32(b), features = bytes_u32(b), wq = bytes_u32(b);
	bytes_take(b, 12);
	sb_z(out, "{flags=");
	call_put_flags(out, STR("uring_setup"), flags);
	sb_fmt(out, ", sq_thread_cpu=%u, sq_thread_idle=%u", cpu, idle);
	if (flags & ATTACH_WQ)
		sb_fmt(out, ", wq_fd=%d", (i32)wq);
	if (answer) {
		sb_fmt(out, ", sq_entries=%u, cq_entries=%u, features=", nsq, ncq);
		call_put_flags(out, STR("uring_feat"), features);
		sb_z(out, ", sq_off=");
		put_members(out, b, sq, countof(sq));
		sb_z(out, ", cq_off=");
		put_members(out, b, cq, countof(cq));
	}
	sb_char(out, '}');
}

static void put_uring_asked(struct sb *out, struct bytes *b)
{
	put_uring(out, b, false);
}

static void put_uring_answer(struct sb *out, struct bytes *b)
{
	put_uring(out, b, true);
}

const struct call_struct call_rare[] = {
	{"ruleset", 8, put_ruleset},
	{"path_beneath", 12, put_path_beneath},
	{"net_port", 16, put_net_port},
	{"uring", 120, put_uring_asked},
	{"uring_answer", 120, put_uring_answer},
	{"siginfo", 48, call_put_siginfo},
	{"utimbuf", 16, put_utimbuf},
	{"timezone", 8, put_timezone},
	{"time", 8, put_time_at},
	{"tms", 32, put_tms},
	{"address", 8, put_address},
	{"iovec", 16, put_iovec},
	{"futex_waitv", 24, put_futex_waitv},
	{"mq_attr", 64, put_mq_attr},
	{"fprog", 16, put_fprog},
	{"mount_attr", 32, put_mount_attr},
	{"sigevent", 32, put_sigevent},
	{"sched_attr", 56, put_sched_attr},
	{"sigset_at", 16, put_sigset_at},
	{"termios", 17, put_termios},
	{"flock", 24, put_flock},
	{"flock_of", 28, put_flock_of},
	{"owner", 8, put_owner},
	{"linger", 8, put_linger},
	{"ucred", 12, put_ucred},
	{"mreq", 8, put_mreq},
	{0},
};
