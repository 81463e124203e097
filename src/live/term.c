/* term.c - escape sequences, keys, and the child that restores the terminal; see term.h. */
#include "live/term.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

/* Alternate screen, no cursor, no automatic line breaks, buttons of the mouse as sequences (SGR 1006). */
#define ENTER_SCREEN "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[?1000h\x1b[?1006h\x1b[0m\x1b[2J"
/* CAN ends a sequence of which only a part was written. */
#define LEAVE_SCREEN "\x18\x1b[0m\x1b[?1006l\x1b[?1000l\x1b[?7h\x1b[?25h\x1b[?1049l"

/* ---- the environment ---- */

static const char *env(const char *name)
{
	const char *s = getenv(name);
	return s ? s : "";
}

bool term_usable(int fd)
{
	return isatty(fd) && *env("TERM") && strcmp(env("TERM"), "dumb") != 0;
}

/* By NO_COLOR, TERM and COLORTERM. */
static enum term_color term_color_of(void)
{
	if (*env("NO_COLOR"))
		return COLOR_NONE;
	return *env("COLORTERM") || strstr(env("TERM"), "256color") ? COLOR_256 : COLOR_16;
}

bool term_is_utf8(void)
{
	const char *s = *env("LC_ALL")     ? env("LC_ALL")
			: *env("LC_CTYPE") ? env("LC_CTYPE")
					   : env("LANG");
	struct str name = str_z(s), word;
	while (str_cut(&name, '.', &word))
		if (str_eq_nocase(word, STR("UTF-8")) || str_eq_nocase(word, STR("utf8")))
			return true;
	return false;
}

/* ---- drawing ---- */

/* How inks look; with COLOR_NONE only bold and reverse are left. */
static const char *const inks[2][INKS] = {
	{
		[INK_PLAIN] = "39;49",
		[INK_HEAD] = "36;49",
		[INK_TITLE] = "34;49",
		[INK_KEY] = "36;49",
		[INK_VALUE] = "39;49",
		[INK_BAR] = "32;49",
		[INK_LINE] = "36;49",
		[INK_BAD] = "31;49",
		[INK_GOOD] = "32;49",
		[INK_DIM] = "90;49",
		[INK_HEAT] = "34;49",
		"34;49",
		"35;49",
		"35;49",
		"31;49",
		"31;49",
		"33;49",
		"93;49",
		[INK_FRAME] = "30;43",
		"30;41",
		"30;42",
		"30;46",
	},
	{
		[INK_PLAIN] = "39;49",
		[INK_HEAD] = "38;5;73;49",
		[INK_TITLE] = "38;5;75;49",
		[INK_KEY] = "38;5;73;49",
		[INK_VALUE] = "39;49",
		[INK_BAR] = "38;5;71;49",
		[INK_LINE] = "38;5;74;49",
		[INK_BAD] = "38;5;196;49",
		[INK_GOOD] = "38;5;71;49",
		[INK_DIM] = "38;5;245;49",
		[INK_HEAT] = "38;5;54;49",
		"38;5;91;49",
		"38;5;127;49",
		"38;5;162;49",
		"38;5;203;49",
		"38;5;209;49",
		"38;5;215;49",
		"38;5;222;49",
		[INK_FRAME] = "38;5;16;48;5;214",
		"38;5;16;48;5;208",
		"38;5;16;48;5;220",
		"38;5;16;48;5;179",
	},
};

static void put_style(struct sb *out, struct style s, enum term_color color)
{
	assert(s.ink < INKS);
	sb_z(out, "\x1b[0");
	if (s.flags & STYLE_BOLD)
		sb_z(out, ";1");
	if (s.flags & STYLE_REVERSE)
		sb_z(out, ";7");
	if (color != COLOR_NONE && s.ink != INK_PLAIN)
		sb_fmt(out, ";%s", inks[color == COLOR_256][s.ink]);
	sb_char(out, 'm');
}

static bool same(struct cell a, struct cell b)
{
	return a.ch == b.ch && a.style.ink == b.style.ink && a.style.flags == b.style.flags;
}

void term_diff(struct sb *out, const struct grid *from, const struct grid *to,
	       enum term_color color, bool all)
{
	struct style now = {INKS, 0};
	u32 at_x = ~0u, at_y = ~0u;
	all |= from->w != to->w || from->h != to->h;
	if (all)
		sb_z(out, "\x1b[0m\x1b[2J");
	for (u32 i = 0; i < to->w * to->h; i++) {
		struct cell c = to->cell[i];
		u32 x = i % to->w, y = i / to->w;
		bool blank = all && same(c, (struct cell){.ch = ' '});
		if (!c.ch || blank || (!all && same(c, from->cell[i])))
			continue;
		if (at_x != x || at_y != y)
			sb_fmt(out, "\x1b[%u;%uH", y + 1, x + 1);
		if (now.ink != c.style.ink || now.flags != c.style.flags)
			put_style(out, now = c.style, color);
		ch_put(out, c.ch);
		at_x = x + ch_width(c.ch);
		at_y = y;
	}
}

/* False: the terminal does not take all of it now. */
static bool write_out(struct term *t)
{
	while (t->out.n) {
		ssize_t n = write(t->fd, t->out.s, t->out.n);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return false;
		if (n < 0) { /* term_key() finds out that it is gone */
			sb_clear(&t->out);
			return true;
		}
		memmove(t->out.s, t->out.s + n, t->out.n - (size_t)n);
		t->out.n -= (size_t)n;
	}
	return true;
}

bool term_draw(struct term *t, const struct grid *g)
{
	if (!write_out(t))
		return false;
	term_diff(&t->out, &t->shown, g, t->color, t->stale);
	t->stale = false;
	grid_size(&t->shown, g->w, g->h);
	memcpy(t->shown.cell, g->cell, (size_t)g->w * g->h * sizeof(*g->cell));
	write_out(t);
	return true;
}

bool term_resized(struct term *t)
{
	struct winsize w;
	if (ioctl(t->fd, TIOCGWINSZ, &w) || !w.ws_col || !w.ws_row)
		w = (struct winsize){.ws_col = 80, .ws_row = 24};
	u32 cols = MIN(w.ws_col, MOST_SIZE), rows = MIN(w.ws_row, MOST_SIZE);
	if (cols == t->w && rows == t->h)
		return false;
	t->w = cols;
	t->h = rows;
	t->stale = true;
	return true;
}

/* ---- keys ---- */

static int letter_key(char c)
{
	switch (c) {
	case 'A': return KEY_UP;
	case 'B': return KEY_DOWN;
	case 'C': return KEY_RIGHT;
	case 'D': return KEY_LEFT;
	case 'F': return KEY_END;
	case 'H': return KEY_HOME;
	case 'Z': return KEY_BACK_TAB;
	default: return KEY_UNKNOWN;
	}
}

static int number_key(char c)
{
	switch (c) {
	case '1':
	case '7': return KEY_HOME;
	case '4':
	case '8': return KEY_END;
	case '5': return KEY_PAGE_UP;
	case '6': return KEY_PAGE_DOWN;
	default: return KEY_UNKNOWN;
	}
}

/* "ESC [ < button ; column ; line M", m when it is released; both count from 1. */
static int mouse_key(struct str s)
{
	enum { HEAD = 3, SHIFTED = 4 | 8 | 16, LEFT = 0, WHEEL_UP = 64, WHEEL_DOWN = 65 };
	struct str rest = str_n(s.s + HEAD, s.n - HEAD - 1u), word;
	u64 v[3];
	for (u32 i = 0; i < countof(v); i++)
		if (!str_cut(&rest, ';', &word) || !str_u64(word, &v[i]))
			return KEY_UNKNOWN;
	u64 button = v[0] & ~(u64)SHIFTED;
	if (rest.s || s.s[s.n - 1] != 'M' || !v[1] || !v[2] || v[1] > MOST_SIZE || v[2] > MOST_SIZE)
		return KEY_UNKNOWN;
	if (button != LEFT && button != WHEEL_UP && button != WHEEL_DOWN)
		return KEY_UNKNOWN;
	int kind = button == LEFT ? MOUSE_CLICK : button == WHEEL_UP ? MOUSE_UP : MOUSE_DOWN;
	return KEY_MOUSE | kind << 2 * MOUSE_BITS | (int)(v[2] - 1) << MOUSE_BITS | (int)(v[1] - 1);
}

/* Bytes of the sequence "ESC [ ... letter" or "ESC O letter"; 0: it is not complete. */
static u32 sequence(const char *p, u32 n)
{
	if (n < 3)
		return 0;
	if (p[1] == 'O')
		return 3;
	for (u32 i = 2; i < n; i++)
		if (p[i] >= '@' && p[i] <= '~')
			return i + 1;
	return 0;
}

static int one_key(const char *p, u32 n, bool all, u32 *used)
{
	*used = 1;
	if (p[0] == KEY_ESC && n > 1 && (p[1] == '[' || p[1] == 'O')) {
		*used = sequence(p, n);
		if (!*used) {
			*used = all ? n : 0;
			return all ? KEY_UNKNOWN : KEY_NONE;
		}
		char last = p[*used - 1];
		if (p[2] == '<' && *used > 3)
			return mouse_key(str_n(p, *used));
		return last == '~' ? *used == 4 ? number_key(p[2]) : KEY_UNKNOWN : letter_key(last);
	}
	if (p[0] == KEY_ESC && n == 1 && !all) {
		*used = 0;
		return KEY_NONE;
	}
	if (p[0] == '\n')
		return KEY_ENTER;
	if (p[0] == 8)
		return KEY_BACKSPACE;
	if ((u8)p[0] < 0x80)
		return p[0] ? p[0] : KEY_UNKNOWN;
	bool whole = str_utf8(str_n(p, n));
	if (!whole && n < 4 && !all) {
		*used = 0;
		return KEY_NONE;
	}
	int ch = (int)ch_next(str_n(p, n), used);
	return whole ? ch : KEY_UNKNOWN;
}

int term_decode(char *p, u32 *n, bool all)
{
	u32 used;
	if (!*n)
		return KEY_NONE;
	int key = one_key(p, *n, all, &used);
	*n -= used;
	memmove(p, p + used, *n);
	return key;
}

int term_key(struct term *t)
{
	struct pollfd p = {.fd = t->fd, .events = POLLIN};
	bool some = poll(&p, 1, 0) == 1;
	if (some && t->nin < sizeof(t->in)) {
		ssize_t n = read(t->fd, t->in + t->nin, sizeof(t->in) - t->nin);
		if (!n || (n < 0 && errno != EAGAIN && errno != EINTR))
			return KEY_GONE;
		t->nin += n > 0 ? (u32)n : 0;
	}
	/* A sequence comes in one piece, or nearly: what has not become one by now is none. */
	return term_decode(t->in, &t->nin, !some);
}

/* ---- the guard ---- */

static void close_above(int fd)
{
	if (!close_range((unsigned)fd + 1, ~0u, 0))
		return;
	for (int i = (int)sysconf(_SC_OPEN_MAX) - 1; i > fd; i--) /* before Linux 5.9 */
		close(i);
}

/* fd never waits, and what it has not taken after a while is left out: nobody is to wait for ever for a terminal
 * that takes nothing. */
static void leave_screen(int fd)
{
	struct str rest = STR(LEAVE_SCREEN);
	u64 end = now_ns() + 3 * (u64)SECOND_NS, now;
	while (rest.n) {
		ssize_t n = write(fd, rest.s, rest.n);
		if (n >= 0)
			rest = str_from(rest, (u32)n);
		else if (errno != EAGAIN && errno != EINTR)
			return;
		else if ((now = now_ns()) < end)
			poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1,
			     (int)((end - now) / MILLI_NS) + 1);
		else
			return;
	}
}

static bool read_all(int fd, void *to, size_t n)
{
	for (size_t at = 0; at < n;) {
		ssize_t got = read(fd, (char *)to + at, n - at);
		if (!got || (got < 0 && errno != EINTR))
			return false;
		at += got > 0 ? (size_t)got : 0;
	}
	return true;
}

static bool send_all(int fd, const void *from, size_t n)
{
	for (size_t at = 0; at < n;) {
		ssize_t put = send(fd, (const char *)from + at, n - at, MSG_NOSIGNAL);
		if (put < 0 && errno != EINTR)
			return false;
		at += put > 0 ? (size_t)put : 0;
	}
	return true;
}

/* A file that is not there yet. The answer is an error number. */
static int save(const char *name, const char *text, size_t n)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666), no = 0;
	if (fd < 0)
		return errno;
	for (size_t at = 0; at < n && !no;) {
		ssize_t put = write(fd, text + at, n - at);
		no = put < 0 && errno != EINTR ? errno : 0;
		at += put > 0 ? (size_t)put : 0;
	}
	return close(fd) && !no ? errno : no;
}

/* What the process asks of the child. */
enum asked { ASK_SAVE, ASK_EDIT, ASK_PAGE };
struct request {
	u32 what;
	u32 name, text; /* bytes that follow: a file's name and its text */
};

static bool serve_save(int fd, const struct request *r)
{
	char *buf = xmalloc((size_t)r->name + r->text + 2);
	bool whole = read_all(fd, buf, r->name) && read_all(fd, buf + r->name + 1, r->text);
	buf[r->name] = 0;
	int no = whole ? save(buf, buf + r->name + 1, r->text) : 0;
	free(buf);
	return whole && send_all(fd, &no, sizeof(no));
}

struct err *term_save(struct term *t, struct str name, struct str text)
{
	struct request r = {ASK_SAVE, name.n, text.n};
	int no;
	if (!send_all(t->guard_fd, &r, sizeof(r)) || !send_all(t->guard_fd, name.s, name.n) ||
	    !send_all(t->guard_fd, text.s, text.n) || !read_all(t->guard_fd, &no, sizeof(no)))
		return err_new("the child of sonde that writes files is gone");
	return no ? err_sys(no, "%.*s", STRF(name)) : NULL;
}

/* ---- a page ---- */

struct page_started {
	int pid;  /* 0: there is none, and the text says why */
	u32 text; /* bytes that follow */
};
union one_descriptor {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int))];
};

static bool serve_page(int asks, term_serve *start, int *pid)
{
	AUTO_SB text = {0};
	union one_descriptor control = {0};
	struct page_started a = {0};
	int fd AUTO_CLOSE = start(&text, &a.pid);
	a.text = (u32)text.n;
	*pid = a.pid;
	struct iovec io = {&a, sizeof(a)};
	struct msghdr m = {.msg_iov = &io, .msg_iovlen = 1};
	if (fd >= 0) {
		m.msg_control = control.bytes;
		m.msg_controllen = sizeof(control.bytes);
		struct cmsghdr *c = CMSG_FIRSTHDR(&m);
		*c = (struct cmsghdr){CMSG_LEN(sizeof(fd)), SOL_SOCKET, SCM_RIGHTS};
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	}
	return sendmsg(asks, &m, MSG_NOSIGNAL) == sizeof(a) && send_all(asks, text.s, text.n);
}

struct err *term_page(struct term *t, int *fd, int *pid, struct sb *address)
{
	struct request r = {.what = ASK_PAGE};
	union one_descriptor control;
	struct page_started a;
	struct iovec io = {&a, sizeof(a)};
	struct msghdr m = {.msg_iov = &io,
			   .msg_iovlen = 1,
			   .msg_control = control.bytes,
			   .msg_controllen = sizeof(control.bytes)};
	if (!t->serve)
		return err_new("this sonde was built without pages");
	bool good = send_all(t->guard_fd, &r, sizeof(r)) &&
		    recvmsg(t->guard_fd, &m, MSG_CMSG_CLOEXEC) == sizeof(a);
	char c;
	for (u32 i = 0; good && i < a.text; i++, sb_char(address, c))
		good = read_all(t->guard_fd, &c, 1);
	if (!good)
		return err_new("the child of sonde that starts pages is gone");
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);
	if (!a.pid || !h || h->cmsg_type != SCM_RIGHTS || h->cmsg_len != CMSG_LEN(sizeof(*fd)))
		return err_new("no page: %.*s", STRF(sb_str(address)));
	memcpy(fd, CMSG_DATA(h), sizeof(*fd));
	*pid = a.pid;
	return NULL;
}

/* ---- another script ---- */

/* What the child answers. Of EDIT_REPLACED an exit status follows when the other sonde has ended. */
struct answer {
	u32 what;
	u32 text; /* bytes that follow */
};

struct err *term_edit(struct term *t)
{
	struct request r = {.what = ASK_EDIT};
	if (!t->again)
		return err_new("only a script of a file, or of -e, can be edited");
	return send_all(t->guard_fd, &r, sizeof(r)) ? NULL : err_new("the child of sonde is gone");
}

enum edit_kind term_edited(struct term *t, struct sb *text)
{
	struct answer a;
	struct pollfd p = {.fd = t->guard_fd, .events = POLLIN};
	if (poll(&p, 1, 0) != 1)
		return EDIT_NONE;
	bool whole = read_all(t->guard_fd, &a, sizeof(a));
	for (u32 i = 0; whole && i < a.text; i++) {
		char c;
		whole = read_all(t->guard_fd, &c, 1);
		sb_char(text, whole ? c : ' ');
	}
	if (!whole)
		sb_z(text, "the child of sonde is gone");
	t->stale = true;
	return whole ? (enum edit_kind)a.what : EDIT_BACK;
}

bool term_replaced_ended(struct term *t)
{
	enum { MOMENT_MS = 50 };
	struct pollfd p = {.fd = t->guard_fd, .events = POLLIN};
	return poll(&p, 1, MOMENT_MS) == 1;
}

int term_replaced(struct term *t)
{
	int status;
	return read_all(t->guard_fd, &status, sizeof(status)) ? status : 1;
}

/* Terminals that refuse it ignore it. */
void term_copy(struct term *t, struct str text)
{
	static const char digit[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	sb_z(&t->out, "\x1b]52;c;");
	for (u32 i = 0; i < text.n; i += 3) {
		u32 left = text.n - i, v = (u32)(u8)text.s[i] << 16;
		v |= left > 1 ? (u32)(u8)text.s[i + 1] << 8 : 0;
		v |= left > 2 ? (u32)(u8)text.s[i + 2] : 0;
		for (u32 k = 0; k < 4; k++)
			sb_char(&t->out, k > left ? '=' : digit[v >> (18 - 6 * k) & 63]);
	}
	sb_z(&t->out, "\x07");
}

static void set_raw(struct termios *m)
{
	m->c_iflag &= ~(tcflag_t)(BRKINT | ICRNL | INLCR | IGNCR | ISTRIP | IXON | PARMRK);
	m->c_lflag &= ~(tcflag_t)(ECHO | ECHONL | ICANON | IEXTEN | ISIG);
	m->c_oflag &= ~(tcflag_t)OPOST;
	m->c_cc[VMIN] = 1;
	m->c_cc[VTIME] = 0;
}

/* Of the child. */
struct guard {
	int asks, terminal, exe;
	char name[256]; /* of the terminal */
	struct termios was, raw;
	const struct term_again *again;
	term_serve *serve;
	int server; /* of pages; 0: there is none */
	bool gone;  /* the terminal is another sonde's */
};

/* A process that has the terminal, and signals as usual. */
static pid_t start(const struct guard *g, char **argv, int err_fd, int ready_fd)
{
	pid_t pid = fork();
	if (pid)
		return pid;
	int fd = open(g->name, O_RDWR | O_NOCTTY);
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	for (int i = 0; i < 3; i++)
		dup2(i == 2 && err_fd >= 0 ? err_fd : fd, i);
	if (ready_fd >= 0)
		fcntl(ready_fd, F_SETFD, 0);
	close(g->asks);
	close(g->terminal);
	fcntl(g->exe, F_SETFD, FD_CLOEXEC);
	if (ready_fd >= 0)
		fexecve(g->exe, argv, environ);
	else
		execvp(argv[0], argv);
	_exit(127);
}

static int exit_code(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Until it ends; when the process that asked is gone, it is ended. */
static int wait_for(const struct guard *g, pid_t pid)
{
	enum { POLITE = 20 };
	int status = 0;
	for (u32 asked = 0; waitpid(pid, &status, WNOHANG) == 0;) {
		struct pollfd p = {.fd = g->asks};
		if (poll(&p, 1, 50) != 1)
			continue;
		kill(pid, asked++ < POLITE ? SIGHUP : SIGKILL);
		usleep(50000);
	}
	return exit_code(status);
}

static bool read_file(const char *path, struct sb *out)
{
	int fd AUTO_CLOSE = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && !fd_read(fd, 1 << 24, out);
}

/* The user's editor. NULL: it has changed the file from before to after. */
static const char *edit(const struct guard *g, char *path, struct sb *before, struct sb *after)
{
	char sh[] = "/bin/sh", c[] = "-c", run[] = "exec ${VISUAL:-${EDITOR:-vi}} \"$1\"";
	char *argv[] = {sh, c, run, sh, path, NULL};
	if (!read_file(path, before))
		return "the script cannot be read";
	pid_t pid = start(g, argv, -1, -1);
	if (pid < 0 || wait_for(g, pid))
		return "the editor failed (VISUAL or EDITOR selects it)";
	if (!read_file(path, after))
		return "the script cannot be read after it was edited";
	return str_eq(sb_str(before), sb_str(after)) ? "the script was not changed" : NULL;
}

/* Until it is attached, or has ended; *text is what it printed then. */
static pid_t start_other(const struct guard *g, char *program, struct sb *text)
{
	char option[64], *argv[512];
	int ready[2], n = 0, err AUTO_CLOSE = memfd_create("sonde-errors", MFD_CLOEXEC);
	if (err < 0 || pipe2(ready, O_CLOEXEC))
		return -1;
	snprintf(option, sizeof(option), "--takeover=%d", ready[1]);
	for (; g->again->argv[n] && n + 2 < (int)countof(argv); n++)
		argv[n + (n > 1)] = n && n == g->again->program ? program : g->again->argv[n];
	argv[2] = option; /* behind "sonde live" */
	argv[n + 1] = NULL;
	pid_t pid = start(g, argv, err, ready[1]);
	char c = 0;
	close(ready[1]);
	bool attached = pid >= 0 && read_all(ready[0], &c, 1);
	close(ready[0]);
	if (attached)
		return pid;
	if (pid >= 0)
		wait_for(g, pid);
	lseek(err, 0, SEEK_SET);
	(void)fd_read(err, 4000, text);
	if (!text->n)
		sb_z(text, "the new script cannot be run");
	return -1;
}

static bool answer(const struct guard *g, enum edit_kind what, struct str text)
{
	struct answer a = {what, text.n};
	return send_all(g->asks, &a, sizeof(a)) && send_all(g->asks, text.s, text.n);
}

/* As long as the one before is there, too: what ends that one ends both. */
static bool hand_over(struct guard *g, pid_t pid)
{
	g->gone = true;
	(void)!answer(g, EDIT_REPLACED, STR(""));
	int status = wait_for(g, pid);
	return send_all(g->asks, &status, sizeof(status));
}

static bool serve_edit(struct guard *g)
{
	AUTO_SB before = {0};
	AUTO_SB after = {0};
	AUTO_SB text = {0};
	char path[] = "/tmp/sonde-XXXXXX.bt";
	const struct term_again *again = g->again;
	const char *why = "the script cannot be written to /tmp";
	pid_t pid = -1;
	int fd AUTO_CLOSE = again->file ? -1 : mkostemps(path, 3, O_CLOEXEC);
	struct str program = again->file ? STR("") : str_z(again->argv[again->program]);
	leave_screen(g->terminal);
	tcsetattr(g->terminal, TCSADRAIN, &g->was);
	if (again->file || (fd >= 0 && write(fd, program.s, program.n) == (ssize_t)program.n))
		why = edit(g, again->file ? (char *)again->file : path, &before, &after);
	if (fd >= 0)
		unlink(path);
	if (!why)
		pid = start_other(g, after.s, &text);
	if (pid >= 0)
		return hand_over(g, pid);
	tcsetattr(g->terminal, TCSADRAIN, &g->raw);
	(void)!write(g->terminal, ENTER_SCREEN, strlen(ENTER_SCREEN));
	return answer(g, EDIT_BACK, why ? str_z(why) : sb_str(&text));
}

/* False: the process is gone. */
static bool serve(struct guard *g)
{
	struct request r;
	if (!read_all(g->asks, &r, sizeof(r)))
		return false;
	if (r.what == ASK_PAGE)
		return g->serve && serve_page(g->asks, g->serve, &g->server);
	return r.what == ASK_EDIT ? g->again && serve_edit(g) : serve_save(g->asks, &r);
}

/* It has heard that the run is over, sends its pages the last state, and would be killed by our end. */
static void end_server(int pid)
{
	u64 end = now_ns() + SECOND_NS;
	while (pid > 0 && !waitpid(pid, NULL, WNOHANG) && now_ns() < end)
		poll(NULL, 0, 5);
}

/* A session of its own: it may change the terminal when another process has it. */
static _Noreturn void guard(struct guard g)
{
	enum { ALIVE = 3, TERMINAL = 4, EXE = 5 };
	setsid();
	for (int sig = 1; sig < NSIG; sig++)
		if (sig != SIGCHLD)
			signal(sig, SIG_IGN);
	int alive = fcntl(g.asks, F_DUPFD, EXE + 1), terminal = fcntl(g.terminal, F_DUPFD, EXE + 1),
	    exe = g.again ? fcntl(g.again->exe, F_DUPFD, EXE + 1) : -1;
	if (dup2(alive, ALIVE) < 0 || dup2(terminal, TERMINAL) < 0 ||
	    (g.again && dup2(exe, EXE) < 0))
		_exit(1);
	close_above(g.again ? EXE : TERMINAL);
	for (int fd = 0; fd < ALIVE; fd++)
		close(fd);
	g.asks = ALIVE;
	g.terminal = TERMINAL;
	g.exe = EXE;
	for (int fd = 0; fd < ALIVE; fd++) /* so that no file becomes a standard stream */
		if (open("/dev/null", O_RDWR) != fd)
			_exit(1);
	while (serve(&g))
		;
	if (g.gone)
		_exit(0);
	leave_screen(TERMINAL);
	tcsetattr(TERMINAL, TCSANOW, &g.was);
	end_server(g.server);
	_exit(0);
}

static struct err *start_guard(struct term *t, const struct termios *was)
{
	struct guard g = {
		.terminal = t->fd, .was = *was, .raw = *was, .again = t->again, .serve = t->serve};
	set_raw(&g.raw);
	if (ttyname_r(t->fd, g.name, sizeof(g.name)))
		g.again = NULL;
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return err_sys(errno, "socketpair");
	fflush(NULL);
	t->guard = fork();
	if (!t->guard) {
		close(ends[1]);
		g.asks = ends[0];
		guard(g);
	}
	close(ends[0]);
	if (t->guard < 0) {
		close(ends[1]);
		return err_sys(errno, "fork");
	}
	heap_own();
	t->guard_fd = ends[1];
	return NULL;
}

static struct err *open_terminal(struct term *t, int fd)
{
	char name[256];
	int no = ttyname_r(fd, name, sizeof(name));
	t->fd = no ? -1 : open(name, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (t->fd < 0)
		return err_sys(no ? no : errno, "open the terminal");
	return NULL;
}

static void ignore(int sig)
{
	(void)sig;
}

/*
 * While an editor has the terminal, keys may be signals for us: the run neither ends nor stops then. A handler, since
 * a command that the run starts would inherit SIG_IGN.
 */
static void take_signals(bool ours)
{
	struct sigaction sa = {.sa_handler = ours ? ignore : SIG_DFL, .sa_flags = SA_RESTART};
	sigaction(SIGQUIT, &sa, NULL);
	sigaction(SIGTSTP, &sa, NULL);
}

struct err *term_open(struct term *t, int fd)
{
	struct termios was, raw;
	*t = (struct term){.fd = -1,
			   .guard_fd = -1,
			   .stale = true,
			   .color = term_color_of(),
			   .again = t->again,
			   .serve = t->serve};
	struct err *e = open_terminal(t, fd);
	if (!e && tcgetattr(t->fd, &was))
		e = err_sys(errno, "ask for the terminal's mode");
	if (!e)
		e = start_guard(t, &was);
	if (!e) {
		raw = was;
		set_raw(&raw);
		if (tcsetattr(t->fd, TCSADRAIN, &raw))
			e = err_sys(errno, "set the terminal's mode");
	}
	if (e) {
		(void)term_close(t);
		return e;
	}
	take_signals(true);
	sb_z(&t->out, ENTER_SCREEN);
	write_out(t);
	term_resized(t);
	return NULL;
}

bool term_close(struct term *t)
{
	int status = 0;
	if (t->guard_fd >= 0) {
		close(t->guard_fd);
		while (waitpid(t->guard, &status, 0) < 0 && errno == EINTR)
			;
	}
	if (status) /* somebody killed it */
		leave_screen(t->fd);
	if (t->fd >= 0)
		take_signals(false);
	close_fd(&t->fd);
	grid_free(&t->shown);
	sb_free(&t->out);
	t->fd = t->guard_fd = -1;
	return !status;
}
