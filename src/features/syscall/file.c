/* file.c - what descriptors of system calls stand for, as strace -y and -yy write it. */
#include "base/bytes.h"
#include "syscall/calls.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

struct str call_part(struct str all, u32 id)
{
	struct bytes b = bytes_of(all.s, all.n);
	while (b.at + sizeof(struct call_piece) <= b.n && !b.bad) {
		u32 got = bytes_u32(&b), n = bytes_u32(&b);
		const u8 *p = bytes_take(&b, n);
		if (!p)
			break;
		if (got == id)
			return str_n((const char *)p, n);
		bytes_seek(&b, ALIGN_UP(b.at, 8));
	}
	return (struct str){0};
}

static void put_address_of(struct sb *out, const struct call_file *f, const u8 *addr, u32 port)
{
	char text[INET6_ADDRSTRLEN];
	bool six = f->family == AF_INET6;
	inet_ntop(six ? AF_INET6 : AF_INET, addr, text, sizeof(text));
	sb_fmt(out, six ? "[%s]:%u" : "%s:%u", text, port);
}

/* "TCP:[127.0.0.1:33662->127.0.0.1:80]" */
static void put_socket(struct sb *out, const struct call_file *f)
{
	static const char *const local[] = {"", "-STREAM", "-DGRAM", "", "", "-SEQPACKET"};
	bool inet = f->family == AF_INET || f->family == AF_INET6;
	const char *six = f->family == AF_INET6 ? "v6" : "";
	if (inet) {
		const char *name = f->protocol == IPPROTO_TCP   ? "TCP"
				   : f->protocol == IPPROTO_UDP ? "UDP"
				   : f->type == SOCK_RAW        ? "RAW"
								: "socket";
		sb_fmt(out, "%s%s:[", name, six);
	} else if (f->family == AF_UNIX) {
		sb_fmt(out, "UNIX%s:[", f->type < countof(local) ? local[f->type] : "");
	} else {
		sb_fmt(out, "%s:[", f->family == AF_NETLINK ? "NETLINK" : "socket");
	}
	if (inet && f->num) {
		put_address_of(out, f, f->saddr, f->num);
		if (f->dport) {
			sb_z(out, "->");
			put_address_of(out, f, f->daddr, ntohs((u16)f->dport));
		}
	} else {
		sb_u64(out, f->ino);
		if (f->peer)
			sb_fmt(out, "->%llu", f->peer);
	}
	sb_char(out, ']');
}

/* The names behind each other, as a path; whole: from the root. */
static void put_path(struct sb *out, struct str all, u32 id)
{
	enum { MOST = 64 };
	struct str name[MOST];
	struct bytes b = bytes_of(all.s, all.n);
	u32 n = 0;
	bool whole = false;
	while (b.at + sizeof(struct call_piece) <= b.n && !b.bad && n < MOST) {
		u32 got = bytes_u32(&b), size = bytes_u32(&b);
		const u8 *p = bytes_take(&b, size);
		if (got == id && !size)
			whole = true;
		else if (got == id && p)
			name[n++] = str_n((const char *)p, size - 1);
		bytes_seek(&b, ALIGN_UP(b.at, 8));
	}
	sb_z(out, whole ? "" : "...");
	if (!n)
		sb_char(out, '/');
	while (n) {
		AUTO_SB text = {0};
		call_put_quoted(&text, name[--n], 0);
		sb_char(out, '/');
		sb_add(out, str_n(text.s + 1, (u32)text.n - 2));
	}
}

void call_put_file(struct sb *out, u32 flags, struct str all, u32 i)
{
	struct str t = call_part(all, CALL_FILE + i), name = call_part(all, CALL_NAMES + i);
	struct call_file f = {0};
	if (!(flags & CALL_PATHS) || (!t.s && !name.s))
		return;
	if (t.n == sizeof(f))
		memcpy(&f, t.s, sizeof(f));
	name.n -= name.n > 0;
	bool sockets = flags & CALL_SOCKETS;
	u32 type = f.mode & S_IFMT;
	sb_char(out, '<');
	if (type == S_IFSOCK && sockets)
		put_socket(out, &f);
	else if (type == S_IFSOCK)
		sb_fmt(out, "socket:[%llu]", f.ino);
	else if (f.detached && type == S_IFIFO)
		sb_fmt(out, "pipe:[%llu]", f.ino);
	else if (f.detached && name.n && name.s[0] == '[')
		sb_fmt(out, "anon_inode:%.*s", STRF(name));
	else if (f.detached)
		sb_fmt(out, "/%.*s", STRF(name));
	else
		put_path(out, all, CALL_NAMES + i);
	/* The kernel's dev_t: 12 bits and 20 bits. */
	if (sockets && (type == S_IFCHR || type == S_IFBLK))
		sb_fmt(out, "<%s %u:%u>", type == S_IFCHR ? "char" : "block", f.rdev >> 20,
		       f.rdev & 0xfffff);
	sb_char(out, '>');
	if (f.unlinked || (f.detached && type == S_IFREG))
		sb_z(out, "(deleted)");
}
