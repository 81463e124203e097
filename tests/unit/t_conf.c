#include "agent/conf.h"
#include "base/file.h"
#include "test.h"
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

static void put_list(struct sb *b, const char *name, const struct question_list *l)
{
	sb_fmt(b, "\n%s:", name);
	for (u32 i = 0; i < l->n; i++)
		sb_fmt(b, " %.*s", STRF(l->v[i]));
}

static void put_text(struct sb *b, const char *name, const char *val)
{
	if (val)
		sb_fmt(b, "\n%s: %s", name, val);
}

static void put_conf(struct sb *b, const struct conf *c)
{
	sb_fmt(b, "%s", c->url);
	put_text(b, "nkey", c->nkey);
	put_text(b, "nkey_seed", c->nkey_seed);
	put_text(b, "tls_ca", c->tls_ca);
	put_text(b, "tls_cert", c->tls_cert);
	put_text(b, "tls_key", c->tls_key);
	put_text(b, "name", c->name);
	put_text(b, "key", c->key);
	put_text(b, "sonde", c->sonde);
	put_text(b, "state", c->state);
	put_text(b, "signers", c->allowed_signers);
	put_list(b, "label", &c->label);
	put_list(b, "deny", &c->deny);
	sb_fmt(b, "\nallow %u unsafe %u, %llu s, %llu bytes, %llu ppm, %u%s", c->allow, c->unsafe,
	       c->max_ns / SECOND_NS, c->max_memory, c->max_cpu, c->max_running,
	       c->hub ? ", hub" : "");
}

static void check_conf(const char *text, const char *want, int line)
{
	struct conf c;
	AUTO_SB b = {0};
	struct err *e = conf_parse(&c, "f.conf", str_z(text));
	if (e)
		sb_z(&b, e->msg);
	else
		put_conf(&b, &c);
	test_str(__FILE__, line, text, b.s, want);
	err_free(e);
	conf_free(&c);
}
#define CONF(text, want) check_conf(text, want, __LINE__)

TEST(conf_of_little)
{
	CONF("url = nats://h:4222", "nats://h:4222\nstate: /var/lib/sonde-agent\nsigners: "
				    "/etc/sonde/allowed_signers\nlabel:\ndeny:\n"
				    "allow 1 unsafe 0, 600 s, 268435456 bytes, 20000 ppm, 4");
}

TEST(conf_of_everything)
{
	setenv("SONDE_TEST_NODE", "node-7", 1);
	CONF("# all\n\n  url = tls://a:4222, tls://b\r\n"
	     "nkey=UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4\n"
	     "nkey_seed = /etc/a.nk\ntls_ca = /ca\ntls_cert = /cert\ntls_key = /key\nname = "
	     "$SONDE_TEST_NODE\n"
	     "allow = tools\nunsafe = signed\nallowed_signers = /signers\ndeny = write, "
	     "str:*password*,uprobe\n"
	     "max_seconds = 30\nmax_cpu = 0.5%\nmax_memory = 1G\nmax_running = 2\nsonde = "
	     "/opt/sonde\nkey = /k\nstate = /s\nhub = yes\n"
	     "[labels]\nrole = web\nenv = prod\n# key = no\nnode = $SONDE_TEST_NODE\n",
	     "tls://a:4222, tls://b\nnkey: "
	     "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4\n"
	     "nkey_seed: /etc/a.nk\ntls_ca: /ca\ntls_cert: /cert\ntls_key: /key\nname: "
	     "node-7\nkey: /k\nsonde: /opt/sonde\n"
	     "state: /s\nsigners: /signers\nlabel: env=prod node=node-7 role=web\n"
	     "deny: write str:*password* uprobe\nallow 0 unsafe 1, 30 s, 1073741824 bytes, 5000 "
	     "ppm, 2, hub");
	unsetenv("SONDE_TEST_NODE");
}

TEST(conf_errors)
{
	CONF("", "f.conf: url is missing: the server, as in tls://HOST:4222");
	CONF("url = h:4222",
	     "f.conf:1:7: url: a server is written as in tls://HOST:4222 (got 'h:4222')");
	CONF("\n  max_second = 5\n",
	     "f.conf:2:3: unknown key 'max_second'; did you mean max_seconds?");
	CONF("colour = red", "f.conf:1:1: unknown key 'colour'");
	CONF("\x1b[1m = red", "f.conf:1:1: a control character");
	CONF("url", "f.conf:1:1: KEY = VALUE is needed");
	CONF("url =  ", "f.conf:1:1: url has no value");
	CONF(" = 5", "f.conf:1:2: unknown key ''");
	CONF("url = nats://a\nurl = nats://b", "f.conf:2:1: url is there twice");
	CONF("[label]\n", "f.conf:1:1: unknown section; [labels] is the only one");
	CONF("allow = all", "f.conf:1:9: allow: tools, signed or any is needed (got 'all')");
	CONF("unsafe = yes", "f.conf:1:10: unsafe: never or signed is needed (got 'yes')");
	CONF("hub = on", "f.conf:1:7: hub: yes or no is needed (got 'on')");
	CONF("deny = write,",
	     "f.conf:1:8: deny: words as in write, or str:*password*, are needed (got '')");
	CONF("deny = str:",
	     "f.conf:1:8: deny: words as in write, or str:*password*, are needed (got 'str:')");
	CONF("deny = *x*",
	     "f.conf:1:8: deny: words as in write, or str:*password*, are needed (got '*x*')");
	CONF("max_seconds = 0",
	     "f.conf:1:15: max_seconds: a number from 1 to 86400 is needed (got '0')");
	CONF("max_seconds = 5s",
	     "f.conf:1:15: max_seconds: a number from 1 to 86400 is needed (got '5s')");
	CONF("max_cpu = 2",
	     "f.conf:1:11: max_cpu: per cent of the machine's processor time are needed, as in "
	     "2% or 0.5% (got '2')");
	CONF("max_cpu = nan%",
	     "f.conf:1:11: max_cpu: per cent of the machine's processor time are needed, as "
	     "in 2% or 0.5% (got 'nan%')");
	CONF("max_memory = 256",
	     "f.conf:1:14: max_memory: a size is needed, as in 256M or 1G (got '256')");
	CONF("max_memory = 1M", "f.conf:1:14: max_memory: a trace needs 32M at least (got '1M')");
	CONF("max_running = 65",
	     "f.conf:1:15: max_running: a number from 1 to 64 is needed (got '65')");
	CONF("nkey = SUAB",
	     "f.conf:1:8: nkey: a public key of a user is needed: 56 characters, beginning with U "
	     "(got 'SUAB')");
	CONF("nkey_seed = a.nk", "f.conf:1:13: nkey_seed: a path from / on is needed (got 'a.nk')");
	CONF("url = nats://a\nnkey_seed = /a", "f.conf: nkey and nkey_seed belong together");
	CONF("url = nats://a\ntls_key = /a", "f.conf: tls_cert and tls_key belong together");
	CONF("name = a b",
	     "f.conf:1:8: name: letters, digits and ._-:@/%+ are allowed (got 'a b')");
	CONF("name = $SONDE_TEST_NONE", "f.conf:1:8: name: the environment has no SONDE_TEST_NONE");
	CONF("[labels]\nenv = a b",
	     "f.conf:2:7: letters, digits and ._-:@/%+ are allowed (got 'a b')");
	CONF("[labels]\na b = x",
	     "f.conf:2:1: a label is written as in env = prod, with letters, digits and "
	     "._-:@/%+");
	CONF("[labels]\nenv = a\nenv = b", "f.conf:3:1: label env is there twice");
}

TEST(conf_files)
{
	char dir[] = "/tmp/sonde-unit.XXXXXX";
	struct conf c;
	struct arena a = {0};
	CHECK(mkdtemp(dir));
	const char *path = arena_fmt(&a, "%s/fleet.conf", dir);
	struct err *e = conf_read(&c, path);
	CHECK_STR(e ? e->msg : "", arena_fmt(&a, "open %s: No such file or directory", path));
	err_free(e);
	conf_free(&c);
	CHECK(!file_write(path, STR("url = nats://h\n")) && !chmod(path, 0640));
	e = conf_read(&c, path);
	CHECK(!e && !strcmp(c.url, "nats://h"));
	conf_free(&c);
	CHECK(!chmod(path, 0666));
	e = conf_read(&c, path);
	CHECK_STR(e ? e->msg : "", arena_fmt(&a, "%s: anybody may write to it (chmod o-w)", path));
	err_free(e);
	conf_free(&c);
	e = conf_read(&c, dir);
	CHECK_STR(e ? e->msg : "", arena_fmt(&a, "%s is not a file", dir));
	err_free(e);
	conf_free(&c);
	unlink(path);
	rmdir(dir);
	arena_free(&a);
}

TEST(conf_percents)
{
	u64 n = 7;
	CHECK(conf_percent(STR("2%"), &n) && n == 20000);
	CHECK(conf_percent(STR("0.00001%"), &n) && n == 1);
	CHECK(conf_percent(STR("100%"), &n) && n == 1000000);
	CHECK(!conf_percent(STR("0%"), &n) && !conf_percent(STR("101%"), &n));
	CHECK(!conf_percent(STR("2"), &n) && !conf_percent(STR("2%%"), &n) &&
	      !conf_percent(STR("%"), &n));
	CHECK(!conf_percent(STR("0.0000000000000001%"), &n));
}

TEST(conf_of_others)
{
	char path[] = "/tmp/sonde-unit.XXXXXX";
	int fd AUTO_CLOSE = mkstemp(path);
	struct err *e = conf_is_safe(path, fd);
	CHECK(!e);
	if (geteuid() == 0) {
		CHECK(!fchown(fd, 7, 7));
		e = conf_is_safe(path, fd);
		CHECK(e &&
		      strstr(e->msg,
			     " belongs to user 7, who is neither root nor the user of the agent"));
		err_free(e);
	}
	unlink(path);
}
