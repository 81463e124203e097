/* registry.c - every way to keep a map, in the order of preference; what several of them use. */
#include "store/common.h"

const struct store *const stores[] = {
	&store_slots, &store_percpu_array, &store_array, &store_by_cpu, &store_table,
	&store_cells, &store_percpu_hash,  &store_hash,  NULL,
};

struct ref store_this_cpu(struct lower *l)
{
	struct ref cpu = ir_callp(l->f, BPF_FUNC_get_smp_processor_id, 0, NULL);
	return ir_op2(l->f, O_AND, cpu, ir_con(l->f, store_cpus(l->c->host->ncpu) - 1));
}
