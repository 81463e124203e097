#include "fleet/hosts.h"
#include "test.h"

/* The names, or why not. */
static void check_hosts(const char *text, const char *want, int line)
{
	struct hosts h = {0};
	AUTO_SB b = {0};
	struct err *e = hosts_add(&h, str_z(text));
	for (u32 i = 0; i < h.name.n && !e; i++)
		sb_fmt(&b, "%s%.*s", i ? " " : "", STRF(h.name.v[i]));
	if (e)
		sb_z(&b, e->msg);
	test_str(__FILE__, line, text, b.s ? b.s : "", want);
	err_free(e);
	hosts_free(&h);
}
#define HOSTS(text, want) check_hosts(text, want, __LINE__)

TEST(hosts_are_expanded)
{
	HOSTS("", "");
	HOSTS("web1", "web1");
	HOSTS("web1,web2, db", "web1 web2 db");
	HOSTS("a,b,a", "a b");
	HOSTS("db[1-3]", "db1 db2 db3");
	HOSTS("db[08-11]", "db08 db09 db10 db11");
	HOSTS("db[1,3-4].eu,x", "db1.eu db3.eu db4.eu x");
	HOSTS("r[1-2]n[1-2]", "r1n1 r1n2 r2n1 r2n2");
	HOSTS("# all\nweb1 # one\n\nroot@10.0.0.1\r\n[::1",
	      "'[::1' is not a host name: numbers are written as in web[1-3,7]");
	HOSTS("# all\nweb1 # web3\n\nroot@10.0.0.1\r\nfe80::1%eth0",
	      "web1 root@10.0.0.1 fe80::1%eth0");
}

/* "NAME:LABELS" of each, or why not. */
static void check_lines(const char *text, const char *want, int line)
{
	struct hosts h = {0};
	AUTO_SB b = {0};
	struct err *e = hosts_add_lines(&h, str_z(text));
	for (u32 i = 0; i < h.name.n && !e; i++)
		sb_fmt(&b, "%s%.*s:%.*s", i ? " " : "", STRF(h.name.v[i]),
		       STRF(hosts_labels(&h, h.name.v[i])));
	if (e)
		sb_z(&b, e->msg);
	test_str(__FILE__, line, text, b.s ? b.s : "", want);
	err_free(e);
	hosts_free(&h);
}
#define LINES(text, want) check_lines(text, want, __LINE__)

TEST(hosts_have_labels)
{
	LINES("", "");
	LINES("a,b c\nd", "a: b: c: d:");
	LINES("a x=1\tz=2 # x=3\r\n#\nb[1-2] x=2\nc", "a:x=1\nz=2 b1:x=2 b2:x=2 c:");
	LINES("a\na x=1\na x=1 y=2", "a:x=1\ny=2");
	LINES("a x=1\n\na x=2", "line 3: a has the label x=2, and 1 before");
	LINES("a x=1 x=2", "line 1: a has the label x=2, and 1 before");
	LINES("a x=1 b", "line 1: 'b' is no label: a line with labels is HOST KEY=VALUE ...");
	LINES("a x=", "line 1: 'x=' is no label: a line with labels is HOST KEY=VALUE ...");
	LINES("a =1", "line 1: '=1' is no label: a line with labels is HOST KEY=VALUE ...");
	LINES("a x=\x1b",
	      "line 1: 'x=\\x1b' is no label: a line with labels is HOST KEY=VALUE ...");
	LINES("x=1", "line 1: 'x=1' is not a host name: letters, digits and ._-:@/%+ are allowed");
	LINES("a\nb[1-", "line 2: 'b[1-' is not a host name: numbers are written as in web[1-3,7]");
}

TEST(hosts_are_refused)
{
	HOSTS("-oProxyCommand=x", "'-oProxyCommand=x' is not a host name: it begins with '-'");
	HOSTS("a;b", "'a;b' is not a host name: letters, digits and ._-:@/%+ are allowed");
	HOSTS("a\x1b[1]", "'a\\x1b1' is not a host name: letters, digits and ._-:@/%+ are allowed");
	HOSTS("$(x)", "'$(x)' is not a host name: letters, digits and ._-:@/%+ are allowed");
	HOSTS("a[1-", "'a[1-' is not a host name: numbers are written as in web[1-3,7]");
	HOSTS("a[]", "'a[]' is not a host name: numbers are written as in web[1-3,7]");
	HOSTS("a[3-1]", "'a[3-1]' is not a host name: numbers are written as in web[1-3,7]");
	HOSTS("a[1-x]", "'a[1-x]' is not a host name: numbers are written as in web[1-3,7]");
	HOSTS("a[1-99999]",
	      "'a[1-99999]' is not a host name: numbers are written as in web[1-3,7]");
	HOSTS("a[1-100][1-100]", "more than 4096 hosts");
	HOSTS("[-5]", "'[-5]' is not a host name: numbers are written as in web[1-3,7]");
}
