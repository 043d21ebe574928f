/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What calibrate_shape.c and calibrate_places.c find and calibrate.c collects.
 */
#ifndef TARGET_CALIBRATE_PLACES_H
#define TARGET_CALIBRATE_PLACES_H

#include "target/calibrate_code.h"
#include "target/offsets.h"

#define GLOBAL_INDEX(name) OFF_GLOBAL_##name,
/* What is voted on: the members, and the globals behind them. */
enum { OFF_GLOBAL_FIRST = OFF_COUNT - 1, GLOBALS(GLOBAL_INDEX) BALLOTS };
#undef GLOBAL_INDEX

#define CANDIDATES_MAX 8

/* What one place in the code may mean: more than one where its shape fits several. */
struct candidates {
	uint64_t v[CANDIDATES_MAX];
	size_t n;
	bool many; /* more than there is room for: says nothing */
};

struct ballot {
	struct candidates left; /* what all places so far agree on */
	unsigned int places;
	bool proven; /* a place among them whose shape means nothing else */
	bool disputed;
};

struct calibration {
	struct ballot ballot[BALLOTS];
	unsigned int minor;
};

void candidates__add(struct candidates *set, uint64_t v);
/* A place's word. An empty set is none. */
void calibration__vote(struct calibration *c, unsigned int ballot, const struct candidates *set,
		       bool proof);
/* The word of a place that means one thing only. */
void calibration__vote_one(struct calibration *c, unsigned int ballot, uint64_t v);
/* The only value that is left, by proof or by two places that agree: false if there is none. */
bool calibration__known(const struct calibration *c, unsigned int ballot, uint64_t *ret);

struct place {
	const char *function;
	void (*look)(struct calibration *c, const struct flow *f); /* NULL: by table only */
};

#define PLACES_MAX 64

/* In the order in which to look: later ones build on earlier ones. A NULL name ends it. */
extern const struct place calibrate_places[PLACES_MAX];

/* calibrate_shape.c: its table's rows for the function of `f` */
void calibrate_shape__by_table(struct calibration *c, const struct flow *f);

/* calibrate_globals.c: by the function that is looked at */
void calibrate_globals__mcommoninit(struct calibration *c, const struct flow *f);
void calibrate_globals__allgadd(struct calibration *c, const struct flow *f);
void calibrate_globals__for_each_g(struct calibration *c, const struct flow *f);
void calibrate_globals__atomic_all_g(struct calibration *c, const struct flow *f);
void calibrate_globals__procresize(struct calibration *c, const struct flow *f);
void calibrate_globals__flushmcache(struct calibration *c, const struct flow *f);
void calibrate_globals__gomaxprocs(struct calibration *c, const struct flow *f);

static inline const struct value *value(const struct flow *f, value_id id)
{
	return value__of(&f->values, id);
}
/* The 8 bytes at `ret_disp` from `ret_base`. */
bool shape__is_load(const struct flow *f, value_id id, value_id *ret_base, uint64_t *ret_disp);
/* A pointer that stands at member `ballot` of what `ret_base` is. */
bool shape__is_member(const struct calibration *c, const struct flow *f, value_id id,
		      unsigned int ballot, value_id *ret_base);
/* What a register held on entry. */
bool shape__is_entry(const struct flow *f, value_id id, int64_t reg);
/* getg().m */
bool shape__is_m(const struct calibration *c, const struct flow *f, value_id id);
/* A plain store of `width` bytes behind some pointer. */
bool shape__is_write(const struct access *a, unsigned int width);
bool shape__is_global(const struct flow *f, value_id id);
/* `width` bytes of a global: at which address. */
bool shape__reads_global(const struct flow *f, value_id id, unsigned int width, uint64_t *ret);
/* An atomic store to a global. */
bool shape__swaps_global(const struct flow *f, const struct access *a, unsigned int width);
/* Of an access whose base is a global. */
uint64_t shape__address(const struct flow *f, const struct access *a);

#endif
