/* python.h - what interp_file.own means for CPython; offsets are in bytes. */
#pragma once
#include "core/interp.h"

enum python_own {
	OWN_MINOR,    /* 3.x */
	OWN_FIRST,    /* code object: its first line */
	OWN_BYTECODE, /* code object: where its instructions begin */
	OWN_TEXT,     /* str object: where ASCII text is */
	OWN_WIDER,    /* str object: so far behind that other text is */
	OWN_LENGTH,   /* str object: number of characters */
	OWN_STATE,    /* str object: how wide they are */
	OWN_BYTES, /* bytes object: its bytes; their number is OWN_SIZE bytes from its begin on */
	OWN_SIZE,
};
_Static_assert((int)OWN_SIZE < (int)INTERP_OWN, "room for all");
