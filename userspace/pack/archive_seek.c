// SPDX-License-Identifier: GPL-2.0
/*
 * The index of an archive, and the dictionary at any segment: see archive_impl.h.
 *
 * To begin with a segment, the coded tables of the segments since the dictionary was last empty are
 * read, but not their events.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/regular.h"
#include "pack/archive_impl.h"

/* Whether the segments follow each other in the archive and in the trace. */
static bool is_ordered(const struct archive_index *ix)
{
	uint64_t offset = ARCHIVE_MAGIC_LEN, plain = 0;

	for (size_t i = 0; i < ix->n; i++) {
		if (ix->entry[i].offset < offset ||
		    (i ? ix->entry[i].plain <= plain : ix->entry[i].plain))
			return false;
		offset = ix->entry[i].offset + ARCHIVE_HEAD_LEN;
		plain = ix->entry[i].plain;
	}
	return offset <= ix->index && (!ix->n || plain < ix->size);
}

int archive_index__read(struct archive_index *ret, int fd)
{
	uint8_t end[ARCHIVE_END_LEN], bytes[ARCHIVE_HEAD_LEN];
	struct archive_head head;
	struct stat st;
	uint64_t size;
	int err;

	if (fstat(fd, &st) || st.st_size < ARCHIVE_MAGIC_LEN + ARCHIVE_END_LEN + ARCHIVE_HEAD_LEN)
		return -EBADMSG;
	size = (uint64_t)st.st_size;
	err = regular__read_at(fd, size - sizeof(end), end, sizeof(end));
	if (err || memcmp(end + 8, ARCHIVE_END, sizeof(end) - 8))
		return -EBADMSG;
	memcpy(&ret->index, end, sizeof(ret->index));
	if (ret->index > size - sizeof(end) - sizeof(bytes))
		return -EBADMSG;
	err = regular__read_at(fd, ret->index, bytes, sizeof(bytes));
	if (err || !archive_head__parse(bytes, &head) || head.kind != ARCHIVE_INDEX ||
	    ret->index + sizeof(bytes) + head.events + sizeof(end) != size)
		return -EBADMSG;
	ret->entry = malloc(head.events + 1);
	if (!ret->entry)
		return -ENOMEM;
	err = regular__read_at(fd, ret->index + sizeof(bytes), ret->entry, head.events);
	ret->n = head.events / ARCHIVE_ENTRY_LEN;
	ret->size = head.generation;
	if (!err && archive__sum(0, ret->entry, head.events) == head.sum && is_ordered(ret))
		return 0;
	free(ret->entry);
	*ret = (struct archive_index){};
	return -EBADMSG;
}

/* Decodes the tables of a segment. */
static int skip(const struct archive_index *ix, int fd, struct table_model *t, size_t i,
		const char **ret_why)
{
	uint8_t bytes[ARCHIVE_HEAD_LEN];
	struct archive_head head;
	void *data;
	int err = regular__read_at(fd, ix->entry[i].offset, bytes, sizeof(bytes));

	*ret_why = "cannot read a segment";
	if (err)
		return err;
	*ret_why = "the tables of a segment are corrupt";
	if (!archive_head__parse(bytes, &head) || head.kind == ARCHIVE_INDEX)
		return -EBADMSG;
	if (head.kind != ARCHIVE_MODEL)
		return 0;
	data = malloc((size_t)head.tables + 1);
	if (!data)
		return -ENOMEM;
	err = regular__read_at(fd, ix->entry[i].offset + sizeof(bytes), data, head.tables);
	table_model__begin(t, head.flags & ARCHIVE_FRESH);
	err = err ?: segment__decode_tables(t, buf__make(data, head.tables), head.plain);
	free(data);
	return err;
}

int archive_index__skip_to(const struct archive_index *ix, int fd, struct table_model *t,
			   size_t *next, size_t target, const char **ret_why)
{
	size_t from = target;
	int err = 0;

	while (from && !(ix->entry[from].flags & ARCHIVE_FRESH))
		from--;
	if (*next < from || *next > target)
		table_model__deinit(t);
	else
		from = *next;
	for (size_t i = from; !err && i < target; i++)
		err = skip(ix, fd, t, i, ret_why);
	return err;
}
