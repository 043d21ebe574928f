/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The bytes of an archive, shared by archive_write.c, archive_read.c and archive_seek.c only.
 */
#ifndef PACK_ARCHIVE_IMPL_H
#define PACK_ARCHIVE_IMPL_H

#include "lib/buf.h"
#include "pack/segment.h"

#define ARCHIVE_MAGIC	  "gotrace pack 1\n"
#define ARCHIVE_MAGIC_LEN 16 /* with the NUL */
#define ARCHIVE_HEAD_LEN  36
#define ARCHIVE_ENTRY_LEN 32
#define ARCHIVE_END	  "gtp1.end"
#define ARCHIVE_END_LEN	  16
#define ARCHIVE_SEGMENTS  (1u << 21) /* of an archive, at most: 16 TiB of a trace */

enum archive_kind {
	ARCHIVE_STORED = 1, /* the bytes as they are, in `events` */
	ARCHIVE_ZSTD = 2,   /* a zstd frame, in `events` */
	ARCHIVE_MODEL = 3,  /* pack/segment.h */
	ARCHIVE_INDEX = 9,  /* entries, in `events` */
};

#define ARCHIVE_FRESH 1 /* flag: the dictionary is empty before this segment */

/* Precedes each segment and the index. In the file: these members in order, and their crc32. */
struct archive_head {
	uint32_t kind; /* enum archive_kind */
	uint32_t flags;
	uint32_t plain;	 /* bytes of the trace */
	uint32_t tables; /* bytes that follow: coded tables, */
	uint32_t events; /* and coded events */
	uint32_t sum;	 /* crc32 of the bytes of the trace; of the index: of its entries */
	uint64_t generation;
};

/* What the index contains of a segment. In the file: these members in order. */
struct archive_entry {
	uint64_t offset; /* of its head in the archive */
	uint64_t plain;	 /* offset of its bytes in the trace */
	uint64_t generation;
	uint64_t flags;
};

void archive_head__put(uint8_t ret[ARCHIVE_HEAD_LEN], const struct archive_head *head);
/* Parses and checks a head; false: it is corrupt. */
bool archive_head__parse(const uint8_t data[ARCHIVE_HEAD_LEN], struct archive_head *ret);
void archive_entry__put(uint8_t ret[ARCHIVE_ENTRY_LEN], const struct archive_entry *entry);
uint32_t archive__sum(uint32_t sum, const void *data, size_t len);

/*
 * Decodes the bytes that follow a head, and checks them. Appends them to `ret`. Returns 0, -ENOMEM,
 * or
 * -EBADMSG with the reason, a constant.
 */
int archive__decode(struct table_model *t, const struct archive_head *head, const void *data,
		    struct outbuf *ret, const char **ret_why);

/* The index of an archive that is a regular file. */
struct archive_index {
	struct archive_entry *entry;
	size_t n;
	uint64_t size;	/* bytes of the trace */
	uint64_t index; /* offset of the index itself */
};

/* Reads the index. Returns 0 or a negative errno: then the archive can only be read in order. */
int archive_index__read(struct archive_index *ret, int fd);
/*
 * Brings the dictionary, of which segment *next is the next, to the state before segment `target`.
 * Returns 0, -ENOMEM, or -EBADMSG or an error of reading with the reason.
 */
int archive_index__skip_to(const struct archive_index *ix, int fd, struct table_model *t,
			   size_t *next, size_t target, const char **ret_why);

#endif
