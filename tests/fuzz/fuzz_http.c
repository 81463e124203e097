/*
 * Any bytes as what clients send to the web server of --web. The first byte says what the rest is: a request as it is, or the
 * path of one that has the token. Questions are answered, and states are sent, as by sonde.
 */
#ifdef HAVE_HTTP
#define pagechild_run fuzzed_pagechild /* the program's own is linked, too */
#include "cmd/pagechild.c"
#include <fcntl.h>

#define TOKEN "0123456789abcdef0123456789abcdef"
#define STATE "{\"good\": true}\n{\"id\": \"0@\"}\n"

enum { MOST = 40000 };

static void to_child(int fd, u32 id, u32 good, struct str text)
{
	struct page_answer head = {.size = text.n, .id = id, .good = good};
	if (write(fd, &head, sizeof(head)) != sizeof(head) ||
	    write(fd, text.s, text.n) != (ssize_t)text.n)
		abort();
}

/* Every question has the lines that sonde expects, and one answer. */
static void answer_all(int fd, struct sb *in)
{
	char buf[4096];
	struct page_ask head;
	ssize_t n;
	while ((n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT)) > 0)
		sb_mem(in, buf, (size_t)n);
	while (in->n >= sizeof(head)) {
		memcpy(&head, in->s, sizeof(head));
		u32 lines = 0;
		if (head.size > PAGE_ASK || head.clients > PAGE_CLIENTS)
			abort();
		if (in->n < sizeof(head) + head.size)
			break;
		for (u32 i = 0; i < head.size; i++)
			lines += in->s[sizeof(head) + i] == '\n';
		if (lines + 1 < ASKS || (head.id && lines + 1 > ASKS))
			abort();
		if (head.id)
			to_child(fd, head.id, head.id % 2, STR("{}\n"));
		memmove(in->s, in->s + sizeof(head) + head.size, in->n - sizeof(head) - head.size);
		in->n -= sizeof(head) + head.size;
	}
}

/* A client that reads nothing before the end, so that less than its buffer may come. */
static void check_reply(int fd)
{
	char begin[] = "HTTP/1.", buf[sizeof(begin) - 1];
	ssize_t n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);
	if (n > 0 && memcmp(buf, begin, (size_t)n) != 0)
		abort();
}

static void send_request(int fd, const u8 *data, size_t n)
{
	AUTO_SB b = {0};
	const char *method = data[0] & 1 ? "GET /" : "POST /";
	if (data[0] & 2)
		sb_fmt(&b, "%s%.*s%st=" TOKEN " HTTP/1.1\r\nHost: localhost\r\n%s\r\n", method,
		       (int)(n - 1), (const char *)data + 1, memchr(data, '?', n) ? "&" : "?",
		       data[0] & 4 ? "Accept-Encoding: gzip\r\n" : "");
	else
		sb_mem(&b, (const char *)data + 1, n - 1);
	(void)!send(fd, b.s, b.n, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void end_desk(struct desk *d)
{
	d->over = true;
	end_questions(d);
	wake(d, false);
	for (u32 i = 0; i < 4; i++)
		MHD_run(d->daemon);
	MHD_stop_daemon(d->daemon);
	for (u32 i = 0; i < d->line.n; i++)
		sb_free(&d->line.v[i].text);
	vec_free(&d->line);
	sb_free(&d->in);
	sb_free(&d->out);
	sb_free(&d->seen);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);
int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	enum { TURNS = 6 };
	int client[2], parent[2];
	AUTO_SB in = {0};
	struct sockaddr at = {.sa_family = AF_UNIX};
	struct desk d = {.token = TOKEN};
	if (!n || n > MOST)
		return 0;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, client) ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, parent) || fcntl(client[1], F_SETFL, O_NONBLOCK))
		abort();
	d.fd = parent[0];
	d.daemon = MHD_start_daemon(MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME, 0, NULL,
				    NULL, handle, &d, MHD_OPTION_NOTIFY_COMPLETED, completed, NULL,
				    MHD_OPTION_END);
	if (!d.daemon || MHD_add_connection(d.daemon, client[1], &at, sizeof(at)) != MHD_YES)
		abort();
	send_request(client[0], data, n);
	for (u32 i = 0; i < TURNS; i++) {
		if (i % 2)
			to_child(parent[1], 0, 1, i == 1 ? STR(STATE) : STR("{\"good\": true}\n"));
		u64 serial = d.serial;
		while (take_bytes(&d))
			;
		if (d.serial != serial)
			wake(&d, i == 3);
		MHD_run(d.daemon);
		tell(&d);
		answer_all(parent[1], &in);
	}
	check_reply(client[0]);
	close(client[0]);
	MHD_run(d.daemon);
	end_desk(&d);
	close(parent[0]);
	close(parent[1]);
	return 0;
}
#else
#include "base/base.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t n);
int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	(void)data, (void)n;
	return 0;
}
#endif
