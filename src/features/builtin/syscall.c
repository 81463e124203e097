/*
 * syscall.c - syscall_enter(), syscall_exit() and their kin: what of a system call is copied.
 *
 * The programs are the same for all calls. A constant table says, by the number of the call, what to
 * copy of each argument (struct call_plan); each piece goes behind the one before.
 */
#include "builtin/callid.h"
#include "builtin/callkept.h"
#include "builtin/common.h"
#include "sema/check.h"
#include "syscall/calls.h"

enum { PLAN_WORDS = 8 };
_Static_assert(sizeof(struct call_plan) == 4 * PLAN_WORDS, "a plan is copied as it is");

static struct map *plans(struct lower *l, enum call_phase phase)
{
	const struct arch_calls *calls = &l->c->host->arch->calls;
	const char *name = phase == CALL_ENTER ? "call_enter" : "call_exit";
	for (u32 i = 0; i < l->u->nmap; i++)
		if (str_is(l->u->map[i]->name, name))
			return l->u->map[i];
	u32 n = call_elements(l);
	struct call_plan *table = arena_newn(l->c->arena, struct call_plan, n);
	for (u32 i = 0; i < n; i++) {
		struct call_shape shape;
		call_shape(calls, call_id_at(i), &shape);
		if (shape.row)
			call_plan(&shape, phase, &table[i]);
	}
	struct map *m = unit_map(l->c, MAP_AUX, name);
	m->val_size = n * sizeof(*table);
	m->init = table;
	return m;
}

/* What copying needs. */
struct copying {
	struct lower *l;
	struct fn *f;
	struct ref base; /* of the value */
	struct ref ret;  /* at the exit: of calls that failed only texts are copied */
	u32 limit, most; /* of texts, of data */
	struct ref task; /* for paths */
};

static struct ref load(struct copying *c, u32 size, i32 off)
{
	return ir_load(c->f, size, c->base, off);
}

/* Goes on in a new block when a op b holds, else to out. */
static void only_if_so(struct copying *c, enum op op, struct ref a, struct ref b, struct blk *out)
{
	struct blk *go = ir_blk(c->f);
	ir_br(c->f, op, a, b, go, out);
	ir_at(c->f, go);
}

static void only_if(struct copying *c, enum op op, struct ref a, u64 b, struct blk *out)
{
	only_if_so(c, op, a, ir_con(c->f, b), out);
}

/*
 * What is done for each of several things is code once: it is compiled in a fraction of the time, and
 * the verifier's steps are the same.
 */
struct rounds {
	struct ref i; /* variable: the number of the round */
	struct blk *head, *done;
};

static struct rounds rounds_begin(struct fn *f, u32 n)
{
	struct rounds r = {ir_var(f), ir_blk(f), ir_blk(f)};
	struct blk *body = ir_blk(f);
	ir_set(f, r.i, ir_con(f, 0));
	ir_jmp(f, r.head);
	ir_at(f, r.head);
	ir_br(f, O_ULT, ir_get(f, r.i), ir_con(f, n), body, r.done);
	ir_at(f, body);
	return r;
}

static void rounds_end(struct fn *f, struct rounds r)
{
	ir_set(f, r.i, ir_addi(f, ir_get(f, r.i), 1));
	ir_jmp(f, r.head);
	ir_at(f, r.done);
}

/* base + (i << shift) */
static struct ref step_to(struct fn *f, struct ref base, struct ref i, u32 shift)
{
	return ir_op2(f, O_ADD, base, ir_op2(f, O_SHL, i, ir_con(f, shift)));
}

/* Where the next piece goes; to out when the area is full. */
static struct ref next_piece(struct copying *c, struct blk *out)
{
	struct ref used = load(c, 8, AT_USED);
	only_if(c, O_ULE, used, CALL_AREA, out);
	return ir_addi(c->f, ir_op2(c->f, O_ADD, c->base, used), AT_PIECES);
}

/* n bytes are there. */
static void close_piece(struct copying *c, struct ref piece, struct ref id, struct ref n)
{
	struct fn *f = c->f;
	ir_store(f, 4, piece, 0, id);
	ir_store(f, 4, piece, 4, n);
	struct ref more = ir_op2(f, O_AND, ir_addi(f, n, 7 + (i64)sizeof(struct call_piece)),
				 ir_con(f, ~7ull));
	ir_store(f, 8, c->base, AT_USED, ir_op2(f, O_ADD, load(c, 8, AT_USED), more));
}

/* A text of at most size bytes (a value). */
static void copy_text(struct copying *c, struct ref id, struct ref addr, struct ref size,
		      struct blk *out)
{
	struct fn *f = c->f;
	struct ref piece = next_piece(c, out);
	struct ref n = ir_call(f, BPF_FUNC_probe_read_user_str,
			       ARGS(ir_addi(f, piece, sizeof(struct call_piece)), size, addr));
	only_if(c, O_SGE, n, 0, out); /* 0: older kernels do not count the NUL of an empty one */
	only_if(c, O_ULE, n, CALL_PATH, out);
	close_piece(c, piece, id, n);
}

/* n bytes, at most max. */
static void copy_data(struct copying *c, struct ref id, struct ref addr, struct ref n, u32 max,
		      struct blk *out)
{
	struct fn *f = c->f;
	only_if(c, O_SGT, n, 0, out);
	n = ir_hide(f, lower_at_most(c->l, n, max));
	only_if(c, O_ULE, n, max, out);
	struct ref piece = next_piece(c, out);
	struct ref bad = ir_call(f, BPF_FUNC_probe_read_user,
				 ARGS(ir_addi(f, piece, sizeof(struct call_piece)), n, addr));
	only_if(c, O_EQ, bad, 0, out);
	close_piece(c, piece, id, n);
}

/*
 * n bytes, or those up to the end of the page: more may be asked for than is there, of an environment
 * at the end of the stack.
 */
static void copy_fixed(struct copying *c, struct ref id, struct ref addr, struct ref n,
		       struct blk *out)
{
	enum { PAGE = 4096 };
	struct fn *f = c->f;
	struct blk *part = ir_blk(f);
	copy_data(c, id, addr, n, CALL_PATH, part);
	ir_jmp(f, out);
	ir_at(f, part);
	struct ref left = ir_op2(f, O_AND, addr, ir_con(f, PAGE - 1));
	left = ir_op2(f, O_SUB, ir_con(f, PAGE), left);
	only_if_so(c, O_ULT, left, n, out);
	copy_data(c, id, addr, left, CALL_PATH, out);
}

/* A word of the process into the value's own memory; 0 when it cannot be read. */
static struct ref user_word(struct copying *c, u32 size, struct ref addr)
{
	struct mem m = lower_tmp(c->l, 8);
	lower_store(c->l, 8, m, ir_con(c->f, 0));
	ir_call(c->f, BPF_FUNC_probe_read_user,
		ARGS(lower_addr(c->l, m), ir_con(c->f, size), addr));
	return lower_load(c->l, 8, false, m);
}

/* Argument i by its word of the plan. */
static void copy_arg(struct copying *c, struct ref plan, struct ref i)
{
	struct fn *f = c->f;
	struct blk *done = ir_blk(f), *text = ir_blk(f), *data = ir_blk(f);
	struct ref how = step_to(f, plan, i, 2), op = ir_load(f, 1, how, 0);
	struct ref addr = ir_load(f, 8, step_to(f, c->base, i, 3), AT_ARG);
	only_if(c, O_NE, op, COPY_NONE, done);
	only_if(c, O_NE, addr, 0, done);
	ir_br(f, O_ULE, op, ir_con(f, COPY_STR), text, data);

	ir_at(f, text);
	struct ref size = ir_var(f);
	struct blk *path = ir_blk(f), *str = ir_blk(f), *go = ir_blk(f);
	ir_br(f, O_EQ, op, ir_con(f, COPY_PATH), path, str);
	ir_at(f, path);
	ir_set(f, size, ir_con(f, CALL_PATH));
	ir_jmp(f, go);
	ir_at(f, str);
	ir_set(f, size, ir_con(f, MIN(c->limit + 2, (u32)CALL_PATH)));
	ir_jmp(f, go);
	ir_at(f, go);
	copy_text(c, i, addr, ir_get(f, size), done);
	ir_jmp(f, done);

	ir_at(f, data);
	only_if(c, O_SGE, c->ret, 0, done);
	struct ref n = ir_var(f), unit = ir_load(f, 2, how, 2);
	struct blk *fixed = ir_blk(f), *counted = ir_blk(f), *ready = ir_blk(f), *sized = ir_blk(f),
		   *times = ir_blk(f);
	ir_br(f, O_EQ, op, ir_con(f, COPY_FIXED), fixed, counted);
	ir_at(f, fixed);
	copy_fixed(c, i, addr, unit, done);
	ir_jmp(f, done);
	ir_at(f, counted);
	struct ref from = ir_op2(f, O_AND, ir_load(f, 1, how, 1), ir_con(f, 7));
	struct ref many = ir_load(f, 8, step_to(f, c->base, from, 3), AT_ARG);
	ir_br(f, O_EQ, op, ir_con(f, COPY_SIZED), sized, times);
	ir_at(f, sized);
	ir_set(f, n, user_word(c, 4, many));
	ir_jmp(f, ready);
	ir_at(f, times);
	ir_set(f, n, ir_op2(f, O_MUL, many, unit));
	ir_jmp(f, ready);
	ir_at(f, ready);
	struct blk *cut = ir_blk(f), *whole = ir_blk(f);
	ir_br(f, O_EQ, op, ir_con(f, COPY_DATA), cut, whole);
	ir_at(f, cut);
	copy_data(c, i, addr, ir_get(f, n), c->most, done);
	ir_jmp(f, done);
	ir_at(f, whole);
	copy_data(c, i, addr, ir_get(f, n), CALL_PATH, done);
	ir_jmp(f, done);
	ir_at(f, done);
}

/* The words of an argv, which is at vec. */
static void copy_words(struct copying *c, struct ref vec)
{
	struct fn *f = c->f;
	struct rounds r = rounds_begin(f, CALL_MAX_NESTED);
	struct blk *next = ir_blk(f), *unread = ir_blk(f);
	u32 mark = ir_slot_mark(f);
	struct ref k = ir_get(f, r.i), at = step_to(f, vec, k, 3), addr = user_word(c, 8, at);
	only_if(c, O_NE, addr, 0, r.done);
	copy_text(c, ir_addi(f, k, CALL_NESTED), addr, ir_con(f, MIN(c->limit + 2, (u32)CALL_PATH)),
		  unread);
	ir_jmp(f, next);
	ir_at(f, unread);
	copy_data(c, ir_addi(f, k, CALL_UNREAD), at, ir_con(f, 8), 8, next);
	ir_jmp(f, next);
	ir_at(f, next);
	ir_slot_release(f, mark);
	rounds_end(f, r);
}

/*
 * Buffers that are still to be copied, and the messages behind them: variables. A struct msghdr begins like
 * three buffers: address and length of the name, of the vectors, of control messages. So the pieces of a
 * message are copied like buffers, and then its buffers.
 *
 * There are few branches: in a loop the verifier walks a hundred instructions for each one, in each round.
 */
struct buffers {
	struct ref vec, left; /* where the next one is, how many from it on */
	struct ref id, most;  /* of its piece */
	struct ref parts;     /* these are the parts of a message: 0 or 1 */
	struct ref msg, nmsg; /* the message, how many behind it */
	struct ref message,
		zero; /* the number of its pieces; zero: what the verifier does not know */
};

/* x or y, when z, which is 0 or 1, is 0 or 1. */
static struct ref choose(struct fn *f, struct ref z, struct ref x, struct ref y)
{
	return ir_op2(f, O_ADD, x, ir_op2(f, O_MUL, z, ir_op2(f, O_SUB, y, x)));
}

/* The buffers of the message, or the parts of the next one. */
static void next_buffers(struct copying *c, struct buffers *b)
{
	enum { IOV = 16, NIOV = 24 };
	struct fn *f = c->f;
	struct ref had = ir_get(f, b->parts), msg = ir_get(f, b->msg),
		   more = ir_op2(f, O_XOR, had, ir_con(f, 1));
	struct ref message = ir_op2(f, O_ADD, ir_get(f, b->message),
				    ir_op2(f, O_MUL, more, ir_con(f, CALL_MESSAGE)));
	msg = ir_op2(f, O_ADD, msg, ir_op2(f, O_MUL, more, ir_con(f, CALL_MMSGHDR)));
	ir_set(f, b->nmsg, ir_op2(f, O_SUB, ir_get(f, b->nmsg), more));
	ir_set(f, b->msg, msg);
	ir_set(f, b->message, message);
	ir_set(f, b->parts, more);
	ir_set(f, b->id,
	       ir_addi(f,
		       ir_op2(f, O_ADD, message,
			      ir_op2(f, O_MUL, had, ir_con(f, CALL_NESTED - CALL_MSG_NAME))),
		       CALL_MSG_NAME));
	ir_set(f, b->most, choose(f, had, ir_con(f, CALL_CONTROL), ir_con(f, c->most)));
	ir_set(f, b->vec, choose(f, had, msg, user_word(c, 8, ir_addi(f, msg, IOV))));
	ir_set(f, b->left,
	       choose(f, had, ir_con(f, CALL_MSG_PARTS), user_word(c, 4, ir_addi(f, msg, NIOV))));
}

/* The lesser of the two. */
static struct ref lesser(struct fn *f, struct ref x, struct ref y)
{
	struct ref d = ir_op2(f, O_SUB, x, y), below = ir_op2(f, O_SHR, d, ir_con(f, 63));
	return ir_op2(f, O_ADD, y, ir_op2(f, O_MUL, d, below));
}

/* A piece that cannot be read has a number that nobody asks for. */
static void copy_buffer(struct copying *c, struct buffers *b, struct blk *out)
{
	enum { FAILED = 1 << 16, IOV_LEFT = 2, MASK = CALL_PATH - 1 };
	struct fn *f = c->f;
	struct ref vec = ir_get(f, b->vec), left = ir_get(f, b->left), id = ir_get(f, b->id);
	struct ref addr = user_word(c, 8, vec), n = user_word(c, 4, ir_addi(f, vec, 8));
	/* The vectors, when two parts are left, are counted: 16 bytes each. */
	struct ref counted = ir_op2(f, O_AND, ir_op2(f, O_SHR, left, ir_con(f, 1)),
				    ir_op2(f, O_XOR, left, ir_get(f, b->parts)));
	counted = ir_op2(f, O_AND, counted, ir_get(f, b->parts));
	n = ir_op2(f, O_SHL, n, ir_op2(f, O_SHL, counted, ir_con(f, IOV_LEFT)));
	n = ir_op2(f, O_AND, ir_hide(f, lesser(f, n, ir_get(f, b->most))), ir_con(f, MASK));
	ir_set(f, b->id, ir_addi(f, id, 1));
	ir_set(f, b->vec, ir_addi(f, vec, 16));
	ir_set(f, b->left, ir_addi(f, left, -1));
	struct ref piece = next_piece(c, out);
	struct ref bad = ir_call(f, BPF_FUNC_probe_read_user,
				 ARGS(ir_addi(f, piece, sizeof(struct call_piece)), n, addr));
	close_piece(c, piece, ir_op2(f, O_ADD, id, ir_op2(f, O_AND, bad, ir_con(f, FAILED))), n);
}
_Static_assert(CALL_CONTROL < CALL_PATH && 16 * CALL_MAX_NESTED < CALL_PATH, "lengths are masked");

static void copy_buffers(struct copying *c, struct buffers *b)
{
	struct fn *f = c->f;
	struct rounds r = rounds_begin(f, CALL_ROUNDS);
	struct blk *next = ir_blk(f), *other = ir_blk(f), *buffer = ir_blk(f);
	u32 mark = ir_slot_mark(f);
	ir_br(f, O_EQ, ir_get(f, b->left), ir_con(f, 0), other, buffer);
	ir_at(f, other);
	only_if(c, O_NE, ir_op2(f, O_ADD, ir_get(f, b->nmsg), ir_get(f, b->parts)), 0, r.done);
	next_buffers(c, b);
	ir_br(f, O_EQ, ir_get(f, b->left), ir_con(f, 0), next, buffer);
	ir_at(f, buffer);
	copy_buffer(c, b, next);
	ir_jmp(f, next);
	ir_at(f, next);
	ir_slot_release(f, mark);
	rounds_end(f, r);
}

/* What a struct at addr points to: clone3()'s descriptor; with -v a filter's instructions. */
static void copy_pointed(struct copying *c, struct ref op, struct ref addr, enum call_phase phase,
			 bool whole, struct blk *done)
{
	enum { AT_POINTER = 8, FD = 4, COUNT = 2, INSTRUCTION = 3 /* 1 << 3 bytes */ };
	struct fn *f = c->f;
	struct blk *pointed = ir_blk(f), *other = ir_blk(f);
	if (phase == CALL_ENTER && !whole) {
		only_if(c, O_NE, op, NESTED_FILTER, done);
		return;
	}
	ir_br(f, O_EQ, op, ir_con(f, phase == CALL_ENTER ? NESTED_FILTER : NESTED_PIDFD), pointed,
	      other);
	ir_at(f, pointed);
	struct ref at = user_word(c, 8, ir_addi(f, addr, AT_POINTER)), n = ir_con(f, FD);
	if (phase == CALL_ENTER)
		n = ir_op2(f, O_SHL, user_word(c, COUNT, addr), ir_con(f, INSTRUCTION));
	copy_data(c, ir_con(f, CALL_NESTED), at, n, CALL_PATH, done);
	ir_jmp(f, done);
	ir_at(f, other);
}

static void copy_all_nested(struct copying *c, struct ref plan, enum call_phase phase, bool whole)
{
	struct fn *f = c->f;
	struct blk *done = ir_blk(f), *msg = ir_blk(f), *one = ir_blk(f), *several = ir_blk(f),
		   *vec = ir_blk(f), *go = ir_blk(f);
	struct ref op = ir_load(f, 4, plan, 4 * CALL_ARGS);
	only_if(c, O_NE, op, NESTED_NONE, done);
	only_if(c, O_SGE, c->ret, 0, done);
	struct ref i = ir_op2(f, O_AND, ir_load(f, 1, plan, 4 * CALL_ARGS + 4), ir_con(f, 3));
	struct ref at = step_to(f, c->base, i, 3), addr = ir_load(f, 8, at, AT_ARG);
	struct ref count = ir_load(f, 8, at, AT_ARG + 8);
	only_if(c, O_NE, addr, 0, done);
	copy_pointed(c, op, addr, phase, whole, done);
	if (phase == CALL_ENTER) {
		struct blk *words = ir_blk(f), *vectors = ir_blk(f);
		ir_br(f, O_EQ, op, ir_con(f, NESTED_WORDS), words, vectors);
		ir_at(f, words);
		copy_words(c, addr);
		ir_jmp(f, done);
		ir_at(f, vectors);
	}
	struct buffers b = {ir_var(f), ir_var(f), ir_var(f),
			    ir_var(f), ir_var(f), ir_var(f),
			    ir_var(f), ir_var(f), ir_addi(f, ir_hide(f, ir_con(f, 1)), -1)};
	ir_set(f, b.vec, addr);
	ir_set(f, b.id, ir_addi(f, b.zero, CALL_NESTED));
	ir_set(f, b.most, ir_addi(f, b.zero, c->most));
	ir_set(f, b.msg, ir_addi(f, addr, -CALL_MMSGHDR));
	ir_set(f, b.message, b.zero);
	ir_set(f, b.parts, b.zero);
	ir_br(f, O_EQ, op, ir_con(f, NESTED_VECTOR), vec, msg);
	ir_at(f, vec);
	ir_set(f, b.left, count);
	ir_set(f, b.nmsg, b.zero);
	ir_jmp(f, go);
	ir_at(f, msg);
	ir_set(f, b.left, b.zero);
	ir_br(f, O_EQ, op, ir_con(f, NESTED_MSG), one, several);
	ir_at(f, one);
	ir_set(f, b.nmsg, ir_addi(f, b.zero, 1));
	ir_jmp(f, go);
	ir_at(f, several);
	ir_set(f, b.nmsg, phase == CALL_EXIT ? c->ret : count);
	ir_jmp(f, go);
	ir_at(f, go);
	copy_buffers(c, &b);
	ir_jmp(f, done);
	ir_at(f, done);
}

/* ---- what descriptors stand for ---- */

/* Where things are, from the kernel's types. */
struct file_layout {
	u32 files, fdt, max_fds, fd, fs, pwd, root;     /* of the task */
	u32 dentry, mnt, inode, private_data;           /* of a file, a path: dentry, mnt */
	u32 path_dentry, path_mnt, parent, name, pprev; /* of a path, a dentry */
	u32 mnt_root, mount, mount_parent, mountpoint;  /* of a vfsmount, a mount */
	u32 mode, ino, rdev, sb, dev;                   /* of an inode */
	u32 sk, sk_family, sk_num, sk_dport, sk_daddr, sk_saddr;   /* of a socket, a sock */
	u32 sk_daddr6, sk_saddr6, sk_type, sk_protocol, sk_socket; /* the same */
	u32 socket_file, peer;                                     /* of a socket, a unix_sock */
};

static bool file_layout(struct host *h, struct file_layout *ret)
{
	struct types *k = host_btf(h);
	struct file_layout o = {0};
	const struct {
		const char *of, *path;
		u32 *at;
	} places[] = {
		{"task_struct", "files", &o.files},
		{"files_struct", "fdt", &o.fdt},
		{"fdtable", "max_fds", &o.max_fds},
		{"fdtable", "fd", &o.fd},
		{"task_struct", "fs", &o.fs},
		{"fs_struct", "pwd", &o.pwd},
		{"fs_struct", "root", &o.root},
		{"file", "f_path.dentry", &o.dentry},
		{"file", "f_path.mnt", &o.mnt},
		{"file", "f_inode", &o.inode},
		{"file", "private_data", &o.private_data},
		{"path", "dentry", &o.path_dentry},
		{"path", "mnt", &o.path_mnt},
		{"dentry", "d_parent", &o.parent},
		{"dentry", "d_name.name", &o.name},
		{"dentry", "d_hash.pprev", &o.pprev},
		{"vfsmount", "mnt_root", &o.mnt_root},
		{"mount", "mnt", &o.mount},
		{"mount", "mnt_parent", &o.mount_parent},
		{"mount", "mnt_mountpoint", &o.mountpoint},
		{"inode", "i_mode", &o.mode},
		{"inode", "i_ino", &o.ino},
		{"inode", "i_rdev", &o.rdev},
		{"inode", "i_sb", &o.sb},
		{"super_block", "s_dev", &o.dev},
		{"socket", "sk", &o.sk},
		{"socket", "file", &o.socket_file},
		{"sock", "__sk_common.skc_family", &o.sk_family},
		{"sock", "__sk_common.skc_num", &o.sk_num},
		{"sock", "__sk_common.skc_dport", &o.sk_dport},
		{"sock", "__sk_common.skc_daddr", &o.sk_daddr},
		{"sock", "__sk_common.skc_rcv_saddr", &o.sk_saddr},
		{"sock", "sk_type", &o.sk_type},
		{"sock", "sk_protocol", &o.sk_protocol},
		{"sock", "sk_socket", &o.sk_socket},
	};
	for (size_t i = 0; i < countof(places); i++)
		if (!k || !builtin_offset_of(k, places[i].of, places[i].path, places[i].at))
			return false;
	/* Without IPv6 or UNIX sockets there are no such members. */
	if (!builtin_offset_of(k, "sock", "__sk_common.skc_v6_daddr", &o.sk_daddr6))
		o.sk_daddr6 = o.sk_daddr;
	if (!builtin_offset_of(k, "sock", "__sk_common.skc_v6_rcv_saddr", &o.sk_saddr6))
		o.sk_saddr6 = o.sk_saddr;
	if (!builtin_offset_of(k, "unix_sock", "peer", &o.peer))
		o.peer = 0;
	*ret = o;
	return true;
}

static bool check_limit(struct sema *s, struct node *call)
{
	i64 limit, flags;
	struct file_layout layout;
	if (!call_check_shown(s, call, CALL_OF_LIVE, &limit, &flags))
		return false;
	if (flags & CALL_PATHS && !file_layout(s->c->host, &layout))
		return sema_fail(s, E_LACKS, call->loc,
				 "the paths of descriptors need the kernel's types (BTF)");
	return true;
}

/* size bytes of the kernel at from + off; 0 when they cannot be read. */
static struct ref kernel_word(struct copying *c, u32 size, struct ref from, u32 off)
{
	struct mem m = lower_tmp(c->l, 8);
	lower_store(c->l, 8, m, ir_con(c->f, 0));
	lower_read(c->l, m, size, from, (i32)off, AS_KERNEL);
	return lower_load(c->l, 8, false, m);
}

/* A path: where in the tree of names, and of mounts. */
struct spot {
	struct ref dentry, mnt; /* variables */
};

/*
 * The names from there up to the root of the process, each a piece; an empty one when the root was
 * reached. A step is a name, or from the root of a mounted file system to where it is mounted.
 */
static void copy_names(struct copying *c, const struct file_layout *o, struct ref id, struct spot p)
{
	enum { STEPS = 20, NAME = 256 };
	struct fn *f = c->f;
	struct blk *done = ir_blk(f), *top = ir_blk(f);
	struct ref fs = kernel_word(c, 8, c->task, o->fs);
	struct ref root = kernel_word(c, 8, fs, o->root + o->path_dentry);
	struct ref root_mnt = kernel_word(c, 8, fs, o->root + o->path_mnt);
	struct rounds r = rounds_begin(f, STEPS);
	struct blk *at_root = ir_blk(f), *same = ir_blk(f), *mounted = ir_blk(f), *up = ir_blk(f),
		   *name = ir_blk(f), *next = ir_blk(f);
	u32 mark = ir_slot_mark(f);
	struct ref dentry = ir_get(f, p.dentry), mnt = ir_get(f, p.mnt);
	ir_br(f, O_EQ, dentry, root, same, at_root);
	ir_at(f, same);
	ir_br(f, O_EQ, mnt, root_mnt, top, at_root);
	ir_at(f, at_root);
	ir_br(f, O_EQ, dentry, kernel_word(c, 8, mnt, o->mnt_root), mounted, name);

	ir_at(f, mounted);
	struct ref mount = ir_addi(f, mnt, -(i64)o->mount);
	struct ref parent = kernel_word(c, 8, mount, o->mount_parent);
	ir_br(f, O_EQ, parent, mount, top, up);
	ir_at(f, up);
	ir_set(f, p.dentry, kernel_word(c, 8, mount, o->mountpoint));
	ir_set(f, p.mnt, ir_addi(f, parent, o->mount));
	ir_jmp(f, next);

	ir_at(f, name);
	struct ref text = kernel_word(c, 8, dentry, o->name);
	struct ref piece = next_piece(c, done);
	struct ref n =
		ir_call(f, BPF_FUNC_probe_read_kernel_str,
			ARGS(ir_addi(f, piece, sizeof(struct call_piece)), ir_con(f, NAME), text));
	only_if(c, O_SGT, n, 0, done);
	only_if(c, O_ULE, n, NAME, done);
	close_piece(c, piece, id, n);
	struct ref above = kernel_word(c, 8, dentry, o->parent);
	struct blk *go = ir_blk(f);
	ir_br(f, O_EQ, above, dentry, top, go);
	ir_at(f, go);
	ir_set(f, p.dentry, above);
	ir_jmp(f, next);
	ir_at(f, next);
	ir_slot_release(f, mark);
	rounds_end(f, r);
	ir_jmp(f, done);
	ir_at(f, top);
	close_piece(c, next_piece(c, done), id, ir_con(f, 0));
	ir_jmp(f, done);
	ir_at(f, done);
}

#define AT_FILE(member) (i32)(sizeof(struct call_piece) + offsetof(struct call_file, member))

/* Whom a socket is connected with. */
static void copy_socket(struct copying *c, const struct file_layout *o, struct ref piece,
			struct ref file)
{
	struct fn *f = c->f;
	struct blk *done = ir_blk(f), *six = ir_blk(f), *four = ir_blk(f), *local = ir_blk(f);
	struct ref sk = kernel_word(c, 8, kernel_word(c, 8, file, o->private_data), o->sk);
	struct ref family = kernel_word(c, 2, sk, o->sk_family);
	ir_store(f, 4, piece, AT_FILE(family), family);
	ir_store(f, 4, piece, AT_FILE(type), kernel_word(c, 2, sk, o->sk_type));
	ir_store(f, 4, piece, AT_FILE(protocol), kernel_word(c, 1, sk, o->sk_protocol));
	ir_store(f, 4, piece, AT_FILE(num), kernel_word(c, 2, sk, o->sk_num));
	ir_store(f, 4, piece, AT_FILE(dport), kernel_word(c, 2, sk, o->sk_dport));
	for (u32 i = 0; i < 2; i++) {
		struct blk *next = ir_blk(f), *other = ir_blk(f);
		u32 from = i ? o->sk_daddr : o->sk_saddr, from6 = i ? o->sk_daddr6 : o->sk_saddr6;
		i32 to = i ? AT_FILE(daddr) : AT_FILE(saddr);
		ir_br(f, O_EQ, family, ir_con(f, 10), six = ir_blk(f), other);
		ir_at(f, six);
		ir_store(f, 8, piece, to, kernel_word(c, 8, sk, from6));
		ir_store(f, 8, piece, to + 8, kernel_word(c, 8, sk, from6 + 8));
		ir_jmp(f, next);
		ir_at(f, other);
		ir_br(f, O_EQ, family, ir_con(f, 2), four = ir_blk(f), next);
		ir_at(f, four);
		ir_store(f, 8, piece, to, kernel_word(c, 4, sk, from));
		ir_jmp(f, next);
		ir_at(f, next);
	}
	ir_br(f, O_EQ, family, ir_con(f, 1), local, done);
	ir_at(f, local);
	if (o->peer) {
		struct ref peer = kernel_word(c, 8, sk, o->peer);
		only_if(c, O_NE, peer, 0, done);
		struct ref socket = kernel_word(c, 8, peer, o->sk_socket);
		struct ref other = kernel_word(c, 8, socket, o->socket_file);
		struct ref inode = kernel_word(c, 8, other, o->inode);
		ir_store(f, 8, piece, AT_FILE(peer), kernel_word(c, 8, inode, o->ino));
	}
	ir_jmp(f, done);
	ir_at(f, done);
}

/* What descriptor fd (a value) of argument i stands for, to out when it is none. */
static void copy_file(struct copying *c, const struct file_layout *o, struct ref i, struct ref fd,
		      bool sockets, struct blk *out)
{
	enum { CWD = -100, SOCKET = 0140000, TYPE = 0170000 };
	struct fn *f = c->f;
	struct spot p = {ir_var(f), ir_var(f)};
	struct blk *cwd = ir_blk(f), *open = ir_blk(f), *names = ir_blk(f);
	struct ref low = ir_op2(f, O_AND, fd, ir_con(f, 0xffffffff));
	ir_br(f, O_EQ, low, ir_con(f, (u32)CWD), cwd, open);
	ir_at(f, cwd);
	struct ref fs = kernel_word(c, 8, c->task, o->fs);
	ir_set(f, p.dentry, kernel_word(c, 8, fs, o->pwd + o->path_dentry));
	ir_set(f, p.mnt, kernel_word(c, 8, fs, o->pwd + o->path_mnt));
	ir_jmp(f, names);

	ir_at(f, open);
	struct ref table = kernel_word(c, 8, kernel_word(c, 8, c->task, o->files), o->fdt);
	struct ref most = kernel_word(c, 4, table, o->max_fds);
	struct blk *in = ir_blk(f);
	ir_br(f, O_ULT, low, most, in, out);
	ir_at(f, in);
	struct ref at = ir_op2(f, O_ADD, kernel_word(c, 8, table, o->fd),
			       ir_op2(f, O_SHL, low, ir_con(f, 3)));
	struct ref file = kernel_word(c, 8, at, 0);
	only_if(c, O_NE, file, 0, out);
	struct ref dentry = kernel_word(c, 8, file, o->dentry);
	struct ref mnt = kernel_word(c, 8, file, o->mnt);
	struct ref inode = kernel_word(c, 8, file, o->inode);
	struct ref mode = kernel_word(c, 2, inode, o->mode);
	struct ref piece = next_piece(c, out);
	for (i32 k = 0; k < (i32)sizeof(struct call_file); k += 8)
		ir_store(f, 8, piece, (i32)sizeof(struct call_piece) + k, ir_con(f, 0));
	ir_store(f, 8, piece, AT_FILE(ino), kernel_word(c, 8, inode, o->ino));
	ir_store(f, 4, piece, AT_FILE(rdev), kernel_word(c, 4, inode, o->rdev));
	ir_store(f, 4, piece, AT_FILE(mode), mode);
	struct blk *self = ir_blk(f), *detached = ir_blk(f), *hashed = ir_blk(f),
		   *unhashed = ir_blk(f), *ready = ir_blk(f);
	ir_br(f, O_EQ, kernel_word(c, 8, dentry, o->parent), dentry, self, hashed);
	ir_at(f, self); /* the root of a file system, or of none */
	ir_br(f, O_EQ, kernel_word(c, 8, mnt, o->mnt_root), dentry, ready, detached);
	ir_at(f, detached);
	ir_store(f, 4, piece, AT_FILE(detached), ir_con(f, 1));
	ir_jmp(f, ready);
	ir_at(f, hashed);
	ir_br(f, O_EQ, kernel_word(c, 8, dentry, o->pprev), ir_con(f, 0), unhashed, ready);
	ir_at(f, unhashed);
	ir_store(f, 4, piece, AT_FILE(unlinked), ir_con(f, 1));
	ir_jmp(f, ready);
	ir_at(f, ready);
	if (sockets) {
		struct blk *socket = ir_blk(f), *other = ir_blk(f);
		ir_br(f, O_EQ, ir_op2(f, O_AND, mode, ir_con(f, TYPE)), ir_con(f, SOCKET), socket,
		      other);
		ir_at(f, socket);
		copy_socket(c, o, piece, file);
		ir_jmp(f, other);
		ir_at(f, other);
	}
	ir_store(f, 4, piece, 0, ir_addi(f, i, CALL_FILE));
	ir_store(f, 4, piece, 4, ir_con(f, sizeof(struct call_file)));
	ir_store(f, 8, c->base, AT_USED,
		 ir_addi(f, load(c, 8, AT_USED),
			 sizeof(struct call_file) + sizeof(struct call_piece)));
	ir_set(f, p.dentry, dentry);
	ir_set(f, p.mnt, mnt);
	ir_jmp(f, names);
	ir_at(f, names);
	copy_names(c, o, ir_addi(f, i, CALL_NAMES), p);
}
_Static_assert(sizeof(struct call_file) % 8 == 0, "pieces are");

static void copy_files(struct copying *c, const struct file_layout *o, struct ref plan,
		       enum call_phase phase, bool sockets)
{
	struct fn *f = c->f;
	c->task = ir_call(f, BPF_FUNC_get_current_task, 0, NULL);
	for (u32 k = 0; k < (phase == CALL_ENTER ? 2 : 1); k++) {
		struct blk *done = ir_blk(f);
		u32 mark = ir_slot_mark(f);
		struct ref one = ir_load(f, 1, plan, 4 * CALL_ARGS + 5 + (i32)k);
		only_if(c, O_NE, one, 0, done);
		struct ref i = ir_op2(f, O_AND, ir_addi(f, one, -1), ir_con(f, 7));
		struct ref fd = ir_load(f, 8, step_to(f, c->base, i, 3), AT_ARG);
		copy_file(c, o, i, fd, sockets, done);
		ir_jmp(f, done);
		ir_at(f, done);
		ir_slot_release(f, mark);
	}
}

static void put_head(struct lower *l, struct mem dst, enum call_phase phase, struct ref nr)
{
	struct fn *f = l->f;
	struct ref ids = builtin_pid_tgid(l);
	lower_store(l, 4, mem_at(dst, AT_NR), nr);
	lower_store(l, 4, mem_at(dst, AT_PHASE), ir_con(f, phase));
	lower_store(l, 4, mem_at(dst, AT_TID), ids);
	lower_store(l, 4, mem_at(dst, AT_PID), ir_op2(f, O_SHR, ids, ir_con(f, 32)));
	lower_store(l, 8, mem_at(dst, AT_LIMIT), ir_con(f, 0));
	lower_store(l, 8, mem_at(dst, AT_TIME), ir_call(f, BPF_FUNC_ktime_get_ns, 0, NULL));
	lower_store(l, 8, mem_at(dst, AT_USED), ir_con(f, 0));
}

/* The arguments; those of 32-bit programs are the low halves of other registers. */
static void put_args(struct lower *l, struct mem dst, struct ref regs, struct mem word,
		     struct ref compat)
{
	const struct arch_calls *calls = &l->c->host->arch->calls;
	const struct arch_calls *other = calls->compat ? calls->compat : calls;
	struct fn *f = l->f;
	/* all bits, or the low 32 */
	struct ref mask =
		ir_op2(f, O_SHR, ir_con(f, ~0ull), ir_op2(f, O_SHL, compat, ir_con(f, 5)));
	for (u32 i = 0; i < CALL_ARGS; i++) {
		i64 apart = other->arg[i] - calls->arg[i];
		struct ref at =
			ir_op2(f, O_ADD, regs, ir_op2(f, O_MUL, compat, ir_con(f, (u64)apart)));
		lower_read(l, word, 8, apart ? at : regs, calls->arg[i], AS_KERNEL);
		lower_store(l, 8, mem_at(dst, AT_ARG + 8 * (i32)i),
			    ir_op2(f, O_AND, lower_load(l, 8, false, word), mask));
	}
}

static struct ref lower_call(struct lower *l, struct node *call, struct mem dst,
			     enum call_phase phase)
{
	const struct arch_calls *calls = &l->c->host->arch->calls;
	struct fn *f = l->f;
	i64 limit = 0, flags = 0;
	struct file_layout layout;
	struct ref regs = lower_operand(l, call_arg(call, 0));
	struct ref val = lower_operand(l, call_arg(call, 1));
	struct mem word = lower_tmp(l, 8);
	struct blk *done = ir_blk(f);
	struct ref nr = val;

	node_int(call_arg(call, 2), &limit);
	struct ref compat = call_is_compat(l);
	put_args(l, dst, regs, word, compat);
	if (phase == CALL_EXIT) {
		lower_read(l, word, calls->nr_size, regs, calls->nr, AS_KERNEL);
		nr = lower_load(l, calls->nr_size, false, word);
	}
	nr = ir_op2(f, O_AND, nr, ir_con(f, 0xffffffff));
	put_head(l, dst, phase, nr);
	if (call_arg(call, 3))
		node_int(call_arg(call, 3), &flags);
	struct ref id = ir_op2(f, O_OR, nr, ir_op2(f, O_SHL, compat, ir_con(f, 32)));
	lower_store(l, 4, mem_at(dst, AT_LIMIT), ir_con(f, (u64)limit));
	struct ref shown = call_shown_flags(l, call, CALL_OF_LIVE, id, flags);
	shown = ir_op2(f, O_OR, shown, ir_op2(f, O_MUL, compat, ir_con(f, CALL_COMPAT)));
	lower_store(l, 4, mem_at(dst, AT_FLAGS), shown);
	lower_store(l, 8, mem_at(dst, AT_ARG + 8 * CALL_RET),
		    phase == CALL_EXIT ? val : ir_con(f, 0));
	lower_store(l, 8, mem_at(dst, AT_ARG + 8 * CALL_RET + 8), ir_con(f, 0));
	struct copying c = {l,
			    f,
			    lower_addr(l, dst),
			    phase == CALL_EXIT ? val : ir_con(f, 0),
			    (u32)limit,
			    call_dumps(call, CALL_OF_LIVE) ? CALL_DUMPED : MAX((u32)limit, 1u),
			    REF_NONE};
	struct ref index = call_index(l, id, done);
	struct ref table = ir_op1(f, O_MAPVAL, 8, ir_map(plans(l, phase)->index));
	struct ref plan = ir_op2(f, O_ADD, table, ir_op2(f, O_SHL, index, ir_con(f, 5)));
	struct rounds r = rounds_begin(f, CALL_ARGS);
	copy_arg(&c, plan, ir_get(f, r.i));
	rounds_end(f, r);
	if (flags & CALL_PATHS && file_layout(l->c->host, &layout))
		copy_files(&c, &layout, plan, phase, flags & CALL_SOCKETS);
	copy_all_nested(&c, plan, phase, flags & CALL_WHOLE);
	ir_jmp(f, done);
	ir_at(f, done);
	call_put_length(l, dst, load(&c, 8, AT_USED));
	return REF_NONE;
}

static struct ref lower_call_enter(struct lower *l, struct node *call, struct mem dst)
{
	return lower_call(l, call, dst, CALL_ENTER);
}

static struct ref lower_call_exit(struct lower *l, struct node *call, struct mem dst)
{
	return lower_call(l, call, dst, CALL_EXIT);
}

static struct ref lower_signal(struct lower *l, struct node *call, struct mem dst)
{
	struct ref info = lower_operand(l, call_arg(call, 0));
	put_head(l, dst, CALL_SIGNAL, ir_con(l->f, 0));
	lower_read(l, mem_at(dst, AT_ARG), 8 * CALL_ARGS, info, 0, AS_KERNEL);
	call_put_length(l, dst, ir_con(l->f, 0));
	return REF_NONE;
}

static struct ref lower_ended(struct lower *l, struct node *call, struct mem dst)
{
	struct ref code = lower_value(l, call_arg(call, 0));
	put_head(l, dst, CALL_ENDED, ir_con(l->f, 0));
	struct ref open = call_arg(call, 1) ? lower_value(l, call_arg(call, 1)) : ir_con(l->f, 1);
	lower_store(l, 8, mem_at(dst, AT_ARG), code);
	lower_store(l, 8, mem_at(dst, AT_ARG + 8), open);
	call_put_length(l, dst, ir_con(l->f, 0));
	return REF_NONE;
}

static struct ref lower_superseded(struct lower *l, struct node *call, struct mem dst)
{
	struct ref old = lower_value(l, call_arg(call, 0));
	put_head(l, dst, CALL_MOVED, ir_con(l->f, 0));
	lower_store(l, 8, mem_at(dst, AT_ARG), old);
	call_put_length(l, dst, ir_con(l->f, 0));
	return REF_NONE;
}

const struct builtin builtin_syscall[] = {
	{"auto syscall_enter(any regs, int id, lit limit, [lit flags], [text raw], [text shallow], "
	 "[int dump])",
	 lower_call_enter, .type = call_type, .check = check_limit, .recorded = "syscall_kept",
	 .doc = "In rawtracepoint:sys_enter: the system call with its arguments, for a column of "
		"kind call, with at most limit bytes of each string. flags: 2 unprintable strings "
		"in hex, 4 all strings in hex, 8 paths of descriptors, 16 peers of sockets, 32 two "
		"lines for calls that calls of other threads interrupt, 64 all members of "
		"structures, 128 all arguments as numbers, 256 structures and arrays as addresses, "
		"512 flags and constants as numbers, 1024 as numbers followed by their names. raw, "
		"shallow: sets of calls, as of syscall_in(), to which flags 128 and 256 apply. "
		"dump: if true, the data of this call is shown in hex below it."},
	{"auto syscall_exit(any regs, int ret, lit limit, [lit flags], [text raw], [text shallow], "
	 "[int dump])",
	 lower_call_exit, .type = call_type, .check = check_limit, .recorded = "syscall_kept",
	 .doc = "In rawtracepoint:sys_exit: the system call with its result, for a column of kind "
		"call. flags as of syscall_enter(), and 1: the duration."},
	{"auto syscall_signal(any info)", lower_signal, .type = call_type,
	 .recorded = "syscall_kept",
	 .doc = "In rawtracepoint:signal_deliver: the signal, for a column of kind call."},
	{"auto syscall_kept(any kept, lit kept_limit, lit kept_flags, [lit limit], [lit flags], "
	 "[text raw], [text shallow], [int dump])",
	 call_lower_kept, .type = call_type, .check = call_check_kept},
	{"auto syscall_ended(int code, [int open])", lower_ended, .type = call_type,
	 .doc = "In tracepoint:sched:sched_process_exit: the end of the thread, for a column of "
		"kind call. open: 1 (default) with the unfinished call of the thread, 0 without "
		"it; 2 and 3 are 0 and 1 without the exit status."},
	{"auto syscall_superseded(int old)", lower_superseded, .type = call_type,
	 .doc = "In tracepoint:sched:sched_process_exec, if args.old_pid is another thread: that "
		"thread replaces the process and gets its id, for a column of kind call."},
	{0},
};
