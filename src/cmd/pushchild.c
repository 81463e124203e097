/*
 * pushchild.c - the child of push.c: an HTTP client that posts what it is given to one address, without rights.
 *
 * It reads u64 bytes and a whole request, makes a connection, writes it, reads the answer until its end, and says in a
 * struct push_reply what came of it. An attempt takes ATTEMPT_MS at most.
 */
#include "base/alloc.h"
#include "base/clock.h"
#include "cmd/push.h"
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Nobody is asked for names, and nothing is read but the answer. */
enum {
	ATTEMPT_MS = 10000,
	MOST_ANSWER = 64 << 10, /* bytes that are read of it */
	MOST_REQUEST = 1 << 30,
};

struct attempt {
	int fd;
	u64 end_ns;
	struct push_reply *reply;
};

/* False: it is too late, or broken. */
static bool is_ready(struct attempt *a, short events)
{
	struct pollfd p = {.fd = a->fd, .events = events};
	for (u64 now; (now = now_ns()) < a->end_ns;) {
		int n = poll(&p, 1, (int)((a->end_ns - now) / MILLI_NS) + 1);
		if (n > 0)
			return true;
		if (n < 0 && errno != EINTR) {
			a->reply->no = errno;
			return false;
		}
	}
	a->reply->no = ETIMEDOUT;
	return false;
}

static bool connects(struct attempt *a, const struct sockaddr_storage *at)
{
	socklen_t n =
		at->ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
	int no = 0;
	socklen_t size = sizeof(no);
	a->fd = socket(at->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (a->fd >= 0 && connect(a->fd, (const struct sockaddr *)at, n) == 0)
		return true;
	if (a->fd < 0 || errno != EINPROGRESS) {
		a->reply->no = errno;
		return false;
	}
	if (!is_ready(a, POLLOUT))
		return false;
	if (getsockopt(a->fd, SOL_SOCKET, SO_ERROR, &no, &size))
		no = errno;
	a->reply->no = no;
	return !no;
}

/* A receiver may answer before it has read everything; what it says counts. */
static bool writes(struct attempt *a, struct str text)
{
	while (text.n) {
		ssize_t n = send(a->fd, text.s, text.n, MSG_NOSIGNAL);
		if (n > 0)
			text = str_from(text, (u32)n);
		else if (n < 0 && errno == EAGAIN && is_ready(a, POLLOUT))
			continue;
		else if (n < 0 && (errno == EPIPE || errno == ECONNRESET))
			return true;
		else if (!(n < 0 && errno == EINTR)) {
			a->reply->no = a->reply->no ? a->reply->no : errno;
			return false;
		}
	}
	return true;
}

static void reads(struct attempt *a, struct sb *answer)
{
	char buf[4096];
	while (answer->n < MOST_ANSWER) {
		ssize_t n = recv(a->fd, buf, sizeof(buf), 0);
		if (n > 0)
			sb_mem(answer, buf, (size_t)n);
		else if (n < 0 && errno == EAGAIN && is_ready(a, POLLIN))
			continue;
		else if (n < 0 && errno == EINTR)
			continue;
		else
			break;
	}
	if (answer->n) /* what there is counts, though the connection did not end */
		a->reply->no = 0;
	else if (!a->reply->no)
		a->reply->no = ECONNRESET;
}

/* A field of a message of protocol buffers. */
static bool take_field(struct str *rest, u32 field, u64 *number, struct str *bytes)
{
	u64 v[2] = {0};
	for (u32 i = 0; i < 2; i++) {
		u32 shift = 0;
		for (bool more = true; more; shift += 7) {
			if (!rest->n || shift > 63)
				return false;
			more = (u8)rest->s[0] & 0x80;
			v[i] |= (u64)((u8)rest->s[0] & 0x7f) << shift;
			*rest = str_from(*rest, 1);
		}
	}
	bool list = (v[0] & 7) == 2;
	if (v[0] >> 3 != field || (v[0] & 7) != (bytes ? 2 : 0) || (list && v[1] > rest->n))
		return false;
	if (bytes)
		*bytes = str_n(rest->s, v[1]);
	*number = v[1];
	return true;
}

/* ExportMetricsServiceResponse: partial_success = 1, in it rejected_data_points = 1. */
static u32 rejected_of(struct str body)
{
	u64 n;
	struct str partial;
	bool some = take_field(&body, 1, &n, &partial) && take_field(&partial, 1, &n, NULL);
	return some ? (u32)MIN(n, (u64)UINT32_MAX) : 0;
}

static void understand(struct push_reply *r, struct str answer)
{
	struct str line, body = STR("");
	u64 n;
	i32 end = str_find(answer, STR("\r\n\r\n"));
	if (end >= 0)
		body = str_from(answer, (u32)end + 4);
	answer.n = end >= 0 ? (u32)end : answer.n;
	if (!str_cut(&answer, '\n', &line) || !str_starts(line, STR("HTTP/1.")) || line.n < 12 ||
	    !str_u64(str_n(line.s + 9, 3), &n))
		return;
	r->status = (u32)n;
	while (str_cut(&answer, '\n', &line)) {
		struct str name;
		str_cut(&line, ':', &name);
		if (str_eq_nocase(name, STR("retry-after")) && str_u64(str_trim(line), &n))
			r->after_s = (u32)MIN(n, (u64)UINT32_MAX);
	}
	if (r->status == 200)
		r->rejected = rejected_of(body);
}

static struct push_reply attempt(const struct push *p, struct str request)
{
	struct push_reply r = {0};
	AUTO_SB answer = {0};
	struct attempt a = {.fd = -1, .end_ns = now_ns() + ATTEMPT_MS * (u64)MILLI_NS, .reply = &r};
	if (connects(&a, &p->at) && writes(&a, request)) {
		reads(&a, &answer);
		understand(&r, sb_str(&answer));
	}
	if (a.fd >= 0)
		close(a.fd);
	return r;
}

static void read_all(int fd, void *to, size_t n)
{
	for (size_t done = 0; done < n;) {
		ssize_t got = read(fd, (char *)to + done, n - done);
		if (got <= 0 && !(got < 0 && errno == EINTR))
			_exit(0);
		done += got > 0 ? (size_t)got : 0;
	}
}

void pushchild_run(int unused, int fd, const void *arg)
{
	const struct push *p = arg;
	struct err *e = web_give_up(MAY_CONNECT);
	(void)unused;
	if (e)
		fprintf(stderr, "ERROR: %s: %s\n", p->option, e->msg);
	while (!e) {
		u64 n;
		read_all(fd, &n, sizeof(n));
		if (n > MOST_REQUEST)
			break;
		char *text = xmalloc(n + 1);
		read_all(fd, text, n);
		struct push_reply r = attempt(p, str_n(text, n));
		free(text);
		if (send(fd, &r, sizeof(r), MSG_NOSIGNAL) != sizeof(r))
			break;
	}
	_exit(e ? 1 : 0);
}
