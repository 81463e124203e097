/*
 * vec.h - growing arrays.
 *
 *	VEC(int) v = {0};  vec_add(&v, 3);  v.v[0], v.n;  vec_free(&v);
 */
#pragma once
#include "base/base.h"

#define VEC(T)              \
	struct {            \
		T *v;       \
		u32 n, cap; \
	}
void *vec_grow(void *v, u32 n, u32 *cap, size_t size); /* room for n + 1; aborts without memory */
#define vec_add(p, ...)                                                                  \
	((p)->n == (p)->cap                                                              \
		 ? (void)((p)->v = vec_grow((p)->v, (p)->n, &(p)->cap, sizeof(*(p)->v))) \
		 : (void)0,                                                              \
	 (p)->v[(p)->n++] = (__VA_ARGS__))
#define vec_free(p) (free((p)->v), (p)->v = NULL, (p)->n = (p)->cap = 0)
