/*
 * path.c - paths of the current task: cwd abs_path.
 *
 * A path is put together from its end: from a directory up to the root of the process, a name is put
 * before what is there already.
 *
 *	| ... /usr/share | / text of abs_path() NUL |
 *	0     ^ at       ^ room
 */
#include "builtin/common.h"
#include <linux/bpf.h>

enum {
	STEPS = 32,     /* names, and steps from a mounted file system to where it is mounted */
	MAX_STEPS = 64, /* that a script may ask for */
	NAME = 255,     /* characters of a name, at most: one less than a power of two */
	MARK = 3,       /* "..." before a path that was cut */
	LONGEST = 4096, /* bytes of a path, with its NUL */
};
_Static_assert((NAME & (NAME + 1)) == 0, "the verifier understands it as a mask");

/* Offsets in the kernel's structs. */
struct layout {
	u32 fs, pwd, root;                             /* of a task, an fs_struct */
	u32 dentry, mnt;                               /* of a path */
	u32 parent, name, len;                         /* of a dentry */
	u32 mnt_root, mount, mount_parent, mountpoint; /* of a vfsmount, a mount */
};

static bool layout(struct host *h, struct layout *o)
{
	struct types *k = host_btf(h);

	return k && builtin_offset_of(k, "task_struct", "fs", &o->fs) &&
	       builtin_offset_of(k, "fs_struct", "pwd", &o->pwd) &&
	       builtin_offset_of(k, "fs_struct", "root", &o->root) &&
	       builtin_offset_of(k, "path", "dentry", &o->dentry) &&
	       builtin_offset_of(k, "path", "mnt", &o->mnt) &&
	       builtin_offset_of(k, "dentry", "d_parent", &o->parent) &&
	       builtin_offset_of(k, "dentry", "d_name.name", &o->name) &&
	       builtin_offset_of(k, "dentry", "d_name.len", &o->len) &&
	       builtin_offset_of(k, "vfsmount", "mnt_root", &o->mnt_root) &&
	       builtin_offset_of(k, "mount", "mnt", &o->mount) &&
	       builtin_offset_of(k, "mount", "mnt_parent", &o->mount_parent) &&
	       builtin_offset_of(k, "mount", "mnt_mountpoint", &o->mountpoint);
}

static bool steps_of(const struct node *call, i64 *ret)
{
	*ret = STEPS;
	return !call_arg(call, 1) || node_int(call_arg(call, 1), ret);
}

static const struct type *type_path(struct sema *s, struct node *call)
{
	(void)call;
	return type_string(s->a, (u32)MIN(MAX(s->u->config.max_strlen, 1), LONGEST));
}

static bool check_path(struct sema *s, struct node *call)
{
	struct layout o;
	i64 steps;

	if (!layout(s->c->host, &o))
		return sema_fail(s, E_FEATURE, call->loc,
				 "%.*s needs the kernel's BTF: struct fs_struct, dentry and mount",
				 STRF(call->name));
	if (!steps_of(call, &steps) || steps < 1 || steps > MAX_STEPS)
		return sema_fail(s, E_RANGE, call_arg(call, 1)->loc,
				 "abs_path() expects a literal from 1 to %d as the number of "
				 "directories",
				 MAX_STEPS);
	return !call_arg(call, 0) || builtin_check_text(s, call, 0);
}

struct walk {
	struct lower *l;
	struct fn *f;
	struct layout o;
	struct ref task;
	struct ref base; /* of the memory above */
	u32 room;        /* a power of two */
	u32 steps;
	struct ref first;              /* before this place nothing is put */
	struct ref at, dentry, mnt, i; /* variables; i: steps that were made */
};

static struct ref word(struct walk *w, struct ref from, u32 off)
{
	return lower_read_scalar(w->l, &type_u64, from, (i32)off, AS_KERNEL);
}

/* Goes on in a new block when a op b holds, else to out. */
static void only_if(struct fn *f, enum op op, struct ref a, struct ref b, struct blk *out)
{
	struct blk *go = ir_blk(f);

	ir_br(f, op, a, b, go, out);
	ir_at(f, go);
}

static void put_bytes(struct walk *w, struct ref at, const char *z)
{
	struct ref to = ir_op2(w->f, O_ADD, w->base, at);

	for (i32 i = 0; z[i]; i++)
		ir_store(w->f, 1, to, i, ir_con(w->f, (u8)z[i]));
}

/* n bytes more; the mask changes nothing, and tells the verifier that they are inside. */
static struct ref back(struct walk *w, struct ref n)
{
	struct ref at = ir_op2(w->f, O_SUB, ir_get(w->f, w->at), n);

	at = ir_op2(w->f, O_AND, at, ir_con(w->f, w->room - 1));
	ir_set(w->f, w->at, at);
	return at;
}

/* A slash and the name of a directory; to full when there is no room for them and a mark. */
static void put_name(struct walk *w, struct ref dentry, struct blk *full)
{
	struct fn *f = w->f;
	struct ref len = lower_read_scalar(w->l, &type_u32, dentry, (i32)w->o.len, AS_KERNEL);
	struct ref name = word(w, dentry, w->o.name);

	len = ir_op2(f, O_AND, len, ir_con(f, NAME));
	/* The length itself is compared: Linux 6.12 forgets its limit where a sum of it is. */
	only_if(f, O_UGE, ir_get(f, w->at), w->first, full);
	only_if(f, O_ULT, len, ir_op2(f, O_SUB, ir_get(f, w->at), w->first), full);
	struct ref at = back(w, ir_addi(f, len, 1));
	put_bytes(w, at, "/");
	lower_try_read(w->l, &(struct try_read){.space = AS_KERNEL,
						.dst = ir_addi(f, ir_op2(f, O_ADD, w->base, at), 1),
						.size = len,
						.most = NAME,
						.addr = name});
}

/* One step up: to top at the root, to full when no more may be made, or for want of room. */
static void step(struct walk *w, struct ref root, struct ref root_mnt, struct blk *top,
		 struct blk *full)
{
	struct fn *f = w->f;
	struct blk *next = ir_blk(f), *same = ir_blk(f), *below = ir_blk(f), *mounted = ir_blk(f),
		   *inside = ir_blk(f);
	struct ref dentry = ir_get(f, w->dentry), mnt = ir_get(f, w->mnt);

	ir_br(f, O_EQ, dentry, root, same, below);
	ir_at(f, same);
	ir_br(f, O_EQ, mnt, root_mnt, top, below);
	ir_at(f, below);
	ir_br(f, O_EQ, dentry, word(w, mnt, w->o.mnt_root), mounted, inside);

	ir_at(f, mounted);
	struct ref mount = ir_addi(f, mnt, -(i64)w->o.mount);
	struct ref above = word(w, mount, w->o.mount_parent);
	only_if(f, O_NE, above, mount, top);
	ir_set(f, w->dentry, word(w, mount, w->o.mountpoint));
	ir_set(f, w->mnt, ir_addi(f, above, w->o.mount));
	ir_jmp(f, next);

	ir_at(f, inside);
	struct ref parent = word(w, dentry, w->o.parent);
	only_if(f, O_NE, parent, dentry, top);
	only_if(f, O_ULT, ir_get(f, w->i), ir_con(f, w->steps), full);
	put_name(w, dentry, full);
	ir_set(f, w->dentry, parent);
	ir_jmp(f, next);
	ir_at(f, next);
}

/* From the current directory up to the root; a task that is at its end has neither. */
static void climb(struct walk *w, struct blk *done)
{
	struct fn *f = w->f;
	struct blk *head = ir_blk(f), *body = ir_blk(f), *top = ir_blk(f), *cut = ir_blk(f);
	struct ref fs = word(w, w->task, w->o.fs);

	only_if(f, O_NE, fs, ir_con(f, 0), done);
	ir_set(f, w->at, ir_con(f, w->room));
	ir_set(f, w->dentry, word(w, fs, w->o.pwd + w->o.dentry));
	ir_set(f, w->mnt, word(w, fs, w->o.pwd + w->o.mnt));
	struct ref root = word(w, fs, w->o.root + w->o.dentry);
	struct ref root_mnt = word(w, fs, w->o.root + w->o.mnt);
	ir_set(f, w->i, ir_con(f, 0));
	ir_jmp(f, head);
	ir_at(f, head);
	ir_br(f, O_ULE, ir_get(f, w->i), ir_con(f, w->steps), body, cut);
	ir_at(f, body);
	step(w, root, root_mnt, top, cut);
	ir_set(f, w->i, ir_addi(f, ir_get(f, w->i), 1));
	ir_jmp(f, head);

	ir_at(f, cut);
	put_bytes(w, back(w, ir_con(f, MARK)), "...");
	ir_jmp(f, done);
	ir_at(f, top); /* the root itself is the slash that is missing before nothing */
	only_if(f, O_EQ, ir_get(f, w->at), ir_con(f, w->room), done);
	put_bytes(w, ir_con(f, w->room), "/");
	ir_jmp(f, done);
}

/*
 * The text behind the room for names, a slash before it if there is any: its length with the NUL. Goes
 * to done with an absolute one, which is the result.
 */
static struct ref put_rest(struct walk *w, struct node *text, u32 size, struct blk *done)
{
	struct fn *f = w->f;
	struct ref rest = ir_addi(f, w->base, w->room + 1);
	struct blk *some = ir_blk(f), *none = ir_blk(f);

	ir_store(f, 2, w->base, (i32)w->room, ir_con(f, 0));
	if (!text)
		return ir_con(f, 1);
	struct ref n = builtin_put_text(w->l, text, rest, size);
	struct ref first = ir_load(f, 1, rest, 0);
	only_if(f, O_NE, first, ir_con(f, '/'), done);
	ir_br(f, O_NE, first, ir_con(f, 0), some, none);
	ir_at(f, some);
	put_bytes(w, ir_con(f, w->room), "/");
	ir_jmp(f, none);
	ir_at(f, none);
	return n;
}

static struct ref lower_path(struct lower *l, struct node *call, struct mem dst)
{
	struct node *text = call_arg(call, 0);
	struct fn *f = l->f;
	struct walk w = {.l = l,
			 .f = f,
			 .room = 1,
			 .at = ir_var(f),
			 .dentry = ir_var(f),
			 .mnt = ir_var(f),
			 .i = ir_var(f)};
	struct blk *done = ir_blk(f);
	u32 size = call->type->size,
	    rest = text ? MIN(builtin_text_size(&l->u->config, text), LONGEST) : 0;
	i64 steps;

	if (!layout(l->c->host, &w.o) || !steps_of(call, &steps))
		assert(!"check_path() accepted it");
	w.steps = (u32)steps;
	w.task = lower_helper0(l, BPF_FUNC_get_current_task); /* it is kept for what follows */
	while (w.room < size)
		w.room *= 2;
	w.base = lower_addr(l, lower_scratch(l, w.room + MAX((u32)NAME, rest) + 2));
	ir_set(f, w.at, ir_con(f, w.room + 1));
	struct ref n = put_rest(&w, text, rest, done);
	w.first = ir_addi(f, n, (i64)w.room - size + 1 + MARK);
	climb(&w, done);
	ir_at(f, done);
	struct ref from = ir_op2(f, O_ADD, w.base, ir_get(f, w.at));
	struct ref len = lower_read_str(l, dst, size, from, AS_KERNEL);
	lower_last_char(l, dst, size, len, (struct place){.base = from, .space = AS_KERNEL}, true);
	return REF_NONE;
}

const struct builtin builtin_path[] = {
	{"auto cwd", lower_path, .asks = USE_TASK, .needs = FEAT_BTF, .type = type_path,
	 .check = check_path,
	 .doc = "Path of the current directory, from the root directory of the process. Of more "
		"than 32 directories only the last ones, after \"...\"."},
	{"auto abs_path(any path, [lit steps])", lower_path, .asks = USE_TASK, .needs = FEAT_BTF,
	 .type = type_path, .check = check_path,
	 .doc = "The path itself if it begins with /, otherwise cwd, a slash and the path. steps: "
		"maximal number of directories of cwd (default 32, at most 64)."},
	{0},
};
