/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What one function of the program does to memory, in terms of where its pointers came from.
 *
 * For target/calibrate*.c alone. calibrate_insn.c decodes the function, calibrate_value.c holds the
 * values, calibrate_flow.c and calibrate_step.c run over all of its ways and say what it reads and
 * writes:
 * "8 bytes at +208 from (what stands at +48 of g) become what register AX was on entry".
 */
#ifndef TARGET_CALIBRATE_CODE_H
#define TARGET_CALIBRATE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target/elf.h"
#include "target/pclntab.h"
#include "target/site_insn.h" /* enum gpr */

/* calibrate_insn.c: instructions, as far as they matter here */

enum step_op {
	STEP_OTHER,
	STEP_MOVE,
	STEP_LEA,
	STEP_ADD,
	STEP_ZERO,
	STEP_COMPARE,
	STEP_XCHG,
	STEP_XADD,
	STEP_CMPXCHG,
	STEP_PUSH,
	STEP_POP,
	STEP_CALL,
	STEP_JMP,
	STEP_JCC,
	STEP_RET,
	STEP_TRAP,
};

enum operand_kind { OPERAND_NONE, OPERAND_REG, OPERAND_MEM, OPERAND_IMM };

struct operand {
	uint8_t kind;	      /* enum operand_kind */
	uint8_t width;	      /* bytes */
	uint8_t reg;	      /* enum gpr: the register, or memory's base register */
	uint8_t index, scale; /* of memory */
	bool fs;	      /* thread-local storage */
	bool rip;	      /* `value` is the address */
	bool high;	      /* of a register: not its lowest bytes */
	bool read, written;
	int64_t value; /* constant, displacement or address */
};

struct step {
	uint64_t addr;
	uint64_t target; /* of a direct jump or call */
	struct operand op[3];
	uint32_t writes; /* registers, for STEP_OTHER */
	uint8_t kind;	 /* enum step_op */
	uint8_t len;
	bool scatters; /* writes memory that no operand names (rep stos, movs) */
};

struct steps {
	struct go_func func;
	struct step *step;
	size_t n;
};

/* The whole function. False: unreadable, too large, or bytes that are no instruction. */
bool steps__read(struct steps *ret, const struct elf_image *elf, const struct go_func *func);
void steps__deinit(struct steps *s);
/* Index of the instruction at an address, or SIZE_MAX. */
size_t steps__at(const struct steps *s, uint64_t addr);

/* calibrate_value.c: values, equal exactly when their numbers are */

enum value_kind {
	VALUE_NONE,
	VALUE_ENTRY,	  /* of register `k` on entry, or the return address */
	VALUE_G,	  /* the current goroutine: R14 on entry, thread-local storage */
	VALUE_CONST,	  /* `k` */
	VALUE_GLOBAL,	  /* the address `k` */
	VALUE_LOAD,	  /* `width` bytes at `k` from value `base` */
	VALUE_ADD,	  /* `base` + `k` */
	VALUE_BEFORE_ADD, /* what stood at `k` from `base` before an atomic addition */
	VALUE_STACK,	  /* the address `k` bytes from the stack pointer on entry */
	VALUE_JOIN,	  /* several values meet at block `base`, the `k`th time */
	VALUE_OPAQUE,	  /* made by instruction `base` in register `k` */
};

#define ENTRY_RETURN 16 /* VALUE_ENTRY: the return address */

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
	bool full; /* too many, or no memory: everything is VALUE_OPAQUE from here */
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
	ACCESS_SWAP,  /* the same as one step: Go's atomic store */
	ACCESS_ADD,   /* atomic addition */
	ACCESS_CAS,
	ACCESS_COMPARE, /* no memory: `value` with `other` */
	ACCESS_CALL,	/* no memory: `callee`, NULL: not known; AX `value`, BX `other` */
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
	/* what runtime.acquirem() returns, when not inlined: (this offset from g); -1: not known */
	int64_t g_m;
};

/*
 * Follows every way through the function. False: it is unreadable or too large, has jumps that
 * cannot be followed, or there is no memory.
 */
bool flow__read(struct flow *ret, const struct elf_image *elf, const struct pclntab *pt,
		const struct go_func *func, int64_t g_m);
void flow__deinit(struct flow *f);

#endif
