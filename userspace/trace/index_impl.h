/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What index.c and index_write.c both know: the fixed parts of an index file, and which state of
 * the trace it belongs to.
 */
#ifndef TRACE_INDEX_IMPL_H
#define TRACE_INDEX_IMPL_H

#include "trace/index.h"

#define INDEX_MAGIC	"gotrace index 1\n"
#define INDEX_MAGIC_LEN 16
#define INDEX_END_LEN	52
#define INDEX_END_SUM	48    /* bytes of the end that its sum is of */
#define INDEX_TRACE_END 65536 /* bytes at each end of a trace that are summed */

struct index_trace { /* the file that an index is of, as it was then */
	uint64_t size;
	int64_t mtime; /* ns */
	uint32_t sum;
};

static inline bool index_trace__same(const struct index_trace *a, const struct index_trace *b)
{
	return a->size == b->size && a->mtime == b->mtime && a->sum == b->sum;
}

/* 0 or a negative errno with the reason. */
int index_trace__look(struct index_trace *ret, const char *path, struct error *err);

uint32_t index__sum(uint32_t sum, const void *data, size_t len); /* crc32, goes on from `sum` */

#endif
