// SPDX-License-Identifier: GPL-2.0
/*
 * Decodes an archive as a format of lib/unpack.h: see archive.h.
 *
 * In order, from a pipe or a file, a segment at a time; or, from a regular file, from any position
 * (archive_seek.c). An archive without its end is truncated, and its index must agree with its
 * segments.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pack/archive.h"
#include "pack/archive_impl.h"

enum archive_state { STATE_MAGIC, STATE_HEAD, STATE_SEGMENT, STATE_INDEX, STATE_END, STATE_DONE };

struct archive_reader {
	enum archive_state state;
	struct archive_head head;
	struct outbuf in; /* what was read of the present part */
	struct outbuf out;
	size_t delivered; /* of `out` */
	struct table_model dictionary;
	size_t segment;		    /* number of segments before this one */
	uint64_t offset, plain;	    /* of the next part in the archive, in the trace */
	uint32_t sum;		    /* crc32 of the entries that the index should contain */
	bool in_order;		    /* all segments were read, so that `sum` is known */
	struct archive_index index; /* n == 0: not read */
};

static void *create(void)
{
	struct archive_reader *r = calloc(1, sizeof(*r));

	if (r)
		r->in_order = true;
	return r;
}

static void destroy(void *context)
{
	struct archive_reader *r = context;

	outbuf__deinit(&r->in);
	outbuf__deinit(&r->out);
	table_model__deinit(&r->dictionary);
	free(r->index.entry);
	free(r);
}

/* Length of the present part. */
static size_t part_len(const struct archive_reader *r)
{
	switch (r->state) {
	case STATE_MAGIC:
		return ARCHIVE_MAGIC_LEN;
	case STATE_HEAD:
		return ARCHIVE_HEAD_LEN;
	case STATE_SEGMENT:
		return (size_t)r->head.tables + r->head.events;
	case STATE_INDEX:
		return r->head.events;
	case STATE_END:
		return ARCHIVE_END_LEN;
	case STATE_DONE:
		break;
	}
	return 0;
}

static int corrupt(const char **ret_why, const char *why)
{
	*ret_why = why;
	return -EBADMSG;
}

static int end_head(struct archive_reader *r, const char **ret_why)
{
	struct archive_entry entry;
	uint8_t bytes[ARCHIVE_ENTRY_LEN];

	if (!archive_head__parse((const uint8_t *)r->in.data, &r->head))
		return corrupt(ret_why, "the head of a segment is corrupt");
	r->state = r->head.kind == ARCHIVE_INDEX ? STATE_INDEX : STATE_SEGMENT;
	if (r->state == STATE_INDEX)
		return 0;
	entry = (struct archive_entry){ r->offset, r->plain, r->head.generation, r->head.flags };
	archive_entry__put(bytes, &entry);
	r->sum = archive__sum(r->sum, bytes, sizeof(bytes));
	if (r->segment >= ARCHIVE_SEGMENTS)
		return corrupt(ret_why, "too many segments");
	return 0;
}

static int end_segment(struct archive_reader *r, const char **ret_why)
{
	r->plain += r->head.plain;
	r->segment++;
	r->state = STATE_HEAD;
	return archive__decode(&r->dictionary, &r->head, r->in.data, &r->out, ret_why);
}

static int end_index(struct archive_reader *r, const char **ret_why)
{
	if (archive__sum(0, r->in.data, r->in.len) != r->head.sum ||
	    r->head.generation != r->plain || r->in.len / ARCHIVE_ENTRY_LEN != r->segment ||
	    (r->in_order && r->head.sum != r->sum))
		return corrupt(ret_why, "the index does not belong to the segments");
	r->state = STATE_END;
	return 0;
}

/* The present part is complete. */
static int end_part(struct archive_reader *r, const char **ret_why)
{
	uint64_t at = r->offset - r->in.len; /* of the head of the index, when the end was read */
	int err = 0;

	switch (r->state) {
	case STATE_MAGIC:
		r->state = STATE_HEAD;
		break;
	case STATE_HEAD:
		err = end_head(r, ret_why);
		break;
	case STATE_SEGMENT:
		err = end_segment(r, ret_why);
		break;
	case STATE_INDEX:
		err = end_index(r, ret_why);
		break;
	case STATE_END:
		at = r->offset - r->head.events - ARCHIVE_HEAD_LEN;
		if (memcmp(r->in.data, &at, sizeof(at)) ||
		    memcmp(r->in.data + sizeof(at), ARCHIVE_END, ARCHIVE_END_LEN - sizeof(at)))
			err = corrupt(ret_why, "the end is corrupt");
		r->state = STATE_DONE;
		break;
	case STATE_DONE:
		break;
	}
	return err;
}

static int take_input(struct archive_reader *r, struct unpack_io *io, const char **ret_why)
{
	size_t want = part_len(r) - r->in.len, n = want < io->in_len ? want : io->in_len;
	int err;

	if (r->state == STATE_DONE && io->in_len)
		return corrupt(ret_why, "bytes follow its end");
	if (outbuf__put(&r->in, io->in, n, NULL))
		return -ENOMEM;
	io->in += n;
	io->in_len -= n;
	if (n < want || r->state == STATE_DONE)
		return 0;
	err = end_part(r, ret_why);
	r->offset += r->in.len;
	r->in.len = 0;
	return err;
}

static void deliver(struct archive_reader *r, struct unpack_io *io)
{
	size_t left = r->out.len - r->delivered, n = left < io->out_len ? left : io->out_len;

	if (n)
		memcpy(io->out, r->out.data + r->delivered, n);
	io->out += n;
	io->out_len -= n;
	r->delivered += n;
	if (r->delivered == r->out.len)
		r->out.len = r->delivered = 0;
}

static int step(void *context, struct unpack_io *io, bool *complete, const char **ret_why)
{
	struct archive_reader *r = context;
	size_t room = io->out_len;
	int err = 0;

	/*
	 * Not more than is needed: a caller that reads only the header may then seek to another
	 * segment.
	 */
	while (!err) {
		deliver(r, io);
		if (r->out.len || io->out_len < room || !io->in_len)
			break;
		err = take_input(r, io, ret_why);
	}
	*complete = r->state == STATE_DONE && !r->out.len;
	return err;
}

static int open_file(void *context, int fd, uint64_t *ret_size)
{
	struct archive_reader *r = context;
	int err = archive_index__read(&r->index, fd);

	*ret_size = r->index.size;
	return err;
}

/* The segment that contains the offset, or the number of segments. */
static size_t find(const struct archive_index *ix, uint64_t offset)
{
	size_t low = 0, high = ix->n, middle;

	if (offset >= ix->size)
		return ix->n;
	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (ix->entry[middle].plain <= offset)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static int seek(void *context, int fd, uint64_t offset, struct unpack_place *ret,
		const char **ret_why)
{
	struct archive_reader *r = context;
	size_t target = find(&r->index, offset);
	bool ends = target == r->index.n;
	int err = ends ? 0 :
			 archive_index__skip_to(&r->index, fd, &r->dictionary, &r->segment, target,
						ret_why);

	r->segment = target;
	r->state = STATE_HEAD;
	r->in.len = r->out.len = r->delivered = 0;
	r->in_order = false;
	r->offset = ends ? r->index.index : r->index.entry[target].offset;
	r->plain = ends ? r->index.size : r->index.entry[target].plain;
	*ret = (struct unpack_place){ r->offset, r->plain };
	return err;
}

const struct unpack_format archive_format = {
	.name = "packed",
	.magic = ARCHIVE_MAGIC,
	.magic_len = ARCHIVE_MAGIC_LEN,
	.create = create,
	.destroy = destroy,
	.step = step,
	.open_file = open_file,
	.seek = seek,
};
