/*
 * btf.h - kernel BTF as types.
 *
 * The file is mapped (or read where mapping fails), walked once, and searched by
 * name; nothing is copied but what a script uses. Types made from it live in
 * the arena given at opening, each id is made once; their names lie in the
 * mapping, so they end with btf_types_close(). Malformed input gives an
 * err at opening or an error type, never a crash.
 *
 *	err = btf_types_open("/sys/kernel/btf/vmlinux", arena, NULL, &k);
 *	t = btf_types_find(k, STR("task_struct"), T_STRUCT);
 *	btf_types_close(k);
 */
#pragma once
#include "types/type.h"

struct types;

/* base: vmlinux's, for a module's split BTF; else NULL. */
struct err *btf_types_open(const char *path, struct arena *a, struct types *base,
			   struct types **ret);
struct err *btf_types_mem(const void *data, size_t n, struct arena *a, struct types *base,
			  struct types **ret);
void btf_types_close(struct types *k);

/* By name and kind (T_STRUCT, T_UNION, T_ENUM, T_FUNC ...; T_NONE: any type name, typedefs
 * resolved). NULL: none. */
const struct type *btf_types_find(struct types *k, struct str name, enum type_kind kind);
u32 btf_types_id(struct types *k, struct str name, u32 btf_kind); /* BTF_KIND_*; 0: none */
const struct type *btf_types_get(struct types *k, u32 id);
/*
 * A FUNC's or typedef'd pointer-to-prototype's (btf_trace_*) signature: T_FUNC; NULL: none.
 * Parameters' bit_off is where a tracing program's context has them (slots of 64 bits). The kernel
 * names parameters of __traceiter_NAME, not those of btf_trace_NAME.
 */
const struct type *btf_types_func(struct types *k, u32 id);
/* Value of an enumerator anywhere in the BTF (TCP_CLOSE). */
bool btf_types_enumerator(struct types *k, struct str name, i64 *val, const struct type **ret);
/* Names of one BTF kind that match a glob, in file order; cb false: stop. */
typedef bool btf_name_cb(struct str name, u32 id, void *arg);
void btf_types_each(struct types *k, u32 btf_kind, struct str glob, btf_name_cb *cb, void *arg);
