/* common.h - the tables of builtins, and what several of them use. */
#pragma once
#include "lower/lower.h"

extern const struct builtin builtin_words[], builtin_vars[], builtin_task[], builtin_str[],
	builtin_mem[], builtin_test[], builtin_opt[], builtin_print[], builtin_time[],
	builtin_ctl[], builtin_map[], builtin_stack[], builtin_agg[], builtin_buckets[],
	builtin_bounds[], builtin_tseries[], builtin_names[], builtin_script[], builtin_kernel[],
	builtin_sleeper[], builtin_user[], builtin_emit[], builtin_keep[], builtin_syscall[],
	builtin_callid[], builtin_path[];
struct ref builtin_strlen(struct lower *l, struct node *call, struct mem dst);
/* Argument i is a string, a char array or a char pointer; reports. */
bool builtin_check_text(struct sema *s, struct node *call, u32 i);
/* Bytes that such a text may have, with its NUL. */
u32 builtin_text_size(const struct config *c, const struct node *n);
/* The text at address to, at most size bytes of it; result: its length with the NUL. */
struct ref builtin_put_text(struct lower *l, struct node *n, struct ref to, u32 size);
/* Of a call with the mode and the limit of a stack: its type, and whether they make sense (it reports). */
const struct type *builtin_stack_type(struct sema *s, struct node *call, enum type_kind kind);
bool builtin_check_stack(struct sema *s, struct node *call);

/* In fentry and fexit: where the probed function returns to. */
struct ref builtin_kernel_caller(struct lower *l);
/* An aggregation's first argument is a number; reports. */
bool builtin_check_int(struct sema *s, struct node *call);

/* How to read what a pointer (or an integer used as one) points to in this probe. */
enum space builtin_space(struct lower *l, const struct type *t);
/* Where the stack pointer of the context leads. */
enum space builtin_stack_space(struct lower *l);
/* Integer, bool, enum or pointer: something that fits a register and may be an address. */
bool builtin_is_addr(const struct type *t);
/* "string", "int": a kind of type for messages. */
const char *builtin_kind(const struct type *t);
/* Argument i as a compile-time text; reports "NAME() expects a string literal (KIND provided)". */
bool builtin_text(struct sema *s, struct node *call, u32 i, struct str *ret);
/* The same for an integer literal. */
bool builtin_lit(struct sema *s, struct node *call, u32 i, i64 *ret);
/* Where a member of a struct of the kernel is, "f_path.dentry". False: there is none. */
bool builtin_offset_of(struct types *k, const char *of, const char *path, u32 *ret);
/* Reports that the kernel has no symbol of that name; returns false. */
bool builtin_no_symbol(struct sema *s, struct loc loc, struct str name);
/* An address of a kernel symbol becomes a number of the program. */
void builtin_keeps_address(struct compile *c);
/* Argument i is a bare identifier of this name (nsecs(boot)). */
bool builtin_arg_is(const struct node *call, u32 i, const char *name);
/* Process and thread id as (pid << 32 | tid), as the namespace in which sonde runs numbers them. */
struct ref builtin_pid_tgid(struct lower *l);
struct ref builtin_pid(struct lower *l); /* the former alone */
void builtin_outer_ids(struct lower *l, u64 ino, struct ref ids);
struct ref builtin_task_id(struct lower *l, const char *member);
/* Calls fn through a record: the arguments from i on travel, with the text of fmt (may be NULL) in
 * the schema. */
struct ref builtin_send(struct lower *l, struct node *call, u32 first, struct str fmt);
