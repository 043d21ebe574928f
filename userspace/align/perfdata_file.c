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
#define OLD_SIZE     72 /* before there were features */
#define HEADER_SIZE  104
#define SECTION_SIZE 16
#define ATTR_MAX     4096 /* bytes; the longest of today have 136 */

struct section {
	uint64_t offset, size;
};

struct file_header {
	uint64_t size, attr_size;
	struct section attrs, data, types;
	uint64_t features[PERF_FEATURES / 64];
};

/* Attributes grew with the kernels: the size stands in them, and what an old one lacks is 0. */
int perf__add_attr(struct perf_data *d, struct buf *b, struct perf_attr **ret, struct error *err)
{
	struct perf_attr *attr = blocks__take(d->blocks, sizeof(*attr));
	uint32_t size = PERF_ATTR_SIZE_VER0;
	const void *p;
	int code;

	if (!attr || array__grow(&d->attr, d->attrs, &d->attr_cap, sizeof(*d->attr)))
		return perf__no_memory(d, err);
	*attr = (struct perf_attr){};
	if (buf__u32_at(b, offsetof(struct perf_event_attr, size), &size) && !size)
		size = PERF_ATTR_SIZE_VER0;
	p = buf__take(b, size);
	if (!p || size < PERF_ATTR_SIZE_VER0 || size > ATTR_MAX)
		return perf__broken(d, "description of an event", err);
	memcpy(&attr->attr, p, size < sizeof(attr->attr) ? size : sizeof(attr->attr));
	code = perf__set_layout(d, attr, err);
	if (code)
		return code;
	d->attr[d->attrs++] = attr;
	*ret = attr;
	return 0;
}

int perf__add_id(struct perf_data *d, struct perf_attr *attr, uint64_t id, struct error *err)
{
	struct perf_attr *other = map__get(&d->attr_of, id);

	if (other && other != attr)
		return error__set(err, -EBADMSG, "%s: two of its events have the id %llu",
				  input__name(d->in), (unsigned long long)id);
	return map__put(&d->attr_of, id, attr) ? perf__no_memory(d, err) : 0;
}

static int set_clock(struct perf_data *d, const struct perf_event_attr *attr, struct error *err)
{
	int clock = attr->use_clockid ? attr->clockid : PERF_NO_CLOCK;

	if (d->has_clock && clock != d->clock)
		return error__set(err, -EBADMSG, "%s: its events have different clocks",
				  input__name(d->in));
	d->clock = clock;
	d->has_clock = true;
	return 0;
}

int perf__resolve(struct perf_data *d, struct perf_attr *attr, struct error *err)
{
	if (attr->attr.type == PERF_TYPE_TRACEPOINT)
		attr->format = map__get(&d->format_of, attr->attr.config);
	if (!attr->format)
		return 0;
	if (attr->tid == PERF_ABSENT || attr->time == PERF_ABSENT || attr->cpu == PERF_ABSENT ||
	    !(attr->attr.sample_type & PERF_SAMPLE_RAW))
		return error__set(err, -EBADMSG,
				  "%s: its samples of %s lack the thread, time, core or fields; "
				  "record with perf sched record",
				  input__name(d->in), perf_data__comm(d, attr->format->name));
	return set_clock(d, &attr->attr, err);
}

/* A string of perf's: its room, and the text with a NUL. */
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

int perf__feature(struct perf_data *d, uint64_t feature, struct buf *b, struct error *err)
{
	uint32_t type;

	switch (feature) {
	case PERF_FEATURE_VERSION:
		set_version(d, b);
		return 0;
	case PERF_FEATURE_FOLDER:
		return error__set(
			err, -EBADMSG,
			"%s: it is one of the files of a folder; record without --threads",
			input__name(d->in));
	case PERF_FEATURE_COMPRESSED:
		buf__skip(b, sizeof(type)); /* its version */
		type = buf__u32(b);
		if (!b->bad && type != 1)
			return error__set(err, -EBADMSG, "%s: compressed in a way that is not zstd",
					  input__name(d->in));
		return 0;
	default:
		return 0;
	}
}

/* A section's place is good, and its bytes come next. */
static int go_to(struct perf_data *d, const struct section *s, const char *what, struct error *err)
{
	uint64_t size = input__size(d->in);

	if (s->offset > size || s->size > size - s->offset)
		return error__set(
			err, -EBADMSG,
			"%s: cut short: its %s should end at byte %llu, but it has %llu" PERF_AGAIN,
			input__name(d->in), what, (unsigned long long)s->offset + s->size,
			(unsigned long long)size);
	d->at = s->offset;
	return input__seek(d->in, s->offset, err);
}

static int read_ids(struct perf_data *d, struct perf_attr *attr, struct section s,
		    struct error *err)
{
	const unsigned char *p;
	uint64_t id;
	int code = go_to(d, &s, "ids of events", err);

	while (!code && s.size >= sizeof(id)) {
		code = perf__take(d, &s.size, sizeof(id), &p, "ids of events", err);
		if (code)
			break;
		memcpy(&id, p, sizeof(id));
		code = perf__add_id(d, attr, id, err);
	}
	return code;
}

static int read_attr(struct perf_data *d, const struct section *s, struct error *err)
{
	struct section ids;
	const unsigned char *p;
	uint64_t left = s->size;
	struct perf_attr *attr;
	struct buf b;
	int code = go_to(d, s, "descriptions of events", err);

	if (!code)
		code = perf__take(d, &left, (size_t)s->size, &p, "descriptions of events", err);
	if (code)
		return code;
	b = buf__make(p, (size_t)s->size);
	code = perf__add_attr(d, &b, &attr, err);
	if (code)
		return code;
	ids = (struct section){ buf__u64(&b), buf__u64(&b) };
	return b.bad ? perf__broken(d, "description of an event", err) :
		       read_ids(d, attr, ids, err);
}

static int read_attrs(struct perf_data *d, const struct file_header *h, struct error *err)
{
	struct section one = { h->attrs.offset, h->attr_size };
	int code = go_to(d, &h->attrs, "descriptions of events", err);
	uint64_t n;

	if (code)
		return code;
	if (h->attr_size < PERF_ATTR_SIZE_VER0 + SECTION_SIZE || h->attr_size > ATTR_MAX)
		return perf__broken(d, "description of an event", err);
	for (n = h->attrs.size / h->attr_size; n && !code; n--, one.offset += one.size)
		code = read_attr(d, &one, err);
	return code;
}

static int read_feature(struct perf_data *d, unsigned int feature, const struct section *s,
			struct error *err)
{
	uint64_t left = s->size;
	const unsigned char *p;
	char what[32];
	size_t len;
	int code;

	snprintf(what, sizeof(what), "section %u", feature);
	code = go_to(d, s, feature == PERF_FEATURE_FORMATS ? "formats of events" : what, err);
	if (code)
		return code;
	if (feature == PERF_FEATURE_FORMATS)
		return perf__read_formats(d, s->size, err);
	len = left < 256 ? (size_t)left : 256; /* more of them is not looked at */
	code = perf__take(d, &left, len, &p, what, err);
	if (code)
		return code;
	return perf__feature(d, feature, &(struct buf){ p, p, p + len }, err);
}

static int read_features(struct perf_data *d, const struct file_header *h, struct error *err)
{
	struct section table = { h->data.offset + h->data.size, SECTION_SIZE }, s;
	const unsigned char *p;
	int code = 0;

	for (unsigned int i = 0; i < PERF_FEATURES && !code; i++) {
		if (!(h->features[i / 64] >> i % 64 & 1))
			continue;
		code = go_to(d, &table, "table of sections", err);
		if (!code)
			code = perf__take(d, &(uint64_t){ SECTION_SIZE }, SECTION_SIZE, &p,
					  "table of sections", err);
		if (code)
			break;
		memcpy(&s, p, sizeof(s));
		code = read_feature(d, i, &s, err);
		table.offset += SECTION_SIZE;
	}
	return code;
}

static int read_file(struct perf_data *d, const struct file_header *h, struct error *err)
{
	int code;

	if (!input__seekable(d->in))
		return error__set(
			err, -ESPIPE,
			"%s: a perf.data file is not read from start to end: unpack it, and "
			"give its name, not a pipe",
			input__name(d->in));
	/* perf writes the size of the data when it comes to its end. */
	if (!h->data.size)
		return error__set(
			err, -EBADMSG,
			"%s: perf has not finished it: it is still being recorded (end perf "
			"by ^C, or kill -INT), or perf was killed (record again)",
			input__name(d->in));
	code = go_to(d, &h->data, "data", err);
	if (!code)
		code = read_attrs(d, h, err);
	if (!code)
		code = read_features(d, h, err);
	if (!code)
		code = go_to(d, &h->data, "data", err);
	return code ? code : perf__read_records(d, h->data.size, err);
}

static int no_perf_data(const struct perf_data *d, const char *why, struct error *err)
{
	return error__set(err, -EBADMSG, "%s: %s", input__name(d->in), why);
}

static int check_magic(struct perf_data *d, const unsigned char *p, size_t len, struct error *err)
{
	if (len < PIPE_SIZE || (memcmp(p, MAGIC, 8) && memcmp(p, SWAPPED, 8) && memcmp(p, OLD, 8)))
		return no_perf_data(d, "no perf.data: it does not begin as one", err);
	if (!memcmp(p, SWAPPED, 8))
		return no_perf_data(d, "recorded on a big-endian machine", err);
	if (!memcmp(p, OLD, 8))
		return no_perf_data(d, "written by a perf of before 2010", err);
	return 0;
}

int perf__read_all(struct perf_data *d, struct error *err)
{
	uint64_t left = HEADER_SIZE;
	struct file_header h = {};
	const unsigned char *p;
	size_t len;
	int code = input__need(d->in, HEADER_SIZE, &p, &len, err);

	if (!code)
		code = check_magic(d, p, len, err);
	if (code)
		return code;
	memcpy(&h.size, p + 8, sizeof(h.size));
	d->pipe = h.size == PIPE_SIZE;
	if (d->pipe) {
		input__consume(d->in, PIPE_SIZE);
		return perf__read_records(d, UINT64_MAX, err);
	}
	if (h.size != HEADER_SIZE && h.size != OLD_SIZE)
		return perf__broken(d, "header", err);
	code = perf__take(d, &left, (size_t)h.size, &p, "header", err);
	if (code)
		return code;
	memcpy(&h, p + 8, (size_t)h.size - 8);
	return read_file(d, &h, err);
}
