// SPDX-License-Identifier: GPL-2.0
/* Reads PRIVATE_PARKED records: see parked_read.h. */
#include "format/parked_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/private_read.h"
#include "lib/array.h"
#include "lib/buf.h"

void parked_list__deinit(struct parked_list *l)
{
	free(l->at);
	free(l->texts);
	*l = (struct parked_list){};
}

/* The number of a text; -EBADMSG: there are too many. */
static int add_text(struct parked_list *l, const void *data, size_t len)
{
	struct parked_text *t;

	for (size_t i = 0; i < l->ntexts; i++)
		if (l->texts[i].len == len && !memcmp(l->texts[i].data, data, len))
			return (int)i;
	if (l->ntexts == PARKED_TEXTS_MAX)
		return -EBADMSG;
	if (array__grow(&l->texts, l->ntexts, &l->texts_cap, sizeof(*l->texts)))
		return -ENOMEM;
	t = &l->texts[l->ntexts];
	t->len = (uint32_t)len;
	memcpy(t->data, data, len);
	return (int)l->ntexts++;
}

/* 0 or -ENOMEM. */
static int add_record(struct parked_list *l, struct buf b)
{
	uint32_t texts[PARKED_TEXTS_MAX];
	uint64_t n = buf__uleb(&b), goid = 0, waited = 0;

	for (uint64_t i = 0; i < n && !b.bad; i++) {
		uint64_t len = buf__uleb(&b);
		const void *data = len <= sizeof(l->texts->data) ? buf__take(&b, len) : NULL;
		int text = data && i < PARKED_TEXTS_MAX ? add_text(l, data, len) : -EBADMSG;

		if (text < 0)
			return text == -ENOMEM ? text : 0;
		texts[i] = (uint32_t)text;
	}
	while (buf__left(&b) && !b.bad) {
		uint64_t more = buf__uleb(&b), text = buf__uleb(&b), longer = buf__uleb(&b);

		if (b.bad || !more || more > UINT64_MAX - goid || text >= n)
			return 0;
		goid += more;
		waited += longer >> 1 ^ -(longer & 1);
		if (array__grow(&l->at, l->n, &l->cap, sizeof(*l->at)))
			return -ENOMEM;
		l->at[l->n++] = (struct parked_entry){ goid, waited, texts[text] };
	}
	return 0;
}

/* Without joining the parts of records, which takes long for kernel events. */
static bool has_records(const struct dictionary *dictionary)
{
	for (size_t i = 0; i < dictionary__nstrings(dictionary); i++)
		if (private_read__kind(&dictionary->strings[i]) == PRIVATE_PARKED)
			return true;
	return false;
}

int parked_list__load(struct dictionary *dictionary)
{
	struct private_reader r;
	struct private_record record;
	int more = 0, err = 0;

	parked_list__deinit(&dictionary->parked);
	if (!has_records(dictionary))
		return 0;
	private_reader__init(&r, dictionary);
	while (!err && (more = private_reader__next(&r, &record)) > 0)
		if (record.kind == PRIVATE_PARKED)
			err = add_record(&dictionary->parked, record.data);
	private_reader__deinit(&r);
	return err || more > 0 ? err : more;
}

static const struct parked_entry *find(const struct parked_list *l, uint64_t goid)
{
	size_t low = 0, high = l->n, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (l->at[middle].goid < goid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < l->n && l->at[low].goid == goid ? &l->at[low] : NULL;
}

struct trace_string parked_list__reason(const struct parked_list *l, uint64_t goid)
{
	const struct parked_entry *entry = find(l, goid);
	const struct parked_text *text;

	if (!entry)
		return (struct trace_string){ "", 0 };
	text = &l->texts[entry->text];
	return (struct trace_string){ text->data, text->len };
}

int64_t parked_list__waited(const struct parked_list *l, uint64_t goid)
{
	const struct parked_entry *entry = find(l, goid);

	return entry && entry->waited && entry->waited <= INT64_MAX ? (int64_t)entry->waited - 1 :
								      0;
}
