// SPDX-License-Identifier: GPL-2.0
/*
 * The file perf.data: its header, the attributes of the events that were recorded with their ids, and
 * the sections behind the data. Called by perfdata.c; perfdata_records.c then reads the data.
 *
 *	"PERFILE2", sizes, where attributes and data are, 256 bits: which features the file has
 *	ids, attributes, data
 *	a table of the features, in the order of their bits, and the features
 *
 * A pipe has only the magic, and everything else as records.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "align/perfdata_impl.h"

#define MAGIC	     "PERFILE2"
#define SWAPPED	     "2ELIFREP"
#define OLD	     "PERFFILE"
#define PIPE_SIZE    16
#define OLD_SIZE     72 /* before feature bits were introduced */
#define HEADER_SIZE  104
#define SECTION_SIZE 16
#define ATTR_MAX     4096 /* bytes; currently 136 at most */

struct section {
	uint64_t offset, size;
};

struct file_header {
	uint64_t size, attr_size;
	struct section attrs, data, types;
	uint64_t features[PERF_FEATURES / 64];
};

/*
 * Attributes grew with the kernel: each contains its size, and members missing in an old one are 0.
 */
int perf__add_attr(struct perf_data *d, struct buf *b, struct perf_attr **ret, struct error *error)
{
	struct perf_attr *attr = arena__alloc(&d->arena, sizeof(*attr));
	uint32_t size = PERF_ATTR_SIZE_VER0;
	const void *p;
	int err;

	if (!attr || array__grow(&d->attr, d->attrs, &d->attr_cap, sizeof(*d->attr)))
		return perf__no_memory(d, error);
	*attr = (struct perf_attr){};
	if (buf__u32_at(b, offsetof(struct perf_event_attr, size), &size) && !size)
		size = PERF_ATTR_SIZE_VER0;
	p = buf__take(b, size);
	if (!p || size < PERF_ATTR_SIZE_VER0 || size > ATTR_MAX)
		return perf__broken(d, "event description", error);
	memcpy(&attr->attr, p, size < sizeof(attr->attr) ? size : sizeof(attr->attr));
	err = perf__set_layout(d, attr, error);
	if (err)
		return err;
	d->attr[d->attrs++] = attr;
	*ret = attr;
	return 0;
}

int perf__add_id(struct perf_data *d, struct perf_attr *attr, uint64_t id, struct error *error)
{
	struct perf_attr *other = map__get(&d->attr_of, id);

	if (other && other != attr)
		return error__set(error, -EBADMSG,
				  "%s: corrupt perf.data: two events have the ID %llu",
				  input__name(d->in), (unsigned long long)id);
	return map__put(&d->attr_of, id, attr) ? perf__no_memory(d, error) : 0;
}

static int set_clock(struct perf_data *d, const struct perf_event_attr *attr, struct error *error)
{
	int clock = attr->use_clockid ? attr->clockid : PERF_NO_CLOCK;

	if (d->has_clock && clock != d->clock)
		return error__set(error, -EBADMSG, "%s: its events use different clocks",
				  input__name(d->in));
	d->clock = clock;
	d->has_clock = true;
	return 0;
}

int perf__resolve(struct perf_data *d, struct perf_attr *attr, struct error *error)
{
	if (attr->attr.type == PERF_TYPE_TRACEPOINT)
		attr->format = map__get(&d->format_of, attr->attr.config);
	if (!attr->format)
		return 0;
	if (attr->tid == PERF_ABSENT || attr->time == PERF_ABSENT || attr->cpu == PERF_ABSENT ||
	    !(attr->attr.sample_type & PERF_SAMPLE_RAW))
		return error__set(error, -EBADMSG,
				  "%s: its samples of %s lack the thread, time, CPU or fields; "
				  "record with perf sched record",
				  input__name(d->in), perf_data__comm(d, attr->format->name));
	return set_clock(d, &attr->attr, error);
}

/* A string of perf: its size, and the text with a NUL. */
static void set_version(struct perf_data *d, struct buf *b)
{
	uint32_t room = buf__u32(b);
	const char *p = buf__take(b, room < buf__left(b) ? room : buf__left(b));
	size_t n = 0;

	for (size_t i = 0; p && i < room && p[i] > ' ' && p[i] < 127; i++)
		if (n + 1 < sizeof(d->version))
			d->version[n++] = p[i];
	d->version[n] = 0;
}

int perf__feature(struct perf_data *d, uint64_t feature, struct buf *b, struct error *error)
{
	uint32_t type;

	switch (feature) {
	case PERF_FEATURE_VERSION:
		set_version(d, b);
		return 0;
	case PERF_FEATURE_FOLDER:
		return error__set(
			error, -EBADMSG,
			"%s: part of a directory of perf files, which is not supported; record "
			"without --threads",
			input__name(d->in));
	case PERF_FEATURE_COMPRESSED:
		buf__skip(b, sizeof(type)); /* its version */
		type = buf__u32(b);
		if (!b->bad && type != 1)
			return error__set(error, -EBADMSG,
					  "%s: unsupported compression: only zstd is supported",
					  input__name(d->in));
		return 0;
	default:
		return 0;
	}
}

/* Check the position of a section and seek to it. */
static int go_to(struct perf_data *d, const struct section *s, const char *what,
		 struct error *error)
{
	uint64_t size = input__size(d->in);

	if (s->offset > size || s->size > size - s->offset)
		return error__set(
			error, -EBADMSG,
			"%s: truncated: its %s should end at byte %llu, but the file has only "
			"%llu" PERF_AGAIN,
			input__name(d->in), what, (unsigned long long)s->offset + s->size,
			(unsigned long long)size);
	d->at = s->offset;
	return input__seek(d->in, s->offset, error);
}

static int read_ids(struct perf_data *d, struct perf_attr *attr, struct section s,
		    struct error *error)
{
	const unsigned char *p;
	uint64_t id;
	int err = go_to(d, &s, "event IDs", error);

	while (!err && s.size >= sizeof(id)) {
		err = perf__take(d, &s.size, sizeof(id), &p, "event IDs", error);
		if (err)
			break;
		memcpy(&id, p, sizeof(id));
		err = perf__add_id(d, attr, id, error);
	}
	return err;
}

static int read_attr(struct perf_data *d, const struct section *s, struct error *error)
{
	struct section ids;
	const unsigned char *p;
	uint64_t left = s->size;
	struct perf_attr *attr;
	struct buf b;
	int err = go_to(d, s, "event descriptions", error);

	err = err ?: perf__take(d, &left, (size_t)s->size, &p, "event descriptions", error);
	if (err)
		return err;
	b = buf__make(p, (size_t)s->size);
	err = perf__add_attr(d, &b, &attr, error);
	if (err)
		return err;
	ids = (struct section){ buf__u64(&b), buf__u64(&b) };
	return b.bad ? perf__broken(d, "event description", error) : read_ids(d, attr, ids, error);
}

static int read_attrs(struct perf_data *d, const struct file_header *h, struct error *error)
{
	struct section one = { h->attrs.offset, h->attr_size };
	int err = go_to(d, &h->attrs, "event descriptions", error);
	uint64_t n;

	if (err)
		return err;
	if (h->attr_size < PERF_ATTR_SIZE_VER0 + SECTION_SIZE || h->attr_size > ATTR_MAX)
		return perf__broken(d, "event description", error);
	for (n = h->attrs.size / h->attr_size; n && !err; n--, one.offset += one.size)
		err = read_attr(d, &one, error);
	return err;
}

static int read_feature(struct perf_data *d, unsigned int feature, const struct section *s,
			struct error *error)
{
	uint64_t left = s->size;
	const unsigned char *p;
	char what[32];
	size_t len;
	int err;

	snprintf(what, sizeof(what), "section %u", feature);
	err = go_to(d, s, feature == PERF_FEATURE_FORMATS ? "event formats" : what, error);
	if (err)
		return err;
	if (feature == PERF_FEATURE_FORMATS)
		return perf__read_formats(d, s->size, error);
	len = left < 256 ? (size_t)left : 256; /* the rest is not needed */
	err = perf__take(d, &left, len, &p, what, error);
	if (err)
		return err;
	return perf__feature(d, feature, &(struct buf){ p, p, p + len }, error);
}

static int read_features(struct perf_data *d, const struct file_header *h, struct error *error)
{
	struct section table = { h->data.offset + h->data.size, SECTION_SIZE }, s;
	const unsigned char *p;
	int err = 0;

	for (unsigned int i = 0; i < PERF_FEATURES && !err; i++) {
		if (!(h->features[i / 64] >> i % 64 & 1))
			continue;
		err = go_to(d, &table, "section table", error);
		if (!err)
			err = perf__take(d, &(uint64_t){ SECTION_SIZE }, SECTION_SIZE, &p,
					 "section table", error);
		if (err)
			break;
		memcpy(&s, p, sizeof(s));
		err = read_feature(d, i, &s, error);
		table.offset += SECTION_SIZE;
	}
	return err;
}

static int read_file(struct perf_data *d, const struct file_header *h, struct error *error)
{
	int err;

	if (!input__seekable(d->in))
		return error__set(
			error, -ESPIPE,
			"%s: a perf.data file cannot be read from a pipe, nor compressed; "
			"decompress it and pass its name",
			input__name(d->in));
	/* perf writes the size of the data when it ends. */
	if (!h->data.size)
		return error__set(
			error, -EBADMSG,
			"%s: incomplete: perf is still recording (stop it with ^C or kill -INT) "
			"or was killed (record again)",
			input__name(d->in));
	err = go_to(d, &h->data, "data", error);
	err = err ?: read_attrs(d, h, error);
	err = err ?: read_features(d, h, error);
	err = err ?: go_to(d, &h->data, "data", error);
	return err ? err : perf__read_records(d, h->data.size, error);
}

static int no_perf_data(const struct perf_data *d, const char *why, struct error *error)
{
	return error__set(error, -EBADMSG, "%s: %s", input__name(d->in), why);
}

static int check_magic(struct perf_data *d, const unsigned char *p, size_t len, struct error *error)
{
	if (len < PIPE_SIZE || (memcmp(p, MAGIC, 8) && memcmp(p, SWAPPED, 8) && memcmp(p, OLD, 8)))
		return no_perf_data(d, "not a perf.data file", error);
	if (!memcmp(p, SWAPPED, 8))
		return no_perf_data(d, "perf.data of a big-endian machine is not supported", error);
	if (!memcmp(p, OLD, 8))
		return no_perf_data(
			d, "perf.data of a perf version older than 2010 is not supported", error);
	return 0;
}

int perf__read_all(struct perf_data *d, struct error *error)
{
	uint64_t left = HEADER_SIZE;
	struct file_header h = {};
	const unsigned char *p;
	size_t len;
	int err = input__need(d->in, HEADER_SIZE, &p, &len, error);

	err = err ?: check_magic(d, p, len, error);
	if (err)
		return err;
	memcpy(&h.size, p + 8, sizeof(h.size));
	d->pipe = h.size == PIPE_SIZE;
	if (d->pipe) {
		input__consume(d->in, PIPE_SIZE);
		return perf__read_records(d, UINT64_MAX, error);
	}
	if (h.size != HEADER_SIZE && h.size != OLD_SIZE)
		return perf__broken(d, "header", error);
	err = perf__take(d, &left, (size_t)h.size, &p, "header", error);
	if (err)
		return err;
	memcpy(&h, p + 8, (size_t)h.size - 8);
	return read_file(d, &h, error);
}
