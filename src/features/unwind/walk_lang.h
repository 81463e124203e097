/*
 * walk_lang.h - frames of interpreted languages in a walk: what the files share that walk them.
 * walk_lang.c walks those that struct unwind_lang describes by numbers, walk_perl.c those of Perl, walk_v8.c those
 * of JavaScript, walk_java.c those of Java.
 */
#pragma once
#include "unwind/walk.h"

#define LANG(member) ((i32)offsetof(struct unwind_lang, member))
#define CODE(member) ((i32)offsetof(struct unwind_code, member))

/* Of the frame being walked. */
struct lang {
	struct lower *l;
	struct fn *f;
	struct ref walk, row, number; /* row: of langs; number: its, and 1 */
	/* Control goes to leave, or to off when the next frame is not of the same native frame, to none when
	 * there is no frame, to lost when it cannot be read, and to full. */
	struct blk *lost, *full, *none, *off, *leave;
};
/* A number of the row. */
struct ref lang_param(const struct lang *x, i32 member);
/* The word of the frame that was read (walk.lang_frame) at an offset that the row tells. */
struct ref lang_frame_word(const struct lang *x, i32 member);
/* So many bytes of the process to a place in the walk's memory. */
void lang_read(const struct lang *x, i32 to, struct ref n, struct ref addr);
struct ref lang_word(const struct lang *x, struct ref addr);
/* The address of the thread's state. */
struct ref lang_state(const struct lang *x);

struct shown {
	struct ref sign, code; /* what tells the function apart, and its address */
	struct ref instr;
};
/* The frame's word into the stack, and its function to those whose names have to be sent. */
void lang_show(const struct lang *x, struct ref frames, u32 limit, const struct shown *s);
/* Any word there. */
void lang_put(const struct lang *x, struct ref frames, u32 limit, struct ref word);
/* n bytes (a value) of the process, or up to the end of the page when the next one cannot be read; they are
 * to be at an offset in the record. */
void lang_copy(struct lower *l, struct ref rec, struct ref to, struct ref n, struct ref addr);

/* At a native frame of the interpreter's: is it that of the function which runs the program? Then what is left
 * precedes it. */
struct perl_enter {
	struct ref walk, row, number;
	struct ref pc; /* counted from the file's base */
	bool only;     /* native frames are not put */
};
void unwind_perl_enter(struct lower *l, const struct perl_enter *e);
/* One round of the walk; control goes where struct lang says. */
void unwind_perl_frame(const struct lang *x, struct ref frames, u32 limit);
struct code_names {
	struct ref walk, rec, row;
	struct ref code, file; /* as struct unwind_codes has them */
	struct ref word;       /* of a frame of the function */
};
/* Names of a function into the record. */
void unwind_perl_names(struct lower *l, const struct code_names *n);

/* Likewise; of the native frame that unwind_lang_enter() was at. */
void unwind_v8_frame(const struct lang *x, struct ref frames, u32 limit);
void unwind_v8_names(struct lower *l, const struct code_names *n);

/* Likewise of Java. */
void unwind_java_frame(const struct lang *x, struct ref frames, u32 limit);
void unwind_java_names(struct lower *l, const struct code_names *n);
/* The row of langs of a piece that has one. */
struct ref lang_row_of(struct lower *l, struct fn *f, struct ref piece);

/* Reads of what may be no object at all (walk_v8.c, walk_java.c): control goes to no when they fail. */
struct lang_reads {
	struct fn *f;
	struct ref walk, row;
	struct blk *no;
};

/* A number of the layout, at offset member of its row. */
static inline struct ref lang_number(const struct lang_reads *r, i32 member)
{
	return ir_load(r->f, 4, r->row, member);
}

/* Bytes of the process into the walk at offset to. */
static inline void lang_read_to(const struct lang_reads *r, i32 to, struct ref bytes,
				struct ref addr)
{
	struct fn *f = r->f;
	struct blk *ok = ir_blk(f);
	struct ref bad =
		ir_call(f, BPF_FUNC_probe_read_user, ARGS(ir_addi(f, r->walk, to), bytes, addr));
	ir_br(f, O_EQ, bad, ir_con(f, 0), ok, r->no);
	ir_at(f, ok);
}
