/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Codes the string and stack tables of a segment with a dictionary of what previous segments
 * contained.
 *
 * The runtime and gotrace-bpf write all strings and stacks that a generation uses again in each
 * generation. The dictionary therefore lasts for the whole archive: texts, and stacks as lists of
 * PCs. Upstream: pack/segment.c. A reader that begins in the middle of an archive decodes the
 * tables of the segments before, which are a small part of it.
 */
#ifndef PACK_TABLE_MODEL_H
#define PACK_TABLE_MODEL_H

#include <stddef.h>

#include "lib/buf.h"
#include "lib/map.h"
#include "pack/predict.h"

#define TABLES_BYTES_MAX (32u << 20) /* of a dictionary that is not full */

struct tables_frame {		   /* what is known of a PC */
	uint64_t func, file, line; /* indices of texts + 1; 0: unknown */
};

struct table_model {
	struct outbuf bytes; /* of all texts */
	struct tables_text {
		size_t at;
		uint32_t len;
		uint32_t segment; /* that last had it */
		uint64_t id;	  /* there */
	} *text;
	size_t ntexts, texts_cap;
	uint64_t *pc; /* of all stacks */
	size_t npcs, pcs_cap;
	struct tables_stack {
		size_t at, n;
	} *stack;
	size_t nstacks, stacks_cap;
	struct tables_frame *frame;
	size_t nframes, frames_cap;
	struct map frame_by_pc;			/* index + 1 */
	struct map text_by_hash, stack_by_hash; /* index + 1; only to encode */
	uint32_t segment;
};

void table_model__deinit(struct table_model *t); /* {} is an empty dictionary */
/* Whether the dictionary should be emptied before the next segment. */
bool table_model__is_full(const struct table_model *t);
/* To be called before each segment: empties the dictionary if `fresh`. */
void table_model__begin(struct table_model *t, bool fresh);

/* A part of a record of kernel events, whose bytes are coded by pack/item_model.h. */
struct tables_part {
	size_t at, len; /* in `strings` */
	bool first;	/* of its record */
	bool last;
};

/* The tables of a segment, as they are in the trace: data of all batches of each kind, joined. */
struct tables_data {
	struct outbuf strings, stacks;
	size_t *strings_end, *stacks_end; /* of each batch */
	size_t nstrings, nstacks, strings_cap, stacks_cap;
	struct tables_part *part;
	size_t nparts, parts_cap;
};

void tables_data__deinit(struct tables_data *d);
/* Adds a batch to be encoded. Returns 0 or -ENOMEM. */
int tables_data__add(struct tables_data *d, bool stacks, const void *data, size_t len);
/*
 * Whether the data of a batch of strings or stacks is valid and will be decoded to the same bytes.
 */
bool table_model__can_encode(const void *data, size_t len);

/*
 * Encodes the batches of *d, or decodes at most `max` bytes into *d, which is empty. Either way
 * d->part lists the parts of kernel events; decoded ones have zeros instead of their bytes. Returns
 * 0, -ENOMEM or
 * -EBADMSG.
 */
int table_model__code(struct table_model *t, struct coder *coder, struct tables_data *d,
		      size_t max);

#endif
