/* kfunc.c - which kernel functions may a kind of program call? Asked by trying. */
#include "base/alloc.h"
#include "kern/bpf.h"
#include "kern/sys.h"

bool bpf_kfunc_allowed(struct host *h, u32 btf_id, u32 prog_type, u32 attach_type,
		       u32 attach_btf_id)
{
	/* The function is looked at before its arguments, which are missing here. */
	const struct bpf_insn insn[] = {
		INSN(BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_KFUNC_CALL, 0, (i32)btf_id), I_MOV(0, 0),
		I_EXIT};
	const struct prog_spec s = {.name = "try",
				    .license = "GPL",
				    .type = prog_type,
				    .attach_type = attach_type,
				    .attach_btf_id = attach_btf_id,
				    .insn = insn,
				    .ninsn = countof(insn)};
	char *log AUTO_FREE = xcalloc(1, 4096);
	long r;

	if (h->recorded || !log)
		return false;
	r = prog_load_once(&s, NULL, log, 4096, 1);
	if (r >= 0) {
		close((int)r);
		return true;
	}
	return log[0] && !strstr(log, "not allowed") && !strstr(log, "not supported") &&
	       !strstr(log, "invalid kernel function");
}
