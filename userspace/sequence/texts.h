/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Texts of annotations, by the numbers under which records name them (bpf/text.bpf.h). Upstream:
 * sequencer.c and state_user.c. Downstream: writer/intern.c.
 *
 * Memory is bounded whatever the target writes. Names (task types, regions, log categories) are
 * kept while the probes remember having sent them (places.h), or while a region with that name is
 * open. A message is kept until its record is applied (once.h), and then until its generation ends.
 */
#ifndef SEQUENCE_TEXTS_H
#define SEQUENCE_TEXTS_H

#include <stdbool.h>
#include <stdint.h>

#include "gotrace/record.h"
#include "writer/intern.h"

#define TEXTS_MISSING "(text not recorded)" /* written instead of a missing text */

struct texts;
struct text; /* a name with a reference count */

struct texts *texts__create(struct intern *in); /* NULL: no memory */
void texts__destroy(struct texts *t);

/* Keeps the text of a TEXT record whose size was checked. 0 or -ENOMEM. */
int texts__add(struct texts *t, const struct gt_record *rec);

/*
 * Returns the permanent number of a name. In a flight recorder buffer, where an earlier text may be
 * overwritten, each name has a number of its own (GT_TEXT_ONCE); here equal names get one number.
 * The text kept under the old number is consumed.
 */
uint64_t texts__settle(struct texts *t, uint64_t number, uint64_t time);

/* String ids in this generation; for a missing text that of TEXTS_MISSING, counted in *misses. */
uint32_t texts__name(struct texts *t, uint64_t number, uint64_t time, uint64_t *misses);
uint32_t texts__message(struct texts *t, uint64_t number, uint64_t *misses); /* consumes it */

/* The bytes of a message, valid until it is dropped, and whether there is one. */
bool texts__message_bytes(const struct texts *t, uint64_t number, struct trace_string *ret);
void texts__drop_message(struct texts *t, uint64_t number);

/*
 * Holds a name that later generations need, too, until it is released; a record of that time refers to it.
 * NULL: missing; its string id is that of TEXTS_MISSING from then on.
 */
struct text *texts__hold(struct texts *t, uint64_t number, uint64_t time);
void texts__release(struct text *text); /* NULL is allowed */
uint32_t texts__held_name(struct texts *t, uint64_t number, struct text *text);
/* The bytes of a name that is held, valid as long as it is. NULL is allowed: none. */
const char *texts__bytes(const struct text *text, size_t *ret_len);
size_t texts__size(const struct text *text); /* bytes */
/* The bytes of a text that is held; NULL: none. */
struct trace_string texts__held_bytes(const struct text *text);

/* Raises the memory limit of texts that wait for their records to `bytes`, if it is lower. */
void texts__may_hold(struct texts *t, uint64_t bytes);
/* All records up to `time` were applied: frees what none can refer to any more. */
void texts__expire(struct texts *t, uint64_t time);

#endif
