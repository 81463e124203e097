/* Control groups of containers, in a made-up tree. */
#include "proc/cgroup.h"
#include "test.h"
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#define ID1  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID2  "0123ff6789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID3  "aaaa456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID4  "bbbb456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID5  "cccc456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID6  "dddd456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ROOT "/sys/fs/cgroup"

static const char *const dirs[] = {
	ROOT "/system.slice/docker-" ID1 ".scope/init.scope",
	ROOT "/docker/" ID2,
	ROOT "/system.slice/sshd.service",
	ROOT "/machine.slice/libpod-" ID3 ".scope/container",
	ROOT "/machine.slice/libpod-conmon-" ID3 ".scope",
	ROOT "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1_2.slice/"
	     "cri-containerd-" ID4 ".scope",
	ROOT "/kubepods/besteffort/pod5f0c/" ID5,
	ROOT "/kubepods.slice/crio-" ID6 ".scope",
	ROOT "/lxc.payload.blue",
	ROOT "/lxc/green",
	ROOT "/machine.slice/machine-big\\x2done.scope",
	ROOT "/machine.slice/systemd-nspawn@red.service/payload",
	"/var/lib/docker/containers/" ID1,
	"/var/lib/docker/containers/" ID2,
	"/var/lib/containers/storage/overlay-containers",
};

static void make_dirs(const char *top, const char *below)
{
	char path[1024];
	int n = snprintf(path, sizeof(path), "%s%s", top, below);
	CHECK(n > 0 && (size_t)n < sizeof(path));
	for (char *p = path + strlen(top) + 1; (p = strchr(p, '/')); p++) {
		*p = 0;
		mkdir(path, 0755);
		*p = '/';
	}
	mkdir(path, 0755);
}

static void put(const char *top, const char *name, const char *text)
{
	char path[1024];
	snprintf(path, sizeof(path), "%s%s", top, name);
	FILE *f = fopen(path, "w");
	CHECK(f && fputs(text, f) >= 0);
	if (f)
		fclose(f);
}

struct tree {
	char top[64];
	struct arena a;
	struct host h;
};

static void tree_make(struct tree *t)
{
	*t = (struct tree){.top = "/tmp/sonde-cgroup-XXXXXX"};
	CHECK(mkdtemp(t->top));
	for (u32 i = 0; i < countof(dirs); i++)
		make_dirs(t->top, dirs[i]);
	put(t->top, "/var/lib/docker/containers/" ID1 "/config.v2.json",
	    "{\"StreamConfig\":{},\"ID\":\"" ID1 "\",\"Name\":\"/web\",\"Driver\":\"overlay2\"}");
	put(t->top, "/var/lib/docker/containers/" ID2 "/config.v2.json", "{\"Name\":");
	put(t->top, "/var/lib/containers/storage/overlay-containers/containers.json",
	    "[{\"id\":\"ffff\",\"names\":[\"old\"]},{\"id\":\"" ID3
	    "\",\"names\":[\"db\"],\"layer\":\"x\"}]");
	put(t->top, ROOT "/docker/" ID2 "/cgroup.procs", "");
	make_dirs(t->top, ROOT "/docker/" ID2 "/app");
	put(t->top, ROOT "/docker/" ID2 "/app/cgroup.procs", "77\n78\n");
	host_init(&t->h, &t->a, t->top);
}

static int remove_all(const char *path)
{
	char cmd[128];
	snprintf(cmd, sizeof(cmd), "%s", path);
	char *argv[] = {"rm", "-rf", cmd, NULL};
	extern char **environ;
	pid_t pid = fork();
	if (!pid) {
		execve("/bin/rm", argv, environ);
		_exit(1);
	}
	return pid;
}

static void tree_free(struct tree *t)
{
	host_deinit(&t->h);
	arena_free(&t->a);
	CHECK(remove_all(t->top) > 0);
}

/* Where it is below the top, or the message. */
static const char *found(struct tree *t, const char *name)
{
	const char *dir = NULL;
	struct err *e = cgroup_container(&t->h, name, &dir);
	const char *text = e ? arena_fmt(&t->a, "%s", e->msg) : dir + strlen(t->top) + strlen(ROOT);
	err_free(e);
	return text;
}

TEST(cgroup_containers_by_id)
{
	struct tree t;
	tree_make(&t);
	CHECK_STR(found(&t, ID1), "/system.slice/docker-" ID1 ".scope");
	CHECK_STR(found(&t, "01234"), "/system.slice/docker-" ID1 ".scope");
	CHECK_STR(found(&t, "0123f"), "/docker/" ID2);
	CHECK_STR(found(&t, "aaaa"), "/machine.slice/libpod-" ID3 ".scope");
	CHECK_STR(found(&t, "bbbb4"),
		  "/kubepods.slice/kubepods-burstable.slice/"
		  "kubepods-burstable-pod1_2.slice/cri-containerd-" ID4 ".scope");
	CHECK_STR(found(&t, "c"), "/kubepods/besteffort/pod5f0c/" ID5);
	CHECK_STR(found(&t, "dddd45678"), "/kubepods.slice/crio-" ID6 ".scope");
	tree_free(&t);
}

TEST(cgroup_containers_by_name)
{
	struct tree t;
	tree_make(&t);
	CHECK_STR(found(&t, "web"), "/system.slice/docker-" ID1 ".scope");
	CHECK_STR(found(&t, "db"), "/machine.slice/libpod-" ID3 ".scope");
	CHECK_STR(found(&t, "blue"), "/lxc.payload.blue");
	CHECK_STR(found(&t, "green"), "/lxc/green");
	CHECK_STR(found(&t, "big-one"), "/machine.slice/machine-big\\x2done.scope");
	CHECK_STR(found(&t, "red"), "/machine.slice/systemd-nspawn@red.service");
	tree_free(&t);
}

TEST(cgroup_containers_that_are_not_clear)
{
	struct tree t;
	tree_make(&t);
	const char *text = found(&t, "0123");
	CHECK(strstr(text, "0123 may be any of 2 containers: "));
	CHECK(strstr(text, "web = 0123456789ab (/system.slice/docker-" ID1 ".scope)"));
	CHECK(strstr(text, "0123ff6789ab (/docker/" ID2 ")"));
	text = found(&t, "nope");
	CHECK(!strncmp(text, "container nope does not exist; containers: ", 43));
	CHECK(strstr(text, "green (/lxc/green), db = aaaa456789ab (/machine.slice/libpod-" ID3));
	CHECK(strstr(text, " and 2 more"));
	CHECK_STR(found(&t, ""), "the name of a container is empty");
	tree_free(&t);
}

TEST(cgroup_paths)
{
	struct tree t;
	const char *dir = NULL;
	tree_make(&t);
	struct err *e = cgroup_find(&t.h, "docker/" ID2, &dir);
	CHECK(!e && str_ends(str_z(dir), STR(ROOT "/docker/" ID2)));
	CHECK(!e && cgroup_any_process(&t.h, dir) == 77);
	err_free(e);
	e = cgroup_find(&t.h, ROOT "/lxc/green", &dir);
	CHECK(!e && str_ends(str_z(dir), STR(ROOT "/lxc/green")));
	CHECK(!e && cgroup_any_process(&t.h, dir) == 0);
	err_free(e);
	e = cgroup_find(&t.h, "none", &dir);
	CHECK(e && strstr(e->msg, "control group none does not exist"));
	err_free(e);
	tree_free(&t);
}

/* ---- how much memory there is ---- */

static u64 memory_of(struct tree *t, const char *groups)
{
	put(t->top, "/proc/self/cgroup", groups);
	t->h.memory = 0;
	return host_memory(&t->h);
}

TEST(cgroup_memory)
{
	struct tree t;
	tree_make(&t);
	CHECK(host_memory(&t.h) == NO_MEMORY_LIMIT);
	make_dirs(t.top, "/proc/self");
	make_dirs(t.top, ROOT "/a/b");
	make_dirs(t.top, ROOT "/memory/c/d");
	put(t.top, ROOT "/a/memory.max", "67108864\n");
	put(t.top, ROOT "/a/b/memory.max", "max\n");
	put(t.top, ROOT "/memory/memory.limit_in_bytes", "9223372036854771712\n");
	put(t.top, ROOT "/memory/c/memory.limit_in_bytes", "9223372036854771712\n");
	put(t.top, ROOT "/memory/c/d/memory.limit_in_bytes", "33554432\n");
	CHECK(memory_of(&t, "0::/a/b\n") == 64 << 20);
	CHECK(memory_of(&t, "0::/\n") == NO_MEMORY_LIMIT);
	CHECK(memory_of(&t, "1:name=systemd:/a\n") == NO_MEMORY_LIMIT);
	CHECK(memory_of(&t, "3:cpu:/\n4:hugetlb,memory:/c/d\n") == 32 << 20);
	CHECK(memory_of(&t, "4:memory:/c\n0::/a\n") == 64 << 20);
	put(t.top, ROOT "/a/b/memory.high", "1048576\n");
	CHECK(memory_of(&t, "0::/a/b\n") == 1 << 20);
	put(t.top, ROOT "/memory.max", "4194304\n"); /* that of a container, whose path is above */
	CHECK(memory_of(&t, "0::/../elsewhere\n") == 4 << 20);
	CHECK(memory_of(&t, "0::/not/here\n") == 4 << 20);
	CHECK(memory_of(&t, ":::\n\n4:memory\n::") == 4 << 20);
	tree_free(&t);
}
