// SPDX-License-Identifier: GPL-2.0
/*
 * Saves and loads the state of the scheduler: see order_save.h.
 *
 * Upstream and downstream: reader/index_write.c and reader/index.c. Loaded bytes are untrusted. All
 * that reader/order.c relies on is checked: a thread's P exists, ids are unique, states and ranges
 * are valid. The memory used is proportional to the bytes.
 */
#include "reader/order_save.h"

#include <errno.h>
#include <stdlib.h>

#include "format/encode.h"

int save__number(struct outbuf *out, uint64_t v)
{
	int err = outbuf__room(out, LEB_MAX, NULL);

	if (!err)
		leb__append(out, v);
	return err;
}

static int save_ranges(struct outbuf *out, const struct order_ranges *ranges)
{
	int err = save__number(out, ranges->n);

	for (uint32_t i = 0; !err && i < ranges->n; i++) {
		err = save__number(out, ranges->open[i].type);
		err = err ?: save__number(out, ranges->open[i].kind);
	}
	return err;
}

static int save_seq(struct outbuf *out, const struct order_seq *seq)
{
	return save__number(out, seq->gen) ?: save__number(out, seq->n);
}

static int save_p(struct outbuf *out, const void *value)
{
	const struct order_p *p = value;
	int err = save__number(out, p->status);

	err = err ?: save_seq(out, &p->seq);
	return err ?: save_ranges(out, &p->ranges);
}

static int save_g(struct outbuf *out, const void *value)
{
	const struct order_g *g = value;
	int err = save__number(out, g->status);

	err = err ?: save_seq(out, &g->seq);
	err = err ?: save_ranges(out, &g->ranges);
	err = err ?: save__number(out, g->regions);
	for (uint32_t i = 0; !err && i < g->regions; i++) {
		err = save__number(out, g->region[i].task);
		err = err ?: leb__append_bytes(out, g->region[i].name, g->region[i].len, NULL);
	}
	return err;
}

static int save_m(struct outbuf *out, const void *value)
{
	const struct order_m *m = value;

	return save__number(out, m->p + 1) ?: save__number(out, m->g + 1);
}

static int save_task(struct outbuf *out, const void *value)
{
	const struct order_task *task = value;

	int err = save__number(out, task->parent);

	return err ?: leb__append_bytes(out, task->name, task->len, NULL);
}

/* Saves all entries of a map, each after its id. */
static int save_all(struct outbuf *out, const struct map *map,
		    int (*save)(struct outbuf *out, const void *value))
{
	size_t n;
	struct map_slot *entry = map__sorted(map, &n);
	int err = entry ? save__number(out, n) : -ENOMEM;
	uint64_t last = 0;

	for (size_t i = 0; !err && i < n; i++) {
		err = save__number(out, entry[i].key - last);
		err = err ?: save(out, entry[i].value);
		last = entry[i].key;
	}
	free(entry);
	return err;
}

int order__save(const struct order *o, struct outbuf *out)
{
	int err = save__number(out, o->first_gen);

	err = err ?: save__number(out, o->gc);
	err = err ?: save__number(out, o->gc_seq);
	err = err ?: save_all(out, &o->p, save_p);
	err = err ?: save_all(out, &o->g, save_g);
	err = err ?: save_all(out, &o->m, save_m);
	return err ?: save_all(out, &o->task, save_task);
}

/* Reads a number; one above `max` marks the buffer as bad. */
static uint64_t load_number(struct buf *in, uint64_t max)
{
	uint64_t v = buf__uleb(in);

	if (v > max)
		in->bad = true;
	return in->bad ? 0 : v;
}

static struct trace_string load_name(struct buf *in)
{
	uint32_t len = (uint32_t)load_number(in, TRACE_STRING_MAX);
	const char *data = buf__take(in, len);

	return (struct trace_string){ data ? data : "", data ? len : 0 };
}

static struct order_seq load_seq(struct buf *in)
{
	uint64_t gen = buf__uleb(in);

	return (struct order_seq){ gen, buf__uleb(in) };
}

static int load_ranges(struct buf *in, struct order_ranges *ranges, bool of_p)
{
	uint64_t n = buf__uleb(in), type, kind;
	int err = 0;

	for (; n && !err && !in->bad; n--) {
		type = buf__uleb(in);
		kind = buf__uleb(in);
		if (of_p ? type != EV_GC_SWEEP_BEGIN :
			   type != EV_STW_BEGIN && type != EV_GC_MARK_ASSIST_BEGIN)
			in->bad = true;
		else
			err = order__open_range(ranges, (uint8_t)type, kind);
	}
	return err;
}

static int load_p(struct order *o, uint64_t id, struct buf *in)
{
	struct order_p *p = order__new_p(o, id);

	if (!p)
		return -ENOMEM;
	p->status = (uint8_t)load_number(in, PROC_ABANDONED);
	p->seq = load_seq(in);
	return load_ranges(in, &p->ranges, true);
}

static int load_g(struct order *o, uint64_t id, struct buf *in)
{
	struct order_g *g = order__new_g(o, id);
	struct trace_string name;
	uint64_t n, task;
	int err;

	if (!g)
		return -ENOMEM;
	g->status = (uint8_t)load_number(in, GO_WAITING);
	g->seq = load_seq(in);
	err = load_ranges(in, &g->ranges, false);
	for (n = buf__uleb(in); n && !err && !in->bad; n--) {
		task = buf__uleb(in);
		name = load_name(in);
		if (!in->bad)
			err = order__open_region(g, task, &name);
	}
	return err;
}

static int load_m(struct order *o, uint64_t id, struct buf *in)
{
	struct order_m *m = order__new_m(o, id);

	if (!m)
		return -ENOMEM;
	m->p = buf__uleb(in) - 1;
	m->g = buf__uleb(in) - 1;
	m->ps = map__get(&o->p, m->p);
	m->gs = map__get(&o->g, m->g);
	if (id == TRACE_NO_M || (m->p != TRACE_NO_P && !m->ps))
		in->bad = true;
	if (m->p == TRACE_NO_P)
		m->ps = NULL;
	if (m->g == TRACE_NO_G)
		m->gs = NULL;
	return 0;
}

static int load_task(struct order *o, uint64_t id, struct buf *in)
{
	uint64_t parent = buf__uleb(in);
	struct trace_string name = load_name(in);

	return in->bad ? 0 : order__open_task(o, id, parent, &name);
}

static int load_all(struct order *o, const struct map *map, struct buf *in,
		    int (*load)(struct order *o, uint64_t id, struct buf *in))
{
	uint64_t id = 0, n;
	int err = 0;

	for (n = buf__uleb(in); n && !err && !in->bad; n--) {
		if (__builtin_add_overflow(id, buf__uleb(in), &id) || map__get(map, id))
			in->bad = true;
		if (!in->bad)
			err = load(o, id, in);
	}
	return err;
}

int order__load(struct order *ret, struct buf *in)
{
	int err;

	ret->first_gen = buf__uleb(in);
	ret->gc = (enum order_gc)load_number(in, ORDER_GC_ON);
	ret->gc_seq = buf__uleb(in);
	err = load_all(ret, &ret->p, in, load_p);
	err = err ?: load_all(ret, &ret->g, in, load_g);
	err = err ?: load_all(ret, &ret->m, in, load_m);
	err = err ?: load_all(ret, &ret->task, in, load_task);
	return err ?: in->bad ? -EBADMSG : 0;
}
