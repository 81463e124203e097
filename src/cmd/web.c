/* web.c - the socket that listens, and the way to the child that serves it. */
#include "cmd/web.h"
#include "cmd/webchild.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

enum { BACKLOG = 64, ANSWER_S = 5, NOBODY = 65534 };

/* ---- the socket ---- */

bool web_split_addr(const char *addr, struct sb *host, u16 *port)
{
	struct str s = str_z(addr);
	i32 colon = -1;
	for (u32 i = 0; i < s.n; i++)
		colon = s.s[i] == ':' ? (i32)i : colon;
	struct str h = str_n(s.s, colon < 0 ? 0 : (size_t)colon);
	u64 n;
	struct str digits = colon < 0 ? s : str_from(s, (u32)colon + 1);
	if (h.n > 2 && h.s[0] == '[' && h.s[h.n - 1] == ']')
		h = str_n(h.s + 1, h.n - 2);
	else if (str_chr(h, ':') >= 0)
		return false;
	sb_add(host, h.n ? h : STR("127.0.0.1"));
	if (!str_number(digits, &n) || n > UINT16_MAX)
		return false;
	*port = (u16)n;
	return true;
}

socklen_t web_parse_addr(const char *host, u16 port, struct sockaddr_storage *ret)
{
	struct sockaddr_in *four = (struct sockaddr_in *)ret;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)ret;
	*ret = (struct sockaddr_storage){0};
	if (inet_pton(AF_INET, host, &four->sin_addr) == 1) {
		four->sin_family = AF_INET;
		four->sin_port = htons(port);
		return sizeof(*four);
	}
	if (inet_pton(AF_INET6, host, &six->sin6_addr) != 1)
		return 0;
	six->sin6_family = AF_INET6;
	six->sin6_port = htons(port);
	return sizeof(*six);
}

/* words: addr as it was given. */
static struct err *listen_at(struct web *w, const char *words, const struct sockaddr_storage *at,
			     socklen_t n)
{
	int one = 1;
	AUTO_CLOSE int fd = socket(at->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_sys(errno, "make a socket for %s", words);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	mode_t mask = umask(0177); /* of the file of a unix socket */
	int failed = bind(fd, (const struct sockaddr *)at, n) ? errno : 0;
	umask(mask);
	if (failed || listen(fd, BACKLOG))
		return err_sys(failed ? failed : errno, "listen on %s", words);
	w->listening = fd;
	fd = -1;
	return NULL;
}

static struct err *unable(void)
{
	return err_new("this sonde was built without libmicrohttpd, and serves nothing");
}

struct err *web_open(struct web *w, const char *addr)
{
	struct sockaddr_storage at;
	AUTO_SB host = {0};
	u16 port;
	if (!webchild_able())
		return unable();
	socklen_t n = web_split_addr(addr, &host, &port) ? web_parse_addr(host.s, port, &at) : 0;
	if (!n)
		return err_new("--metrics needs an address and a port in numbers, as in :9435, "
			       "0.0.0.0:9435 or [::1]:9435 (got '%s')",
			       addr);
	return listen_at(w, addr, &at, n);
}

/* A socket that nobody listens to is what a run left behind. */
static struct err *open_unix(struct web *w, const char *addr, const char *path)
{
	struct sockaddr_storage at = {.ss_family = AF_UNIX};
	struct sockaddr_un *to = (struct sockaddr_un *)&at;
	struct stat st;
	size_t n = strlen(path);
	if (!n || n >= sizeof(to->sun_path))
		return err_new("--web: the path of a unix socket has 1 to %zu bytes (got '%s')",
			       sizeof(to->sun_path) - 1, addr);
	memcpy(to->sun_path, path, n + 1);
	AUTO_CLOSE int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (probe >= 0 && !lstat(path, &st) && S_ISSOCK(st.st_mode) &&
	    connect(probe, (struct sockaddr *)to, sizeof(*to)) && errno == ECONNREFUSED)
		unlink(path);
	return listen_at(w, addr, &at, sizeof(*to));
}

static bool is_loopback(const struct sockaddr_storage *at)
{
	const struct sockaddr_in *four = (const struct sockaddr_in *)at;
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)at;
	return at->ss_family == AF_INET ? ntohl(four->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET
					: IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
}

struct err *web_open_local(struct web *w, const char *addr)
{
	struct sockaddr_storage at;
	AUTO_SB host = {0};
	u16 port = 0;
	const char *words = addr && *addr ? addr : "0";
	if (!webchild_able())
		return unable();
	if (str_starts(str_z(words), STR("unix:")))
		return open_unix(w, words, words + 5);
	bool good = web_split_addr(words, &host, &port);
	socklen_t n = !good                                ? 0
		      : str_is(sb_str(&host), "localhost") ? web_parse_addr("127.0.0.1", port, &at)
							   : web_parse_addr(host.s, port, &at);
	if (!n)
		return err_new("--web needs a port, an address of this machine and a port, or a "
			       "unix socket, as in 8080, 127.0.0.1:8080, [::1]:8080 or "
			       "unix:/run/sonde.socket (got '%s')",
			       words);
	if (!is_loopback(&at))
		return err_new("--web shows what this machine does, so only this machine can be "
			       "let in: 127.0.0.1, [::1] or unix:PATH, which ssh -L reaches from "
			       "elsewhere (got '%s')",
			       words);
	return listen_at(w, words, &at, n);
}

void web_name(const struct web *w, struct sb *out)
{
	struct sockaddr_storage at = {0};
	socklen_t n = sizeof(at);
	char host[INET6_ADDRSTRLEN] = "";
	const struct sockaddr_in *four = (const struct sockaddr_in *)&at;
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)&at;
	(void)getsockname(w->listening, (struct sockaddr *)&at, &n);
	if (at.ss_family == AF_UNIX) {
		sb_fmt(out, "unix:%s", ((const struct sockaddr_un *)&at)->sun_path);
	} else if (at.ss_family == AF_INET6) {
		inet_ntop(AF_INET6, &six->sin6_addr, host, sizeof(host));
		sb_fmt(out, "[%s]:%u", host, ntohs(six->sin6_port));
	} else {
		inet_ntop(AF_INET, &four->sin_addr, host, sizeof(host));
		sb_fmt(out, "%s:%u", host, ntohs(four->sin_port));
	}
}

/* ---- the child ---- */

/* Not the files of root, either. */
struct err *web_give_up(u32 may)
{
	u64 left;
	if (!geteuid() && (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
			   setresuid(NOBODY, NOBODY, NOBODY)))
		return err_sys(errno, "become nobody");
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); /* another user would lose it */
	struct err *e = confine_caps(0, &left);
	return e || !host_has_seccomp() ? e : confine_calls(may);
}

_Noreturn static void be_child(int listening, int fd, web_child *run, const void *arg)
{
	/* Nothing of what the parent has open stays: maps and programs above all. */
	int high = fcntl(fd, F_DUPFD, 64),
	    sock = listening < 0 ? high : fcntl(listening, F_DUPFD, 64);
	if (high < 0 || sock < 0 || dup2(sock, 3) < 0 || dup2(high, 4) < 0 ||
	    close_range(5, ~0u, 0))
		_exit(1);
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGHUP, SIG_IGN); /* these are for the parent, whose end is ours */
	signal(SIGTERM, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	run(3, 4, arg);
	_exit(1);
}

struct err *web_start(struct web *w, web_child *run, const void *arg)
{
	int fd[2];
	struct timeval most = {.tv_sec = ANSWER_S};
	assert(w->fd < 0);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd))
		return err_sys(errno, "make a pair of sockets");
	int pid = fork();
	if (!pid)
		be_child(w->listening, fd[1], run, arg);
	close(fd[1]);
	if (pid < 0) {
		close(fd[0]);
		return err_sys(errno, "start a child");
	}
	setsockopt(fd[0], SOL_SOCKET, SO_SNDTIMEO, &most, sizeof(most));
	w->fd = fd[0];
	w->pid = pid;
	w->starts++;
	return NULL;
}

bool web_asked(struct web *w, enum metrics_format *ret)
{
	u8 format = METRICS_FORMATS;
	if (recv(w->fd, &format, 1, MSG_DONTWAIT) != 1 || format >= METRICS_FORMATS)
		return false;
	*ret = format;
	return true;
}

bool web_answer(struct web *w, struct str text)
{
	u64 size = text.n;
	struct str part[] = {{(const char *)&size, sizeof(size)}, text};
	for (u32 i = 0; i < countof(part); i++) {
		while (part[i].n) {
			ssize_t n = send(w->fd, part[i].s, part[i].n, MSG_NOSIGNAL);
			if (n <= 0 && !(n < 0 && errno == EINTR))
				return false;
			part[i] = str_from(part[i], n > 0 ? (u32)n : 0);
		}
	}
	return true;
}

void web_stop(struct web *w)
{
	if (w->fd < 0)
		return;
	close(w->fd);
	kill(w->pid, SIGKILL);
	while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
		;
	w->fd = -1;
	w->pid = 0;
}

void web_close(struct web *w)
{
	web_stop(w);
	if (w->listening >= 0)
		close(w->listening);
	w->listening = -1;
}
