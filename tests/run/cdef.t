NAME struct
PROG #define AT(t) ((struct t *)((uint64)curtask + offsetof(struct task_struct, comm)))
