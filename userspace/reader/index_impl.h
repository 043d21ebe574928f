/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by index.c and index_write.c: the fixed parts of an index file, and the identity of the
 * trace that it belongs to.
 */
#ifndef READER_INDEX_IMPL_H
#define READER_INDEX_IMPL_H

#include "reader/index.h"

#define INDEX_MAGIC	"gotrace index 1\n"
#define INDEX_MAGIC_LEN 16
#define INDEX_END_LEN	52
#define INDEX_END_SUM	48    /* bytes of the end that its checksum covers */
#define INDEX_TRACE_END 65536 /* bytes at each end of a trace that are checksummed */

/* Identity of a trace file when its index was written. */
struct index_trace {
	uint64_t size;
	int64_t mtime; /* ns */
	uint32_t sum;
};

static inline bool index_trace__same(const struct index_trace *a, const struct index_trace *b)
{
	return a->size == b->size && a->mtime == b->mtime && a->sum == b->sum;
}

/* Returns 0 or a negative errno with a message. */
int index_trace__read(struct index_trace *ret, const char *path, struct error *error);

uint32_t index__sum(uint32_t sum, const void *data, size_t len); /* crc32, continued from `sum` */

#endif
