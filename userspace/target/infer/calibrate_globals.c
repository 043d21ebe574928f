// SPDX-License-Identifier: GPL-2.0
/*
 * Infers the addresses of the runtime's global variables where one access does not suffice.
 *
 * Upstream: calibrate_flow.c. Downstream: calibrate.c, by the table in calibrate_shape.c.
 */
#include "target/infer/calibrate_places.h"

/* mp.alllink = allm; atomicstorep(&allm, mp) */
void calibrate_globals__mcommoninit(struct calibration *c, const struct flow *f)
{
	struct candidates link = { .n = 0 }, allm = { .n = 0 };

	for (size_t i = 0; i < f->n; i++) {
		const struct access *a = &f->access[i];
		uint64_t head;

		if (!shape__swaps_global(f, a, 8) || !shape__is_entry(f, a->value, GPR_ARG1))
			continue;
		for (size_t j = 0; j < f->n; j++) {
			const struct access *b = &f->access[j];

			if (shape__is_write(b, 8) && shape__is_entry(f, b->base, GPR_ARG1) &&
			    shape__reads_global(f, b->value, 8, &head) &&
			    head == shape__address(f, a)) {
				candidates__add(&link, (uint64_t)b->disp);
				candidates__add(&allm, head);
			}
		}
	}
	calibration__add(c, OFF_M_ALLLINK, &link, true);
	calibration__add(c, OFF_GLOBAL_allm, &allm, true);
}

/* Whether 8 bytes are stored at `addr`; atomically, if `swapped`. */
static bool is_stored(const struct flow *f, uint64_t addr, bool swapped)
{
	for (size_t i = 0; i < f->n; i++) {
		const struct access *a = &f->access[i];

		if ((swapped ? shape__swaps_global(f, a, 8) :
			       shape__is_write(a, 8) && shape__is_global(f, a->base)) &&
		    shape__address(f, a) == addr)
			return true;
	}
	return false;
}

/* allgs = append(allgs, gp): three consecutive words are written */
static bool is_slice(const struct flow *f, uint64_t addr)
{
	return is_stored(f, addr, false) && is_stored(f, addr + 8, false) &&
	       is_stored(f, addr + 16, false);
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

/* … atomic.Storeuintptr(&allglen, uintptr(len(allgs))) */
void calibrate_globals__allgadd(struct calibration *c, const struct flow *f)
{
	struct candidates len = { .n = 0 };
	uint64_t gs = 0, ptr = 0;

	if (!find_allgptr(f, &gs, &ptr) || !is_stored(f, ptr, true))
		return;
	calibration__add_proof(c, OFF_GLOBAL_allgs, gs);
	calibration__add_proof(c, OFF_GLOBAL_allgptr, ptr);
	for (size_t i = 0; i < f->n; i++) {
		const struct access *a = &f->access[i];

		if (shape__swaps_global(f, a, 8) && shape__address(f, a) != ptr)
			candidates__add(&len, shape__address(f, a));
	}
	calibration__add(c, OFF_GLOBAL_allglen, &len, true);
}

/* if nprocs > int32(len(allp)) { … allp = allp[:nprocs] } */
void calibrate_globals__procresize(struct calibration *c, const struct flow *f)
{
	struct candidates allp = { .n = 0 };

	for (size_t i = 0; i < f->n; i++) {
		const struct access *a = &f->access[i];
		uint64_t len;

		if (a->op != ACCESS_COMPARE || !(shape__is_entry(f, a->value, GPR_ARG1) ||
						 shape__is_entry(f, a->other, GPR_ARG1)))
			continue;
		if ((shape__reads_global(f, a->value, 4, &len) ||
		     shape__reads_global(f, a->other, 4, &len) ||
		     shape__reads_global(f, a->value, 8, &len) ||
		     shape__reads_global(f, a->other, 8, &len)) &&
		    is_slice(f, len - 8))
			candidates__add(&allp, len - 8);
	}
	calibration__add(c, OFF_GLOBAL_allp, &allp, true);
}

/* pp := allp[i] */
void calibrate_globals__flushmcache(struct calibration *c, const struct flow *f)
{
	struct candidates allp = { .n = 0 };
	uint64_t at;

	for (size_t i = 0; i < f->n; i++) {
		const struct access *a = &f->access[i];

		if (a->op == ACCESS_READ && a->index && shape__is_entry(f, a->index, GPR_ARG1) &&
		    a->scale == 8 && !a->disp && shape__reads_global(f, a->base, 8, &at))
			candidates__add(&allp, at);
	}
	calibration__add(c, OFF_GLOBAL_allp, &allp, true);
}
