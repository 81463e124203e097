/*
 * ifunc.c - functions that choose their code when they are loaded (STT_GNU_IFUNC): what they chose.
 *
 * The dynamic linker calls the function that chooses once in each process and keeps the answer in a word that
 * an IRELATIVE relocation of the file names. All processes of a machine have the same answer, so any that has
 * the file mapped tells.
 */
#include "base/pack.h"
#include "proc/paths.h"
#include "proc/proc.h"
#include "rights/image_ask.h"
#include "rights/sandbox.h"
#include "sym/sym.h"
#include <elf.h>

enum { MAX_CHOICES = 4096, CHOICE_BYTES = 16 };

/* ---- in the child ---- */

static bool is_choice(const struct image *im, u64 info)
{
	u32 type = ELF64_R_TYPE(info);
	return im->machine == EM_X86_64    ? type == R_X86_64_IRELATIVE
	       : im->machine == EM_AARCH64 ? type == R_AARCH64_IRELATIVE
					   : false;
}

static struct err *answer_choices(struct job *j)
{
	struct image im;
	struct section s;
	struct err *e = image_map(&j->file[0], j->path, &im);
	if (e)
		return e;
	for (u32 i = 0, n = 0; im.is64 && image_section(&im, i, &s); i++) {
		struct bytes b = s.type == SHT_RELA ? image_bytes(&im, &s) : bytes_of(NULL, 0);
		while (b.at < b.n && n < MAX_CHOICES) {
			u64 at = bytes_u64(&b), info = bytes_u64(&b), by = bytes_u64(&b);
			if (b.bad)
				break;
			if (!is_choice(&im, info))
				continue;
			pack_u64(&j->out, by);
			pack_u64(&j->out, at);
			n++;
		}
	}
	image_close(&im);
	return NULL;
}

/* ---- here ---- */

void elf_take_choices(struct bytes *b, struct arena *a, struct choices *ret)
{
	u32 n = (u32)MIN((b->n - b->at) / CHOICE_BYTES, (size_t)MAX_CHOICES);
	ret->v = arena_newn(a, struct choice, n + 1);
	for (ret->n = 0; ret->n < n; ret->n++) {
		ret->v[ret->n].by = bytes_u64(b);
		ret->v[ret->n].at = bytes_u64(b);
	}
}

static struct err *read_choices(struct host *h, struct arena *a, const char *path,
				struct choices *ret)
{
	AUTO_SB out = {0};
	struct question q = {.path = path, .nfile = 1, .args = STR("")};
	struct err *e = image_find(path, &q.file[0]);
	if (e)
		return e;
	e = sandbox_ask(h, answer_choices, &q, &out);
	close(q.file[0].fd);
	struct bytes b = bytes_of(out.s, out.n);
	if (!e)
		elf_take_choices(&b, a, ret);
	return e;
}

/* The word's value, as an address in the file; 0: it holds no choice (yet). */
static u64 choice_of(struct host *h, const struct image *im, int pid, u64 bias,
		     const struct choice *c)
{
	u64 word = 0;
	if (!proc_read(h, pid, bias + c->at, &word, sizeof(word)))
		return 0;
	word -= bias;
	return word != c->by && image_is_code(im, word) ? word : 0;
}

static bool take_from(struct host *h, const char *path, const struct image *im, int pid,
		      struct choices *c)
{
	u64 bias;
	bool any = false;
	if (!proc_maps_file(h, pid, path) || !proc_load_bias(h, pid, path, &bias))
		return false;
	for (u32 i = 0; i < c->n; i++) {
		c->v[i].form = choice_of(h, im, pid, bias, &c->v[i]);
		any |= c->v[i].form != 0;
	}
	return any;
}

/* The first process that tells. */
static void take_from_any(struct host *h, const char *path, const struct image *im,
			  struct choices *c)
{
	DIR *d = proc_list(h);
	bool told = false;
	for (struct dirent *e; d && !told && (e = readdir(d));) {
		u64 pid;
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9' && str_u64(str_z(e->d_name), &pid))
			told = take_from(h, path, im, (int)pid, c);
	}
	if (d)
		closedir(d);
}

struct err *elf_choices(struct host *h, struct arena *a, const char *path, int pid,
			struct choices *ret)
{
	struct image im;
	*ret = (struct choices){0};
	struct err *e = read_choices(h, a, path, ret);
	if (e || !ret->n)
		return e;
	e = image_ask(h, path, &im);
	if (e)
		return e;
	if (pid <= 0 || !take_from(h, path, &im, pid, ret))
		take_from_any(h, path, &im, ret);
	image_close(&im);
	return NULL;
}

u64 elf_chosen(const struct choices *c, u64 by)
{
	for (u32 i = 0; i < c->n; i++)
		if (c->v[i].by == by && c->v[i].form)
			return c->v[i].form;
	return 0;
}
