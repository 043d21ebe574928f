// SPDX-License-Identifier: GPL-2.0
/*
 * Samples of a perf.data file: each is one occurrence of a recorded event. Determines which event
 * it is, and reads the fields of scheduler events. Input: perfdata_records.c. Output:
 * perf_data__sched().
 *
 * The parts of a sample are in the order of their bits in perf_event_open(2), each present if its
 * bit is set in the attribute. RAW, the event's own fields, follows parts of variable size (READ,
 * CALLCHAIN).
 */
#include <string.h>

#include "align/perfdata_impl.h"

/*
 * In prev_state: the thread sleeps, is stopped or dead, in the encodings of all kernels. Higher
 * bits mean that it was preempted (0x100, before 4.14 0x400 to 0x1000), or how it may be woken.
 */
#define NOT_RUNNABLE 0x2ff

struct part {
	uint64_t bit;
	size_t offset; /* of the member of struct perf_attr for its position; 0: none */
};

/* 8 bytes each. */
static const struct part parts[] = {
	{ PERF_SAMPLE_IDENTIFIER, offsetof(struct perf_attr, id) },
	{ PERF_SAMPLE_IP },
	{ PERF_SAMPLE_TID, offsetof(struct perf_attr, tid) },
	{ PERF_SAMPLE_TIME, offsetof(struct perf_attr, time) },
	{ PERF_SAMPLE_ADDR },
	{ PERF_SAMPLE_ID, offsetof(struct perf_attr, id) },
	{ PERF_SAMPLE_STREAM_ID },
	{ PERF_SAMPLE_CPU, offsetof(struct perf_attr, cpu) },
	{ PERF_SAMPLE_PERIOD },
};

/* The ID determines the event of a sample, so its position must not depend on the event. */
int perf__set_layout(const struct perf_data *d, struct perf_attr *attr, struct error *error)
{
	uint64_t type = attr->attr.sample_type;

	attr->id = attr->tid = attr->time = attr->cpu = PERF_ABSENT;
	attr->head = 0;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		size_t *member = (size_t *)((char *)attr + parts[i].offset);

		if (!(type & parts[i].bit))
			continue;
		if (parts[i].offset && *member == PERF_ABSENT)
			*member = attr->head;
		attr->head += sizeof(uint64_t);
	}
	if (d->attrs && d->attr[0]->id != attr->id)
		return error__set(error, -EBADMSG,
				  "%s: its events store their IDs at different offsets",
				  input__name(d->in));
	if (d->attrs && attr->id == PERF_ABSENT)
		return error__set(error, -EBADMSG,
				  "%s: its samples do not contain the IDs of their events; "
				  "record only one event, or use perf sched record",
				  input__name(d->in));
	return 0;
}

static struct perf_attr *attr_of(const struct perf_data *d, const struct buf *b)
{
	uint64_t id;

	if (d->attrs < 2)
		return d->attrs ? d->attr[0] : NULL;
	return buf__u64_at(b, d->attr[0]->id, &id) ? map__get(&d->attr_of, id) : NULL;
}

/* Skip the counter values of one event or of its group. */
static void skip_read(struct buf *b, uint64_t format)
{
	unsigned int times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
			     !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	unsigned int each = 1 + !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST);
	uint64_t n = format & PERF_FORMAT_GROUP ? buf__u64(b) : 1;

	buf__skip(b, times * sizeof(uint64_t));
	if (n > buf__left(b) / (each * sizeof(uint64_t)))
		b->bad = true;
	else
		buf__skip(b, n * each * sizeof(uint64_t));
}

static void skip_callchain(struct buf *b)
{
	uint64_t n = buf__u64(b);

	if (n > buf__left(b) / sizeof(uint64_t))
		b->bad = true;
	else
		buf__skip(b, n * sizeof(uint64_t));
}

/* The event's own bytes; empty and bad if absent. */
static struct buf raw_of(const struct perf_attr *attr, struct buf *b)
{
	const void *raw;
	uint32_t len;

	buf__seek(b, attr->head);
	if (attr->attr.sample_type & PERF_SAMPLE_READ)
		skip_read(b, attr->attr.read_format);
	if (attr->attr.sample_type & PERF_SAMPLE_CALLCHAIN)
		skip_callchain(b);
	len = buf__u32(b);
	raw = buf__take(b, len);
	return raw ? buf__make(raw, len) : (struct buf){ .bad = true };
}

/* 0 if the event does not have the field. */
static uint64_t number(struct buf *raw, const struct sched_field *f)
{
	uint64_t v = 0;
	const void *p;

	if (f->where == SCHED_ABSENT)
		return 0;
	buf__seek(raw, f->offset);
	p = buf__take(raw, f->size);
	if (p)
		memcpy(&v, p, f->size);
	return v;
}

static int text(struct perf_data *d, struct buf *raw, const struct sched_field *f, uint32_t *ret,
		struct error *error)
{
	uint32_t offset = f->offset, len = f->size, loc;
	const void *p;

	if (f->where == SCHED_ABSENT)
		return 0;
	if (f->where != SCHED_HERE) {
		loc = (uint32_t)number(raw, f);
		offset = (loc & 0xffff) + (f->where == SCHED_REL_LOC ? f->offset + f->size : 0);
		len = loc >> 16;
	}
	buf__seek(raw, offset);
	p = buf__take(raw, len);
	return p ? perf__name(d, p, len, ret, error) : 0;
}

static int fields(struct perf_data *d, const struct sched_format *f, struct buf *raw,
		  struct perf_sched *ev, struct error *error)
{
	int err;

	ev->kind = (uint8_t)f->kind;
	ev->event = f->name;
	ev->tid = f->tid.where == SCHED_ABSENT ? ev->by : (uint32_t)number(raw, &f->tid);
	ev->next = (uint32_t)number(raw, &f->next);
	ev->state = number(raw, &f->state);
	ev->preempted = f->kind == PERF_SWITCH && !(ev->state & NOT_RUNNABLE);
	err = text(d, raw, &f->comm, &ev->comm, error);
	err = err ?: text(d, raw, &f->next_comm, &ev->next_comm, error);
	if (!err && raw->bad)
		return perf__broken(d, "scheduler sample", error);
	return err;
}

static int know_process(struct perf_data *d, const struct perf_sched *ev, struct error *error)
{
	if (ev->by == UINT32_MAX || ev->pid == UINT32_MAX)
		return 0;
	return perf__thread(d, ev->by, ev->pid, error);
}

/* perf__resolve() has checked that thread, time and CPU are present. */
static bool head(const struct perf_attr *attr, const struct buf *b, struct perf_sched *ev)
{
	uint32_t cpu = 0;

	if (!buf__u64_at(b, attr->time, &ev->time) || !buf__u32_at(b, attr->tid, &ev->pid) ||
	    !buf__u32_at(b, attr->tid + sizeof(ev->pid), &ev->by) ||
	    !buf__u32_at(b, attr->cpu, &cpu) || cpu > UINT16_MAX)
		return false;
	ev->cpu = (uint16_t)cpu;
	return true;
}

int perf__sample(struct perf_data *d, struct buf *b, struct error *error)
{
	const struct perf_attr *attr = attr_of(d, b);
	struct perf_sched ev = {};
	struct buf raw;
	int err;

	d->samples++;
	if (!attr || !attr->format)
		return 0;
	raw = raw_of(attr, b);
	if (raw.bad || !head(attr, b, &ev))
		return perf__broken(d, "sample", error);
	err = fields(d, attr->format, &raw, &ev, error);
	err = err ?: know_process(d, &ev, error);
	err = err ?: perf__keep(d, error);
	err = err ?: perf__keep_latest(d, &ev, error);
	if (err)
		return err;
	if (array__grow(&d->sched, d->n, &d->cap, sizeof(*d->sched)))
		return perf__no_memory(d, error);
	if (d->just_lost)
		perf__after_loss(d, ev.time);
	d->sched[d->n++] = ev;
	return 0;
}
