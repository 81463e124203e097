/*
 * facts.c - `info`: what this machine can do, as text and as JSON.
 *
 * What cannot be tried for want of capabilities is unknown, not missing.
 */
#include "base/json.h"
#include "cmd/cmd.h"
#include "kern/bpf.h"
#include "kern/caps.h"
#include <sys/utsname.h>

enum answer { NO, YES, UNKNOWN };
static const char *const answers[] = {"no", "yes", "unknown"};

/* One line: of features or of probe types. */
struct fact {
	const char *name, *what, *why; /* why: of no and unknown */
	enum answer answer;
};

struct facts {
	struct host *h;
	struct arena *a;
	struct utsname un;
	bool may_try; /* the kernel lets us load programs */
	struct str lockdown;
	const char *tracefs, *no_tracefs;
	const char *btf, *no_btf;
	struct fact feature[FEAT_COUNT], probe[64];
	u32 nfeature, nprobe;
	u64 disabled; /* features of --no-feature; bits */
};

static const char *const sysctls[] = {"kernel.unprivileged_bpf_disabled",
				      "kernel.perf_event_paranoid", "kernel.kptr_restrict",
				      "net.core.bpf_jit_enable"};

static const char *text_of(struct facts *f, struct err *e)
{
	const char *text = e ? arena_fmt(f->a, "%s", e->msg) : NULL;
	err_free(e);
	return text;
}

static const char *why_not(struct facts *f, enum feature id, enum answer *ret)
{
	*ret = NO;
	if (f->disabled >> id & 1)
		return "switched off by --no-feature";
	if (id == FEAT_BTF)
		return f->no_btf;
	if (!f->may_try && !feature_is_file(id)) {
		*ret = UNKNOWN;
		return "needs CAP_BPF and CAP_PERFMON to be tried";
	}
	if (str_is(f->lockdown, "confidentiality"))
		return "the kernel lacks it, or does not allow it while it is locked down";
	return f->h->btf_file && (id == FEAT_TASK_BTF || id == FEAT_FENTRY || id == FEAT_TP_BTF)
		       ? "needs the kernel's own BTF, not that of --btf"
		       : "this kernel lacks it";
}

static void find_features(struct facts *f)
{
	for (int i = FEAT_NONE + 1; i < FEAT_COUNT; i++) {
		enum feature id = (enum feature)i;
		struct fact *x = &f->feature[f->nfeature++];
		*x = (struct fact){feature_name(id), feature_what(id), NULL, YES};
		if (!host_has(f->h, id))
			x->why = why_not(f, id, &x->answer);
	}
}

static void find_probes(struct facts *f)
{
	for (u32 i = 0; probe_types[i] && f->nprobe < countof(f->probe); i++) {
		const struct probe_type *p = probe_types[i];
		struct fact *x = &f->probe[f->nprobe++];
		*x = (struct fact){p->name, p->syntax ? p->syntax : "", NULL, YES};
		struct err *e = p->able && !f->h->recorded ? p->able(f->h) : NULL;
		if (!host_has(f->h, (enum feature)p->needs)) {
			x->why = arena_fmt(f->a, "needs %s: %s",
					   feature_what((enum feature)p->needs),
					   why_not(f, (enum feature)p->needs, &x->answer));
			err_free(e);
		} else if (e) {
			x->answer = NO;
			x->why = text_of(f, e);
		} else if (!f->may_try) {
			x->answer = NO;
			x->why = "needs CAP_BPF and CAP_PERFMON";
		}
	}
}

static void find(struct facts *f, const struct run_opts *o)
{
	struct host *h = f->h;
	for (u32 i = FEAT_NONE + 1; i < FEAT_COUNT && i < 64; i++)
		f->disabled |= (u64)(o->machine.nno_feature && h->feature[i] == 1) << i;
	if (uname(&f->un))
		memset(&f->un, 0, sizeof(f->un));
	f->may_try = h->recorded || (cap_held(CAP_BPF) && cap_held(CAP_PERFMON));
	f->lockdown = lockdown_mode(h);
	f->no_tracefs = text_of(f, host_tracefs(h, &f->tracefs));
	f->btf = h->btf_file ? h->btf_file : KERNEL_BTF;
	if (!host_btf(h))
		f->no_btf = arena_fmt(f->a, "%s%s cannot be read", h->root, f->btf);
	find_features(f);
	find_probes(f);
}

/* ---- text ---- */

static void text_facts(const char *title, const struct fact *v, u32 n)
{
	printf("\n%s\n", title);
	for (u32 i = 0; i < n; i++)
		printf("  %-14s %-7s %s%s%s%s\n", v[i].name, answers[v[i].answer], v[i].what,
		       v[i].why ? " (" : "", v[i].why ? v[i].why : "", v[i].why ? ")" : "");
}

static void put_text(struct facts *f)
{
	printf("System\n  OS: %s %s %s\n  Arch: %s\n  CPUs: %u\n", f->un.sysname, f->un.release,
	       f->un.version, f->un.machine, f->h->ncpu);
	printf("  BTF: %s\n", f->no_btf ? f->no_btf : f->btf);
	printf("  tracefs: %s\n", f->no_tracefs ? f->no_tracefs : f->tracefs);
	printf("  lockdown: %.*s\n", STRF(f->lockdown.n ? f->lockdown : STR("not in this kernel")));
	for (u32 i = 0; i < countof(sysctls); i++)
		printf("  %s: %lld\n", sysctls[i], (long long)host_sysctl(f->h, sysctls[i]));
	printf("\nBuild\n  version: %s\n  commit: %s\n  built by: %s\n  libbpf: %s\n",
	       SONDE_VERSION, sonde_commit, sonde_build, bpf_library_version());
	printf("\nCapabilities (uid %u)\n", (unsigned)geteuid());
	for (const struct cap *c = caps_known; c->name; c++)
		printf("  %-20s %-4s %s\n", c->name, cap_held(c->bit) ? "yes" : "no", c->what);
	text_facts("Kernel features", f->feature, f->nfeature);
	text_facts("Probe types", f->probe, f->nprobe);
}

/* ---- JSON ---- */

static void put_z(struct sb *b, bool first, const char *name, const char *z)
{
	json_member(b, first, name);
	json_z(b, z);
}

static void put_bool(struct sb *b, bool first, const char *name, bool yes)
{
	json_member(b, first, name);
	sb_z(b, yes ? "true" : "false");
}

static void put_facts(struct sb *b, const char *title, const struct fact *v, u32 n)
{
	sb_fmt(b, "  \"%s\": [\n", title);
	for (u32 i = 0; i < n; i++) {
		sb_z(b, "    {");
		put_z(b, true, "name", v[i].name);
		put_z(b, false, "available", answers[v[i].answer]);
		put_z(b, false, "what", v[i].what);
		put_z(b, false, "reason", v[i].why);
		sb_z(b, i + 1 < n ? "},\n" : "}\n");
	}
	sb_z(b, "  ]");
}

static void put_caps(struct sb *b)
{
	sb_z(b, "  \"capabilities\": [\n");
	for (const struct cap *c = caps_known; c->name; c++) {
		sb_z(b, "    {");
		put_z(b, true, "name", c->name);
		put_bool(b, false, "held", cap_held(c->bit));
		put_z(b, false, "what", c->what);
		sb_z(b, c[1].name ? "},\n" : "}\n");
	}
	sb_z(b, "  ],\n");
}

static void put_sysctls(struct sb *b, struct facts *f)
{
	sb_z(b, "  \"sysctl\": {");
	for (u32 i = 0; i < countof(sysctls); i++) {
		json_member(b, i == 0, sysctls[i]);
		sb_i64(b, host_sysctl(f->h, sysctls[i]));
	}
	sb_z(b, "},\n");
}

static void put_json(struct facts *f)
{
	AUTO_SB b = {0};
	sb_z(&b, "{\n  ");
	put_z(&b, true, "version", SONDE_VERSION);
	put_z(&b, false, "commit", sonde_commit);
	put_z(&b, false, "build", sonde_build);
	sb_z(&b, ",\n  ");
	put_z(&b, true, "libbpf", bpf_library_version());
	sb_z(&b, ",\n  \"kernel\": {");
	put_z(&b, true, "name", f->un.sysname);
	put_z(&b, false, "release", f->un.release);
	put_z(&b, false, "version", f->un.version);
	put_z(&b, false, "arch", f->un.machine);
	sb_fmt(&b, ", \"cpus\": %u},\n  \"btf\": {", f->h->ncpu);
	put_bool(&b, true, "available", !f->no_btf);
	put_z(&b, false, "path", f->btf);
	put_z(&b, false, "reason", f->no_btf);
	sb_z(&b, "},\n  \"tracefs\": {");
	put_bool(&b, true, "available", !f->no_tracefs);
	put_z(&b, false, "path", f->tracefs);
	put_z(&b, false, "reason", f->no_tracefs);
	sb_z(&b, "},\n  ");
	put_z(&b, true, "lockdown", f->lockdown.n ? arena_strz(f->a, f->lockdown) : NULL);
	sb_z(&b, ",\n");
	put_sysctls(&b, f);
	sb_fmt(&b, "  \"uid\": %u,\n", (unsigned)geteuid());
	put_caps(&b);
	put_facts(&b, "features", f->feature, f->nfeature);
	sb_z(&b, ",\n");
	put_facts(&b, "probes", f->probe, f->nprobe);
	sb_z(&b, "\n}\n");
	fputs(b.s, stdout);
}

int info(const struct run_opts *o)
{
	struct arena a = {0};
	struct host h;
	const char *format = o->output.format ? o->output.format : "text";
	if (strcmp(format, "text") && strcmp(format, "json"))
		return usage_error(o->compat, "info has the formats text and json (got '%s')",
				   format);
	if (!host_prepare(&h, &a, o))
		return RC_USAGE;
	struct facts *f = arena_new(&a, struct facts);
	f->h = &h;
	f->a = &a;
	find(f, o);
	(strcmp(format, "json") ? put_text : put_json)(f);
	host_deinit(&h);
	arena_free(&a);
	return RC_OK;
}
