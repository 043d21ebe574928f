// SPDX-License-Identifier: GPL-2.0
/*
 * Reads private data: joins strings to records and decodes the simple ones. See private_read.h.
 *
 * Upstream: format/dictionary.h. Downstream: format/kernel_read.c, reader and commands. Ordinary
 * strings between the parts of a record are ignored, since a tool that copies traces may add some.
 * Parts out of order make a record corrupt.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/describe.h"
#include "format/private_read.h"

struct private_part {
	uint64_t kind, number;
	uint8_t more;
	const uint8_t *data;
	size_t len;
};

void private_reader__init(struct private_reader *r, const struct dictionary *dictionary)
{
	*r = (struct private_reader){ .dictionary = dictionary };
}

void private_reader__deinit(struct private_reader *r)
{
	outbuf__deinit(&r->joined);
}

static bool is_private(const struct trace_string *s)
{
	return s->len >= PRIVATE_PREFIX_LEN && !memcmp(s->data, PRIVATE_PREFIX, PRIVATE_PREFIX_LEN);
}

uint64_t private_read__kind(const struct trace_string *s)
{
	struct buf b = buf__make(s->data, s->len);

	if (!is_private(s))
		return 0;
	buf__skip(&b, PRIVATE_PREFIX_LEN);
	return buf__uleb(&b);
}

/* Returns false if the string is corrupt. */
static bool take_part(const struct trace_string *s, struct private_part *ret)
{
	struct buf b = buf__make(s->data, s->len);

	buf__skip(&b, PRIVATE_PREFIX_LEN);
	ret->kind = buf__uleb(&b);
	ret->number = buf__uleb(&b);
	ret->more = buf__u8(&b);
	ret->len = buf__left(&b);
	ret->data = buf__take(&b, ret->len);
	return !b.bad && ret->more <= 1;
}

/* The next private string. Returns 1, 0 at the end, or -EBADMSG if the string is corrupt. */
static int next_part(struct private_reader *r, struct private_part *ret)
{
	const struct trace_string *s;

	while (r->at < dictionary__nstrings(r->dictionary)) {
		s = &r->dictionary->strings[r->at++];
		if (is_private(s))
			return take_part(s, ret) ? 1 : -EBADMSG;
	}
	return 0;
}

/*
 * Copies all parts of a record, beginning with `first`, to r->joined. Returns 0, -ENOMEM or
 * -EBADMSG.
 */
static int join(struct private_reader *r, const struct private_part *first)
{
	struct private_part part = *first;
	uint64_t number = 0;
	int got;

	r->joined.len = 0;
	for (;;) {
		if (part.len > PRIVATE_RECORD_MAX - r->joined.len)
			return -EBADMSG;
		/* Allocates even for length 0: all parts of a record may be empty. */
		if (outbuf__room(&r->joined, part.len + 1, NULL))
			return -ENOMEM;
		outbuf__put(&r->joined, part.data, part.len, NULL);
		if (!part.more)
			return 0;
		got = next_part(r, &part);
		if (got > 0 && !part.number)
			r->at--; /* the next record begins */
		if (got <= 0 || part.kind != first->kind || part.number != ++number)
			return -EBADMSG;
	}
}

int private_reader__next(struct private_reader *r, struct private_record *ret)
{
	struct private_part part;
	int err;

	while ((err = next_part(r, &part))) {
		if (err > 0 && !part.number) {
			err = part.more ? join(r, &part) : 0;
		} else {
			err = -EBADMSG;
		}
		if (err == -ENOMEM)
			return err;
		if (err) {
			r->bad++;
		} else if (!part.kind || part.kind >= PRIVATE_KIND_END) {
			r->unknown++;
		} else {
			r->records++;
			ret->kind = (enum private_kind)part.kind;
			ret->data = part.more ? buf__make(r->joined.data, r->joined.len) :
						buf__make(part.data, part.len);
			return 1;
		}
	}
	return 0;
}

static struct trace_string take_bytes(struct buf *b)
{
	uint64_t len = buf__uleb(b);
	const char *data = buf__take(b, len);

	return (struct trace_string){ data, data ? (uint32_t)len : 0 };
}

bool private_read__pair(struct buf *data, struct private_pair *ret)
{
	struct private_pair pair;

	if (!buf__left(data))
		return false;
	pair.name = take_bytes(data);
	pair.value = take_bytes(data);
	if (data->bad)
		return false;
	*ret = pair;
	return true;
}

bool private_read__loss(struct buf *data, struct private_loss *ret)
{
	struct private_loss loss;

	if (!buf__left(data))
		return false;
	loss.kind = buf__uleb(data);
	loss.count = buf__uleb(data);
	loss.from = buf__uleb(data);
	if (__builtin_add_overflow(loss.from, buf__uleb(data), &loss.to))
		data->bad = true;
	if (data->bad)
		return false;
	*ret = loss;
	return true;
}

static uint64_t take_difference(struct buf *data, uint64_t from)
{
	uint64_t number = buf__uleb(data);

	return from + (number >> 1 ^ -(number & 1));
}

bool private_read__request(struct buf *data, struct private_request *ret)
{
	struct private_request request;
	uint64_t what;

	if (!buf__left(data))
		return false;
	what = buf__uleb(data);
	request.task = take_difference(data, ret->task);
	request.g = take_difference(data, ret->g);
	request.time = take_difference(data, ret->time);
	data->bad |= what >= REQUEST_WHATS;
	if (data->bad)
		return false;
	request.what = (uint8_t)what;
	*ret = request;
	return true;
}

bool private_read__gap(struct buf *data, struct private_gap *ret)
{
	struct private_gap gap;

	if (!buf__left(data))
		return false;
	gap.of = buf__uleb(data);
	gap.from = buf__uleb(data);
	if (__builtin_add_overflow(gap.from, buf__uleb(data), &gap.to))
		data->bad = true;
	if (data->bad)
		return false;
	*ret = gap;
	return true;
}

bool private_read__correction(struct buf *data, struct private_correction *ret)
{
	struct private_correction c;

	c.from = buf__uleb(data);
	if (__builtin_add_overflow(c.from, buf__uleb(data), &c.to))
		data->bad = true;
	c.goroutines = buf__uleb(data);
	c.threads = buf__uleb(data);
	c.events = buf__uleb(data);
	if (data->bad)
		return false;
	*ret = c;
	return true;
}

bool private_read__add_short(struct buf *data, struct private_short *ret)
{
	struct private_short sum;

	sum.min_ns = buf__uleb(data);
	sum.calls = buf__uleb(data);
	sum.calls_ns = buf__uleb(data);
	sum.kernel = buf__uleb(data);
	sum.kernel_ns = buf__uleb(data);
	if (data->bad)
		return false;
	if (sum.min_ns > ret->min_ns)
		ret->min_ns = sum.min_ns;
	ret->calls += sum.calls;
	ret->calls_ns += sum.calls_ns;
	ret->kernel += sum.kernel;
	ret->kernel_ns += sum.kernel_ns;
	return true;
}

int private_read__add_short_calls(const struct dictionary *dictionary, struct private_short *ret)
{
	struct private_record record;
	struct private_reader r;
	int err;

	private_reader__init(&r, dictionary);
	while ((err = private_reader__next(&r, &record)) > 0)
		if (record.kind == PRIVATE_SHORT)
			private_read__add_short(&record.data, ret);
	private_reader__deinit(&r);
	return err;
}

bool private_read__add_cpu_samples(struct buf *data, struct private_cpu_samples *ret)
{
	struct private_cpu_samples s;

	s.period_ns = buf__uleb(data);
	s.throttles = buf__uleb(data);
	s.throttled_ns = buf__uleb(data);
	if (data->bad || !s.period_ns || s.period_ns > INT64_MAX)
		return false;
	ret->period_ns = s.period_ns;
	ret->throttles += s.throttles;
	ret->throttled_ns += s.throttled_ns;
	return true;
}

int private_read__sample_period(const struct dictionary *dictionary, uint64_t *ret)
{
	struct private_cpu_samples samples = {};
	struct private_record record;
	struct private_reader r;
	int err;

	private_reader__init(&r, dictionary);
	while ((err = private_reader__next(&r, &record)) > 0)
		if (record.kind == PRIVATE_CPU_SAMPLES)
			private_read__add_cpu_samples(&record.data, &samples);
	private_reader__deinit(&r);
	if (!err)
		*ret = samples.period_ns;
	return err;
}

bool private_read__recorded(struct buf *data, struct private_recorded *ret)
{
	struct private_recorded r = {};
	size_t len;

	r.time = buf__uleb(data);
	r.cost = buf__uleb(data);
	r.budget = buf__uleb(data);
	len = buf__left(data);
	if (data->bad || len >= sizeof(r.sets))
		return false;
	memcpy(r.sets, data->pos, len);
	*ret = r;
	return true;
}

bool private_read__plugin(struct buf *data, struct private_plugin *ret)
{
	struct private_plugin p = {};

	p.from = buf__uleb(data);
	p.to = buf__uleb(data);
	p.recorded = buf__uleb(data) == 1;
	p.text_len = buf__left(data);
	if (data->bad || p.text_len > PRIVATE_PLUGIN_MAX)
		return false;
	p.text = (const char *)data->pos;
	*ret = p;
	return true;
}

bool private_read__number(struct buf *data, uint64_t *ret)
{
	uint64_t number = buf__uleb(data);

	if (!data->bad)
		*ret = number;
	return !data->bad;
}

bool private_read__host_clock(struct buf *data, struct private_host_clock *ret)
{
	struct private_host_clock clock;
	uint64_t state, shift;

	clock.time = buf__uleb(data);
	state = buf__uleb(data);
	clock.max_error = buf__uleb(data);
	clock.error = buf__uleb(data);
	shift = buf__uleb(data);
	data->bad |= state > 1;
	if (data->bad)
		return false;
	clock.synchronized = state;
	clock.shift = (int64_t)(shift >> 1 ^ -(shift & 1));
	*ret = clock;
	return true;
}

bool private_read__snapshot(struct buf *data, struct trace_clock *ret)
{
	struct trace_clock clock = { .known = true };
	uint64_t time = buf__uleb(data);

	clock.time = (int64_t)time;
	clock.mono = buf__uleb(data);
	clock.sec = buf__uleb(data);
	clock.nsec = buf__uleb(data);
	if (data->bad || time > INT64_MAX)
		return false;
	*ret = clock;
	return true;
}

bool private_read__start(struct buf *data, struct private_start *ret)
{
	struct private_start start;

	if (!buf__left(data))
		return false;
	start.g = buf__uleb(data);
	start.stack = buf__uleb(data);
	if (data->bad)
		return false;
	*ret = start;
	return true;
}

bool private_read__ticks(struct buf *data, struct private_ticks *ret)
{
	struct private_ticks ticks;

	ticks.tick_ns = buf__uleb(data);
	ticks.start_ns = buf__uleb(data);
	ticks.wall_ns = buf__uleb(data);
	if (data->bad)
		return false;
	*ret = ticks;
	return true;
}

int private_read__table(const struct dictionary *dictionary, struct description **ret,
			struct error *error)
{
	struct private_reader r;
	struct private_record record;
	int err;

	private_reader__init(&r, dictionary);
	do
		err = private_reader__next(&r, &record);
	while (err > 0 && record.kind != PRIVATE_TABLE);
	if (err > 0) {
		err = description__decode(ret, record.data.start, buf__left(&record.data), error);
		err = err ? err : 1;
	}
	private_reader__deinit(&r);
	return err;
}
