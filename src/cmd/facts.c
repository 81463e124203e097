/*
 * facts.c - `info`: what this machine can do, as text and as JSON.
 *
 * What cannot be tried for want of capabilities is unknown, not missing.
 */
#include "cmd/cmd.h"
#include "kern/caps.h"
#include <bpf/libbpf.h>
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
	for (u32 i = 0; providers[i] && f->nprobe < countof(f->probe); i++) {
		const struct provider *p = providers[i];
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
		f->disabled |= (u64)(o->nno_feature && h->feature[i] == 1) << i;
	if (uname(&f->un))
		memset(&f->un, 0, sizeof(f->un));
	f->may_try = h->recorded || (cap_held(CAP_BPF) && cap_held(CAP_PERFMON));
	f->lockdown = lockdown_mode(h);
	f->no_tracefs = text_of(f, host_tracefs(h, &f->tracefs));
	f->btf = h->btf_file ? h->btf_file : "/sys/kernel/btf/vmlinux";
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
	for (u32 i = 0; i < countof(sysctls); i++) {
		char path[64];
		snprintf(path, sizeof(path), "/proc/sys/%s", sysctls[i]);
		for (char *p = path + 10; *p; p++)
			*p = *p == '.' ? '/' : *p;
		printf("  %s: %lld\n", sysctls[i], (long long)host_number(f->h, path));
	}
	printf("\nBuild\n  version: %s\n  libbpf: %s\n", SONDE_VERSION, libbpf_version_string());
	printf("\nCapabilities (uid %u)\n", (unsigned)geteuid());
	for (const struct cap *c = caps_known; c->name; c++)
		printf("  %-20s %-4s %s\n", c->name, cap_held(c->bit) ? "yes" : "no", c->what);
	text_facts("Kernel features", f->feature, f->nfeature);
	text_facts("Probe types", f->probe, f->nprobe);
}

/* ---- JSON ---- */

static void put_string(const char *name, struct str s)
{
	if (name)
		printf("\"%s\": ", name);
	putchar('"');
	for (u32 i = 0; i < s.n; i++) {
		u8 c = (u8)s.s[i];
		if (c == '"' || c == '\\')
			printf("\\%c", c);
		else if (c < 0x20 || c > 0x7e)
			printf("\\u%04x", c);
		else
			putchar(c);
	}
	putchar('"');
}

static void put_z(const char *name, const char *s, const char *behind)
{
	if (s)
		put_string(name, str_z(s));
	else
		printf("\"%s\": null", name);
	fputs(behind, stdout);
}

static void json_facts(const char *title, const struct fact *v, u32 n, const char *behind)
{
	printf("  \"%s\": [\n", title);
	for (u32 i = 0; i < n; i++) {
		fputs("    {", stdout);
		put_z("name", v[i].name, ", ");
		put_z("available", answers[v[i].answer], ", ");
		put_z("what", v[i].what, ", ");
		put_z("reason", v[i].why, i + 1 < n ? "},\n" : "}\n");
	}
	printf("  ]%s\n", behind);
}

static void json_caps(void)
{
	printf("  \"capabilities\": [\n");
	for (const struct cap *c = caps_known; c->name; c++) {
		fputs("    {", stdout);
		put_z("name", c->name, ", ");
		printf("\"held\": %s, ", cap_held(c->bit) ? "true" : "false");
		put_z("what", c->what, c[1].name ? "},\n" : "}\n");
	}
	printf("  ],\n");
}

static void put_json(struct facts *f)
{
	printf("{\n  ");
	put_z("version", SONDE_VERSION, ",\n  ");
	put_z("libbpf", libbpf_version_string(), ",\n  \"kernel\": {");
	put_z("name", f->un.sysname, ", ");
	put_z("release", f->un.release, ", ");
	put_z("version", f->un.version, ", ");
	put_z("arch", f->un.machine, ", ");
	printf("\"cpus\": %u},\n  \"btf\": {\"available\": %s, ", f->h->ncpu,
	       f->no_btf ? "false" : "true");
	put_z("path", f->btf, ", ");
	put_z("reason", f->no_btf, "},\n");
	printf("  \"tracefs\": {\"available\": %s, ", f->no_tracefs ? "false" : "true");
	put_z("path", f->tracefs, ", ");
	put_z("reason", f->no_tracefs, "},\n  ");
	put_z("lockdown", f->lockdown.n ? arena_strz(f->a, f->lockdown) : NULL, ",\n");
	printf("  \"sysctl\": {");
	for (u32 i = 0; i < countof(sysctls); i++) {
		char path[64];
		snprintf(path, sizeof(path), "/proc/sys/%s", sysctls[i]);
		for (char *p = path + 10; *p; p++)
			*p = *p == '.' ? '/' : *p;
		printf("%s\"%s\": %lld", i ? ", " : "", sysctls[i],
		       (long long)host_number(f->h, path));
	}
	printf("},\n  \"uid\": %u,\n", (unsigned)geteuid());
	json_caps();
	json_facts("features", f->feature, f->nfeature, ",");
	json_facts("probes", f->probe, f->nprobe, "");
	printf("}\n");
}

int info(const struct run_opts *o)
{
	struct arena a = {0};
	struct host h;
	if (strcmp(o->format, "text") && strcmp(o->format, "json"))
		return usage_error(o->compat, "info has the formats text and json (got '%s')",
				   o->format);
	if (!host_prepare(&h, &a, o))
		return RC_USAGE;
	struct facts *f = arena_new(&a, struct facts);
	f->h = &h;
	f->a = &a;
	find(f, o);
	(strcmp(o->format, "json") ? put_text : put_json)(f);
	host_deinit(&h);
	arena_free(&a);
	return RC_OK;
}
