/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Candidate offsets found in machine code, and the functions that find them.
 *
 * Upstream: calibrate_flow.c. calibrate_shape.c, calibrate_places.c and calibrate_globals.c add
 * candidates; calibrate.c collects the accepted values.
 */
#ifndef TARGET_CALIBRATE_PLACES_H
#define TARGET_CALIBRATE_PLACES_H

#include "target/infer/calibrate_code.h"
#include "target/infer/offsets.h"

#define GLOBAL_INDEX(name) OFF_GLOBAL_##name,
/* Ids of everything inferred: the members (enum offset_id), then the globals. */
enum { OFF_GLOBAL_FIRST = OFF_COUNT - 1, GLOBALS(GLOBAL_INDEX) INFERRED_COUNT };
#undef GLOBAL_INDEX

#define CANDIDATES_MAX 8

/* The values that the code of one function allows: several where it is ambiguous. */
struct candidates {
	uint64_t v[CANDIDATES_MAX];
	size_t n;
	bool many; /* more than fit: no information */
};

struct evidence {
	struct candidates left; /* the values that all functions so far allow */
	unsigned int functions;
	bool proven; /* one of the functions is unambiguous */
	bool disputed;
};

struct calibration {
	struct evidence evidence[INFERRED_COUNT];
	unsigned int minor;
};

void candidates__add(struct candidates *set, uint64_t v);
/* Adds the values that one function allows; an empty set is ignored. `proof`: unambiguous. */
void calibration__add(struct calibration *c, unsigned int id, const struct candidates *set,
		      bool proof);
/* Adds the only value that an unambiguous function allows. */
void calibration__add_proof(struct calibration *c, unsigned int id, uint64_t v);
/* The only value left, by proof or from two functions that agree; false if there is none. */
bool calibration__known(const struct calibration *c, unsigned int id, uint64_t *ret);

/* What a function of the runtime reveals: by an access to a member, or by `infer`. */
struct inference {
	const char *function;
	uint8_t op, width;   /* enum access_op */
	uint8_t base, value; /* enum meaning */
	uint8_t member;	     /* enum offset_id, or OFF_GLOBAL_x */
	uint8_t weight;
	uint8_t since; /* Go 1.x */
	/* for more than one access; NULL: the access above */
	void (*infer)(struct calibration *c, const struct flow *f);
};

#define ROWS_MAX 80

/* In order of analysis: later functions depend on earlier ones. A NULL name ends the table. */
extern const struct inference calibrate_rows[ROWS_MAX];

/* calibrate_shape.c: applies the rows for the function of `f` */
void calibrate_shape__apply(struct calibration *c, const struct flow *f);

/* calibrate_places.c and calibrate_globals.c: by the analyzed function */
void calibrate_places__gogo(struct calibration *c, const struct flow *f);
void calibrate_places__mcall(struct calibration *c, const struct flow *f);
void calibrate_places__systemstack(struct calibration *c, const struct flow *f);
void calibrate_places__execute(struct calibration *c, const struct flow *f);
void calibrate_places__rt0_go(struct calibration *c, const struct flow *f);
void calibrate_places__newproc1(struct calibration *c, const struct flow *f);
void calibrate_places__minit(struct calibration *c, const struct flow *f);
void calibrate_globals__mcommoninit(struct calibration *c, const struct flow *f);
void calibrate_globals__allgadd(struct calibration *c, const struct flow *f);
void calibrate_globals__procresize(struct calibration *c, const struct flow *f);
void calibrate_globals__flushmcache(struct calibration *c, const struct flow *f);

static inline const struct value *value(const struct flow *f, value_id id)
{
	return value__of(&f->values, id);
}
/* Whether the value is the 8 bytes at *ret_disp from *ret_base. */
bool shape__is_load(const struct flow *f, value_id id, value_id *ret_base, uint64_t *ret_disp);
/* Whether the value is that of a register on entry. */
bool shape__is_entry(const struct flow *f, value_id id, int64_t reg);
/* Whether the value is getg().m. */
bool shape__is_m(const struct calibration *c, const struct flow *f, value_id id);
/* Whether this is a plain store of `width` bytes through a pointer. */
bool shape__is_write(const struct access *a, unsigned int width);
bool shape__is_global(const struct flow *f, value_id id);
/* Whether the value is `width` bytes of a global; *ret: its address. */
bool shape__reads_global(const struct flow *f, value_id id, unsigned int width, uint64_t *ret);
/* Whether this is an atomic store to a global. */
bool shape__swaps_global(const struct flow *f, const struct access *a, unsigned int width);
/* The address of an access whose base is a global. */
uint64_t shape__address(const struct flow *f, const struct access *a);

#endif
