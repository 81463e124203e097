#include "agent/audit.h"
#include "test.h"

TEST(audit_forms)
{
	struct str word[] = {STR("-p"), STR("a \"b\" \x1b[1m")};
	const struct question q = {.id = {0xab},
				   .for_ns = 10ull * SECOND_NS,
				   .kind = QUESTION_TOOL,
				   .name = STR("opensnoop"),
				   .argument = {word, 2},
				   .asker = STR("ann@desk")};
	const struct audit a = {.q = &q,
				.host = STR("web1"),
				.signer = STR("ann@corp"),
				.sha256 = "",
				.end = AUDIT_REFUSED,
				.why = STR("because\nof \"this\"")};
	AUTO_SB line = {0};
	AUTO_SB json = {0};
	audit_line(&a, &line);
	CHECK_STR(
		line.s,
		"id=\"ab000000000000000000000000000000\" host=\"web1\" asker=\"ann@desk\" "
		"signer=\"ann@corp\" kind=\"tool\" what=\"opensnoop -p a \\\"b\\\" \\x1b[1m\" "
		"sha256=\"\" "
		"for_ns=10000000000 took_ns=0 cpu_ns=0 bytes=0 end=\"refused\" why=\"because\\nof "
		"\\\"this\\\"\"");
	audit_json(&a, &json);
	CHECK_STR(json.s, "{\"id\": \"ab000000000000000000000000000000\", \"host\": \"web1\", "
			  "\"asker\": \"ann@desk\", "
			  "\"signer\": \"ann@corp\", \"kind\": \"tool\", \"what\": \"opensnoop -p "
			  "a \\\"b\\\" \\u001b[1m\", "
			  "\"sha256\": \"\", \"for_ns\": 10000000000, \"took_ns\": 0, \"cpu_ns\": "
			  "0, \"bytes\": 0, "
			  "\"end\": \"refused\", \"why\": \"because\\nof \\\"this\\\"\"}");
}

TEST(audit_of_stops)
{
	struct question q = {.kind = QUESTION_STOP, .asker = STR("ann@desk")};
	const struct audit a = {.q = &q, .sha256 = "", .end = AUDIT_ANSWERED};
	for (u32 i = 0; i < 2; i++) {
		AUTO_SB line = {0};
		q.name = i ? STR("ab00") : STR("");
		audit_line(&a, &line);
		CHECK_STR(
			strstr(line.s, "kind="),
			i ? "kind=\"stop\" what=\"ab00\" sha256=\"\" for_ns=0 took_ns=0 cpu_ns=0 "
			    "bytes=0 end=\"answered\" why=\"\""
			  : "kind=\"stop\" what=\"--all\" sha256=\"\" for_ns=0 took_ns=0 cpu_ns=0 "
			    "bytes=0 end=\"answered\" why=\"\"");
	}
}

/* A line of a log is not as long as a script. */
TEST(audit_is_bounded)
{
	static char big[2000];
	struct str word[] = {str_n(big, sizeof(big)), STR("more")};
	const struct question q = {.kind = QUESTION_PROGRAM, .argument = {word, 2}};
	const struct audit a = {.q = &q,
				.sha256 = "00ff",
				.end = AUDIT_ANSWERED,
				.took_ns = 1,
				.cpu_ns = 2,
				.bytes = 3};
	AUTO_SB line = {0};
	memset(big, 'x', sizeof(big));
	audit_line(&a, &line);
	CHECK(line.n < 900);
	CHECK(strstr(line.s, " kind=\"program\" what=\"-e xxxx") &&
	      strstr(line.s, "xxx...\" sha256=\"00ff\" for_ns=0 took_ns=1 cpu_ns=2 bytes=3 "
			     "end=\"answered\" "
			     "why=\"\""));
}
