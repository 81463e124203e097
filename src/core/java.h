/*
 * java.h - where HotSpot, the Java virtual machine, keeps which methods run. Offsets are in bytes.
 * Programs (unwind/walk_java.c) and user space (unwind/java.c) follow it.
 *
 * Code that is made at run time lies in a few heaps. A heap is divided into segments, and its map has a byte for
 * each: how many segments back a block begins, as far as a byte can tell, or JAVA_FREE.
 *
 *	heap                         map
 *	+--------------------------+ 0	block: its head, then a blob:
 *	| head | blob              | 1
 *	|      |   code            | 2	name, bytes of its frames, where code begins; the method, if it is an nmethod
 *	+--------------------------+ 0
 *
 * Each native frame there is one of Java, or of a stub. The interpreter is one blob, whose frames have frame
 * pointers, and the method below:
 *
 *	+-------------------------+
 *	| return address          |
 *	| caller's frame pointer  |<fp	     Method          ConstMethod         ConstantPool
 *	| caller's stack pointer  |	    +-------------+ +-----------------+ +-------------------+
 *	| ...                     |	    | constMethod |>| constants       |>| holder: InstanceKlass
 *	| Method                  |-------->+-------------+ | number of name  | | number of file    |
 *	| ...                     |			    +-----------------+ +-------------------+
 *	| bytecode (address)      |			    | bytecodes       | | Symbol by number  |
 *	+-------------------------+			    | lines           | | ...
 *
 * libjvm.so has tables of these numbers (gHotSpotVMStructs), which are filled in when it is loaded: they are read
 * from the first process's memory.
 */
#pragma once
#include "base/base.h"

/* In struct unwind_lang. */
struct unwind_java {
	/* What comes before a blob; of a blob: char *, u32 (in words), and .. */
	u32 head, name, frame_size;
	u32 complete,
		complete_bytes; /* u16 or u32: how much code runs before its frame is there; */
	u32 code, code_inside;  /* where its code is: a pointer, or (1) a u32, from the blob on; */
	u32 method;             /* of an nmethod */
	u32 const_method;       /* of a Method */
	u32 constants, name_index, code_size, flags,
		const_bytes; /* of a ConstMethod, and how long it is */
	u32 holder, file_index, pool_length,
		pool_bytes; /* of a ConstantPool: u32, how many words; likewise */
	u32 class_name;     /* of a Klass */
	u32 length, text;   /* of a Symbol */
	u32 file_in_class;  /* 1: file_index is of the class, an InstanceKlass */
	u32 pad[10];
};
enum {
	JAVA_HEAPS = 8,
	JAVA_FREE = 255,
	JAVA_HOPS = 8, /* of the map, until a block begins */
	JAVA_MAP_ALIGN = 4096,
	JAVA_BLOB_BYTES = 256, /* of a blob are read */
	JAVA_FRAME_WORDS = 9,  /* below the frame pointer: */
	JAVA_FRAME_BYTECODE = 8,
	JAVA_FRAME_METHOD = 3,
	JAVA_MAX_FRAME = 1 << 16, /* words */
	/* bytes from the stack pointer up to a frame pointer that is one: in the interpreter, in a stub */
	JAVA_NEAR = 1 << 20,
	JAVA_NEAR_STUB = 512,
	JAVA_SIGN_WORDS = 5,      /* of a ConstMethod, with which a method is told from others */
	JAVA_HAS_LINES = 1,       /* in .flags */
	JAVA_NAME_COMPILED = 264, /* in .name, of a record: u64, the nmethod; 0: none */
	/* What a record has of a method (struct unwind_code, whose .addr is the Method): in .code the ConstMethod, and
	 * behind it the ConstantPool; in .name its Symbol, in .file those of the class and the file; in .lines the
	 * lines. Of a Symbol the text, and before it its length (u64). */
	JAVA_CODE_CONST = 0,
	JAVA_CODE_POOL = 128,
	JAVA_PART = 128, /* each is shorter */
	JAVA_SYMBOL_HEAD = 8,
	JAVA_FILE_CLASS = 0,
	JAVA_FILE_SOURCE = 512,
	JAVA_NAME_BYTES = 256, /* of a text; of the class JAVA_CLASS_BYTES */
	JAVA_CLASS_BYTES = 504,
	JAVA_SOURCE_BYTES = 248,
};
/* Of a file, beyond that (struct interp_file.own): by these offsets user space finds the heaps. */
enum {
	JAVA_OWN_STRUCTS, /* tables of the file's base on: pointers to them */
	JAVA_OWN_TYPES,
	JAVA_OWN_HEAPS, /* likewise: a pointer to the array of heaps; of that: */
	JAVA_OWN_HEAPS_LEN,
	JAVA_OWN_HEAPS_DATA,
	JAVA_OWN_MEMORY, /* of a heap: its memory, its map (VirtualSpace), the size of its segments */
	JAVA_OWN_SEGMAP,
	JAVA_OWN_LOG2,
	JAVA_OWN_LOW_END, /* of a VirtualSpace: from where up to where it may be; from where it is */
	JAVA_OWN_HIGH_END,
	JAVA_OWN_LOW,
	JAVA_OWN_MAJOR, /* the version */
	/* Of a nmethod, where its scopes are (java_scopes.c). 0: not there in that version. */
	JAVA_OWN_FIXED,
	JAVA_OWN_FIXED_SIZE,
	JAVA_OWN_MUTABLE,
	JAVA_OWN_MUTABLE_SIZE,
	JAVA_OWN_RELOCATIONS,
	JAVA_OWN_SCOPES,
	JAVA_OWN_SCOPES_AT,
	JAVA_OWN_PLACES,
	JAVA_OWN_PLACES_END,
	JAVA_OWN_LIST,
	JAVA_OWNS,
};
/* Instructions by which compiled code makes its frame and gives it up. */
enum {
	JAVA_PUSH_FP = 0x55,
	JAVA_POP_FP = 0x5d,
	JAVA_RET = 0xc3,
	JAVA_SAVE_FP_8 = 0x246c8948, /* mov %rbp,N(%rsp) */
	JAVA_SAVE_FP_32 = 0x24ac8948,
	JAVA_BYTES_3 = 0xffffff, /* with these: */
	JAVA_BARRIER = 0x7f8141, /* cmpl $N,N(%r15), of 8 bytes; a jump follows */
	JAVA_POLL = 0x673b49,    /* cmp N(%r15),%rsp */
	JAVA_POLL_32 = 0xa73b49,
	JAVA_JUMP_ABOVE = 0x870f, /* of 6 bytes */
};
/* Names of blobs begin so, as 8 bytes. */
#define JAVA_NMETHOD     0x00646f6874656d6e /* "nmethod" */
#define JAVA_NATIVE      0x6e2065766974616e /* "native nmethod" */
#define JAVA_INTERPRETER 0x6572707265746e49 /* "Interpreter" */
