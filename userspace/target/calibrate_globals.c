// SPDX-License-Identifier: GPL-2.0
/*
 * The places in the runtime's code that tell where its global variables are.
 *
 * Called by the list in calibrate_places.c, as what that file itself has for struct members.
 */
#include "target/calibrate_places.h"

/* mp.alllink = allm; atomicstorep(&allm, mp) */
void calibrate_globals__mcommoninit(struct calibration *c, const struct flow *f)
{
	struct candidates link = { .n = 0 }, allm = { .n = 0 };

	for (size_t i = 0; i < f->n; i++) {
		const struct access *a = &f->access[i];
		uint64_t head;

		if (!shape__swaps_global(f, a, 8) || !shape__is_entry(f, a->value, GPR_AX))
			continue;
		for (size_t j = 0; j < f->n; j++) {
			const struct access *b = &f->access[j];

			if (shape__is_write(b, 8) && shape__is_entry(f, b->base, GPR_AX) &&
			    shape__reads_global(f, b->value, 8, &head) &&
			    head == shape__address(f, a)) {
				candidates__add(&link, (uint64_t)b->disp);
				candidates__add(&allm, head);
			}
		}
	}
	calibration__vote(c, OFF_M_ALLLINK, &link, true);
	calibration__vote(c, OFF_GLOBAL_allm, &allm, true);
}

/* All of a function's globals that it reads `width` bytes of: one of them is `ballot`. */
static void hint_globals(struct calibration *c, const struct flow *f, unsigned int width,
			 unsigned int ballot)
{
	struct candidates set = { .n = 0 };
	uint64_t at;

	for (size_t i = 0; i < f->n; i++) {
		if (f->access[i].op == ACCESS_READ &&
		    shape__reads_global(f, f->access[i].value, width, &at))
			candidates__add(&set, at);
	}
	calibration__vote(c, ballot, &set, false);
}

static bool writes_global(const struct flow *f, uint64_t addr)
{
	for (size_t i = 0; i < f->n; i++) {
		const struct access *a = &f->access[i];

		if (shape__is_write(a, 8) && shape__is_global(f, a->base) &&
		    shape__address(f, a) == addr)
			return true;
	}
	return false;
}

/* allgs = append(allgs, gp): a slice, and written as one */
static bool is_slice(const struct flow *f, uint64_t addr)
{
	return writes_global(f, addr) && writes_global(f, addr + 8) && writes_global(f, addr + 16);
}

/* if &allgs[0] != allgptr { atomicstorep(&allgptr, &allgs[0]) } */
static bool find_allgptr(const struct flow *f, uint64_t *ret_gs, uint64_t *ret_ptr)
{
	unsigned int found = 0;

	for (size_t i = 0; i < f->n; i++) {
		const struct access *a = &f->access[i];
		uint64_t x, y;

		if (a->op != ACCESS_COMPARE || !shape__reads_global(f, a->value, 8, &x) ||
		    !shape__reads_global(f, a->other, 8, &y))
			continue;
		if (is_slice(f, x) == is_slice(f, y))
			continue;
		*ret_gs = is_slice(f, x) ? x : y;
		*ret_ptr = is_slice(f, x) ? y : x;
		found++;
	}
	return found == 1;
}

static bool is_swapped(const struct flow *f, uint64_t addr)
{
	for (size_t i = 0; i < f->n; i++) {
		const struct access *a = &f->access[i];

		if (shape__swaps_global(f, a, 8) && shape__address(f, a) == addr)
			return true;
	}
	return false;
}

/* … atomic.Storeuintptr(&allglen, uintptr(len(allgs))) */
void calibrate_globals__allgadd(struct calibration *c, const struct flow *f)
{
	struct candidates len = { .n = 0 };
	uint64_t gs = 0, ptr = 0;

	if (!find_allgptr(f, &gs, &ptr) || !is_swapped(f, ptr))
		return;
	calibration__vote_one(c, OFF_GLOBAL_allgs, gs);
	calibration__vote_one(c, OFF_GLOBAL_allgptr, ptr);
	for (size_t i = 0; i < f->n; i++) {
		const struct access *a = &f->access[i];

		if (shape__swaps_global(f, a, 8) && shape__address(f, a) != ptr)
			candidates__add(&len, shape__address(f, a));
	}
	calibration__vote(c, OFF_GLOBAL_allglen, &len, true);
}

/* The same globals, read. */
void calibrate_globals__for_each_g(struct calibration *c, const struct flow *f)
{
	hint_globals(c, f, 8, OFF_GLOBAL_allgs);
}

void calibrate_globals__atomic_all_g(struct calibration *c, const struct flow *f)
{
	hint_globals(c, f, 8, OFF_GLOBAL_allgptr);
	hint_globals(c, f, 8, OFF_GLOBAL_allglen);
}

/*
 * if nprocs > int32(len(allp)) { … allp = allp[:nprocs] }; …;
 * atomic.Store((*uint32)(&gomaxprocs), uint32(nprocs))
 */
void calibrate_globals__procresize(struct calibration *c, const struct flow *f)
{
	struct candidates allp = { .n = 0 }, max = { .n = 0 };

	for (size_t i = 0; i < f->n; i++) {
		const struct access *a = &f->access[i];
		uint64_t len;

		if (shape__swaps_global(f, a, 4) && shape__is_entry(f, a->value, GPR_AX))
			candidates__add(&max, shape__address(f, a));
		if (a->op != ACCESS_COMPARE ||
		    !(shape__is_entry(f, a->value, GPR_AX) || shape__is_entry(f, a->other, GPR_AX)))
			continue;
		if ((shape__reads_global(f, a->value, 4, &len) ||
		     shape__reads_global(f, a->other, 4, &len) ||
		     shape__reads_global(f, a->value, 8, &len) ||
		     shape__reads_global(f, a->other, 8, &len)) &&
		    is_slice(f, len - 8))
			candidates__add(&allp, len - 8);
	}
	calibration__vote(c, OFF_GLOBAL_gomaxprocs, &max, true);
	calibration__vote(c, OFF_GLOBAL_allp, &allp, true);
}

/* pp := allp[i] */
void calibrate_globals__flushmcache(struct calibration *c, const struct flow *f)
{
	struct candidates allp = { .n = 0 };
	uint64_t at;

	for (size_t i = 0; i < f->n; i++) {
		const struct access *a = &f->access[i];

		if (a->op == ACCESS_READ && a->index && shape__is_entry(f, a->index, GPR_AX) &&
		    a->scale == 8 && !a->disp && shape__reads_global(f, a->base, 8, &at))
			candidates__add(&allp, at);
	}
	calibration__vote(c, OFF_GLOBAL_allp, &allp, true);
}

/* ret := int(gomaxprocs) */
void calibrate_globals__gomaxprocs(struct calibration *c, const struct flow *f)
{
	hint_globals(c, f, 4, OFF_GLOBAL_gomaxprocs);
}
