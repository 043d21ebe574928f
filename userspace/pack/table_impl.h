/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files that code tables: table_model.c (dictionary, batches), table_strings.c and
 * table_stacks.c.
 */
#ifndef PACK_TABLE_IMPL_H
#define PACK_TABLE_IMPL_H

#include "pack/table_model.h"

/* Kinds of contexts, and the first mixer. */
enum table_context {
	TABLE_MORE = 300,
	TABLE_ID,
	TABLE_CLASS,
	TABLE_KNOWN,
	TABLE_TEXT,
	TABLE_LENGTH,
	TABLE_FIELD,
	TABLE_PART,
	TABLE_STACK,
	TABLE_FRAMES,
	TABLE_PC,
	TABLE_FUNC,
	TABLE_FILE,
	TABLE_LINE,
};
#define TABLE_CONTEXT(kind) ((uint64_t)(kind) << 32)
#define TABLE_MIXER	    1024

/* Codes the tables of one segment. After an error everything is skipped. */
struct table_coder {
	struct table_model *t;
	struct predictor p;
	struct tables_data *d;
	bool decode, bad;
	int err;
	struct buf in;	    /* the batch that is encoded */
	struct outbuf *out; /* where what was decoded goes */
	size_t max;
	uint64_t string_id, stack_id; /* of the last entries */
	uint64_t text, stack;	      /* indices of the last ones that were known */
	struct map text_by_id;	      /* index + 1, of the strings of this segment */
};

/* Append to what is decoded; without effect in an encoder. */
void table_coder__put_number(struct table_coder *c, uint64_t v);
void table_coder__put_bytes(struct table_coder *c, const void *data, size_t len);
/* The ID of an entry, usually *last + 1; sets *last. */
uint64_t table_coder__id(struct table_coder *c, uint64_t *last, uint64_t id);

void table_coder__string(struct table_coder *c);
void table_coder__stack(struct table_coder *c);

#endif
