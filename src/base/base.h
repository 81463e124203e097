/* base.h - integer names, slices, and the handful of macros everyone uses. */
#pragma once
#include <assert.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64; /* unsigned long long everywhere: print with %llu */
typedef __s8 i8;
typedef __s16 i16;
typedef __s32 i32;
typedef __s64 i64;

#define countof(a)      (sizeof(a) / sizeof((a)[0]))
#define PRINTF(fmt, va) __attribute__((format(printf, fmt, va)))
#define MUST_USE        __attribute__((warn_unused_result))
#define CLEANUP(f)      __attribute__((cleanup(f)))
#define MIN(a, b)       ((a) < (b) ? (a) : (b))
#define MAX(a, b)       ((a) > (b) ? (a) : (b))
#define ALIGN_UP(n, a)  (((n) + (a)-1) / (a) * (a))

static inline void free_ptr(void *p)
{
	free(*(void **)p);
}
#define AUTO_FREE CLEANUP(free_ptr)

static inline void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}
#define AUTO_CLOSE CLEANUP(close_fd)

struct str {
	const char *s;
	u32 n;
}; /* a view: not owned, not NUL-terminated */
#define STR(lit) ((struct str){(lit), sizeof(lit) - 1})
#define STRF(x)  (int)(x).n, (x).s /* for printf("%.*s") */
