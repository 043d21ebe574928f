// SPDX-License-Identifier: GPL-2.0
/*
 * Heads and segments of an archive: see archive_impl.h. docs/packed-format.md defines the bytes.
 */
#include <errno.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "pack/archive_impl.h"

uint32_t archive__sum(uint32_t sum, const void *data, size_t len)
{
	return (uint32_t)crc32_z(sum, data, len);
}

void archive_head__put(uint8_t ret[ARCHIVE_HEAD_LEN], const struct archive_head *head)
{
	uint32_t sum;

	memcpy(ret, head, ARCHIVE_HEAD_LEN - sizeof(sum));
	sum = archive__sum(0, ret, ARCHIVE_HEAD_LEN - sizeof(sum));
	memcpy(ret + ARCHIVE_HEAD_LEN - sizeof(sum), &sum, sizeof(sum));
}

_Static_assert(sizeof(struct archive_head) + sizeof(uint32_t) == ARCHIVE_HEAD_LEN, "no padding");
_Static_assert(sizeof(struct archive_entry) == ARCHIVE_ENTRY_LEN, "no padding");

bool archive_head__parse(const uint8_t data[ARCHIVE_HEAD_LEN], struct archive_head *ret)
{
	uint32_t sum;

	memcpy(ret, data, sizeof(*ret));
	memcpy(&sum, data + sizeof(*ret), sizeof(sum));
	if (sum != archive__sum(0, data, sizeof(*ret)))
		return false;
	if (ret->kind == ARCHIVE_INDEX)
		return !ret->tables && !ret->plain && !(ret->events % ARCHIVE_ENTRY_LEN) &&
		       ret->events / ARCHIVE_ENTRY_LEN <= ARCHIVE_SEGMENTS;
	/* What is coded is never much larger than what it was made of. */
	return ret->plain && ret->plain <= SEGMENT_MAX && ret->tables <= 2 * SEGMENT_MAX &&
	       ret->events <= 2 * SEGMENT_MAX;
}

void archive_entry__put(uint8_t ret[ARCHIVE_ENTRY_LEN], const struct archive_entry *entry)
{
	memcpy(ret, entry, ARCHIVE_ENTRY_LEN);
}

static int decode_zstd(const struct archive_head *head, const void *data, struct outbuf *ret)
{
	size_t len;

	if (outbuf__room(ret, head->plain, NULL))
		return -ENOMEM;
	len = ZSTD_decompress(ret->data + ret->len, head->plain, data, head->events);
	if (ZSTD_isError(len) || len != head->plain)
		return -EBADMSG;
	ret->len += len;
	return 0;
}

static int decode(struct table_model *t, const struct archive_head *head, const void *data,
		  struct outbuf *ret)
{
	const unsigned char *p = data;

	switch (head->kind) {
	case ARCHIVE_STORED:
		if (head->tables || head->events != head->plain)
			return -EBADMSG;
		return outbuf__put(ret, data, head->plain, NULL);
	case ARCHIVE_ZSTD:
		return head->tables ? -EBADMSG : decode_zstd(head, data, ret);
	case ARCHIVE_MODEL:
		table_model__begin(t, head->flags & ARCHIVE_FRESH);
		return segment__decode(t, buf__make(p, head->tables),
				       buf__make(p + head->tables, head->events), head->plain, ret);
	}
	return -EBADMSG;
}

int archive__decode(struct table_model *t, const struct archive_head *head, const void *data,
		    struct outbuf *ret, const char **ret_why)
{
	size_t before = ret->len;
	int err = decode(t, head, data, ret);

	if (err == -EBADMSG)
		*ret_why = "a segment is corrupt";
	if (err)
		return err;
	if (archive__sum(0, ret->data + before, ret->len - before) == head->sum)
		return 0;
	*ret_why = "the checksum of a segment differs";
	return -EBADMSG;
}
