/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Texts of the program by the numbers under which its records name them: bpf/text.bpf.h.
 *
 * Memory is bounded whatever the program writes: names (of types of tasks, of regions, of categories)
 * are kept as long as the probes remember that they were sent (places.h) or a region that has one is open; a message
 * until its record was taken (once.h), then until its generation ends.
 */
#ifndef SEQUENCE_TEXTS_H
#define SEQUENCE_TEXTS_H

#include <stdint.h>

#include "gotrace/record.h"
#include "trace/intern.h"

#define TEXTS_MISSING "(text not recorded)" /* in place of one that is not there */

struct texts;
struct text; /* a name that is held */

struct texts *texts__create(struct intern *in); /* NULL: no memory */
void texts__destroy(struct texts *t);

/* Keeps what a TEXT record (of a checked size) says. 0 or -ENOMEM. */
int texts__add(struct texts *t, const struct gt_record *rec);

/*
 * The number of a name whose record has it: in a black box each name comes under a number of its own
 * (GT_TEXT_ONCE), since what was sent long ago is gone there; here equal ones get one. Takes it.
 */
uint64_t texts__settle(struct texts *t, uint64_t number, uint64_t time);

/* String ids of this generation; those of a text that is not there are of the stand-in, and counted in *misses. */
uint32_t texts__name(struct texts *t, uint64_t number, uint64_t time, uint64_t *misses);
uint32_t texts__message(struct texts *t, uint64_t number, uint64_t *misses); /* takes it */

/*
 * A name that is asked for in later generations, too: it stays until it is released. NULL: it is not there, and its
 * string id is that of the stand-in, whatever comes later.
 */
struct text *texts__hold(struct texts *t, uint64_t number);
void texts__release(struct texts *t, struct text *text); /* NULL is allowed */
uint32_t texts__held_name(struct texts *t, uint64_t number, struct text *text);
size_t texts__size(const struct text *text); /* bytes */

/* Texts that wait for their records may take so many bytes, if that is more than usual. */
void texts__may_hold(struct texts *t, uint64_t bytes);
/* All records up to `time` were taken. */
void texts__expire(struct texts *t, uint64_t time);

#endif
