/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The accesses of one function to memory, in terms of the origin of its pointers, such as "8 bytes
 * at +208 from (the pointer at +48 of g) become the first argument".
 *
 * Used only by target/infer/: calibrate_insn.c decodes the function, calibrate_value.c stores
 * values, calibrate_flow.c and calibrate_step.c interpret all paths and record accesses.
 */
#ifndef TARGET_CALIBRATE_CODE_H
#define TARGET_CALIBRATE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target/arch/step.h"
#include "target/elf/elf.h"
#include "target/symbols/pclntab.h"

/* calibrate_insn.c: decoded instructions */

struct steps {
	struct go_func func;
	struct step *step;
	size_t n;
};

/* Loads and decodes a function. False: unreadable, too large, or invalid instructions. */
bool steps__read(struct steps *ret, const struct elf_image *elf, const struct go_func *func);
void steps__deinit(struct steps *s);
/* Index of the instruction at an address, or SIZE_MAX. */
size_t steps__at(const struct steps *s, uint64_t addr);

/* calibrate_value.c: values, which are equal exactly if their ids are */

enum value_kind {
	VALUE_NONE,
	VALUE_ENTRY,	  /* of register `k` on entry, or the return address */
	VALUE_G,	  /* the current goroutine: GPR_G on entry, thread-local storage */
	VALUE_CONST,	  /* `k` */
	VALUE_GLOBAL,	  /* the address `k` */
	VALUE_LOAD,	  /* `width` bytes at `k` from value `base` */
	VALUE_ADD,	  /* `base` + `k` */
	VALUE_BEFORE_ADD, /* content of `k` from `base` before an atomic addition */
	VALUE_STACK,	  /* the address `k` bytes from the stack pointer on entry */
	VALUE_JOIN,	  /* merge of several values at block `base`, number `k` */
	VALUE_OPAQUE,	  /* unknown result of instruction `base` in register `k` */
};

#define ENTRY_RETURN GPR_COUNT /* VALUE_ENTRY: the return address */

typedef uint32_t value_id; /* 0: none */

struct value {
	uint8_t kind; /* enum value_kind */
	uint8_t width;
	value_id base;
	int64_t k;
};

struct values {
	struct value *v;
	uint32_t *bucket, *next;
	uint32_t n;
	bool full; /* too many, or no memory: new values are VALUE_OPAQUE */
};

bool values__init(struct values *vs);
void values__deinit(struct values *vs);
value_id values__get(struct values *vs, enum value_kind kind, value_id base, int64_t k,
		     unsigned int width);
/* base + k, with additions, global and stack addresses folded. */
value_id values__add(struct values *vs, value_id base, int64_t k);
value_id values__load(struct values *vs, value_id base, int64_t disp, unsigned int width);

static inline const struct value *value__of(const struct values *vs, value_id id)
{
	return &vs->v[id];
}

/* calibrate_flow.c: what the function does */

enum access_op {
	ACCESS_READ,  /* `value`: what is read */
	ACCESS_WRITE, /* `value`: what is written */
	ACCESS_SWAP,  /* atomic exchange: Go's atomic store */
	ACCESS_ADD,   /* atomic addition */
	ACCESS_CAS,
	ACCESS_COMPARE, /* no memory: `value` with `other` */
	ACCESS_CALL,	/* no memory: `callee` (NULL: unknown) with its first two arguments */
	ACCESS_JUMP,	/* no memory: to `value` */
};

struct access {
	uint8_t op; /* enum access_op */
	uint8_t width;
	uint8_t scale; /* of `index` */
	uint32_t step;
	value_id base;	/* the address is base + index * scale + disp */
	value_id index; /* 0: none */
	int64_t disp;
	value_id value, other;
	const char *callee;
};

struct flow {
	const struct pclntab *pt;
	struct steps steps;
	struct values values;
	struct access *access;
	size_t n, cap;
	/* result of runtime.acquirem(), if not inlined: the offset of g.m; -1: unknown */
	int64_t g_m;
};

/*
 * Interprets every path through the function. False: unreadable or too large, jumps that cannot be
 * followed, or no memory. The caller releases *ret with flow__deinit().
 */
bool flow__read(struct flow *ret, const struct elf_image *elf, const struct pclntab *pt,
		const struct go_func *func, int64_t g_m);
void flow__deinit(struct flow *f);

#endif
