// SPDX-License-Identifier: GPL-2.0
/*
 * The numbers of a v1 trace to events, strings and stacks.
 *
 * First step of v1__open(), behind v1_wire.c. The file is batches of events, each of one P, in any
 * order of the Ps; an event has a time after that of the event before it in its batch, and happens
 * on the goroutine that the P's events say runs on it. Strings and stacks stand in batches like
 * events. Everything is read in one run; v1_order.c then merges the batches.
 */
#include <string.h>

#include "trace/gosort.h"
#include "trace/v1_wire.h"

struct parser {
	struct v1 *v;
	struct v1_wire wire;
	struct v1_symbols *symbols;
	uint32_t p, g;	   /* whose batch this is, and what runs there */
	uint32_t timer;	   /* version 0: the goroutine of timers, so far */
	int64_t time, seq; /* of the event before */
	bool in_batch;	   /* a batch has begun */
	bool run;	   /* the last batch of `p` in v1.batches is this one */
	struct v1_event *samples;
	size_t nsamples, samples_cap;
	struct trace_frame frame[V1_STACK_MAX];
};

/* Go's reader of 1.11 and later does not look at strings before the first batch. */
static int read_string(struct parser *p)
{
	struct v1 *v = p->v;
	const void *data;
	uint64_t id;
	size_t len;
	int err = v1_wire__string_id(&p->wire, &id);

	if (!err)
		err = v1_wire__string(&p->wire, &data, &len);
	if (err)
		return err;
	if (!id || !len)
		return v1_wire__broken(&p->wire, "string %" PRIu64 " of %zu bytes", id, len);
	if (v->version >= 11 && !p->in_batch)
		return 0;
	err = dictionary__add_string(&v->words, id, data, len);
	if (err == -EEXIST)
		return v1_wire__broken(&p->wire, "string %" PRIu64 " is defined twice", id);
	if (id > v->max_string)
		v->max_string = id;
	return err;
}

/* A number for the goroutine of that id. */
static int find_g(struct v1 *v, uint64_t id, uint32_t *ret)
{
	uintptr_t n = (uintptr_t)map__get(&v->g_by_id, id);

	if (!n) {
		if (v1__grow(&v->gs, &v->gs_cap, v->ngs, sizeof(*v->gs)) ||
		    map__put(&v->g_by_id, id, (void *)(v->ngs + 1)))
			return -ENOMEM;
		v->gs[v->ngs++] = (struct v1_g){ .id = id };
		n = v->ngs;
	}
	*ret = (uint32_t)n - 1;
	return 0;
}

static int find_p(struct v1 *v, int32_t id, uint32_t *ret)
{
	uintptr_t n = (uintptr_t)map__get(&v->p_by_id, (uint32_t)id);

	if (!n) {
		if (v1__grow(&v->ps, &v->ps_cap, v->nps, sizeof(*v->ps)) ||
		    map__put(&v->p_by_id, (uint32_t)id, (void *)(v->nps + 1)))
			return -ENOMEM;
		v->ps[v->nps++] = (struct v1_p){ .id = id };
		n = v->nps;
	}
	*ret = (uint32_t)n - 1;
	return 0;
}

static int read_batch(struct parser *p)
{
	uint64_t id = p->wire.arg[0];
	int err;

	if (id != UINT64_MAX && id > INT32_MAX)
		return v1_wire__broken(&p->wire, "P %" PRIu64 ": the greatest is %d", id,
				       INT32_MAX);
	p->v->ps[p->p].last_g = p->g;
	err = find_p(p->v, (int32_t)id, &p->p);
	if (err)
		return err;
	p->g = p->v->ps[p->p].last_g;
	p->seq = v1__has_seq(p->v->version) ? (int64_t)p->wire.arg[1] : 0;
	p->time = (int64_t)p->wire.arg[v1__has_seq(p->v->version) ? 2 : 1];
	p->in_batch = true;
	p->run = false;
	return 0;
}

static int read_frequency(struct parser *p)
{
	p->v->ticks_per_sec = (int64_t)p->wire.arg[0];
	if (p->v->ticks_per_sec <= 0)
		return v1_wire__broken(&p->wire,
				       "%" PRIi64 " ticks per second: time stamps out of order",
				       p->v->ticks_per_sec);
	return 0;
}

static int read_timer(struct parser *p)
{
	uint32_t g;
	int err = find_g(p->v, p->wire.arg[0], &g);

	if (err)
		return err;
	/* The first parser knew one of them, the last one named, and no goroutine 0. */
	if (!p->v->version)
		p->v->gs[p->timer].timer = false;
	p->timer = g;
	p->v->gs[g].timer = p->v->version || g != V1_G_NONE;
	return 0;
}

static int read_frames(struct parser *p, size_t n)
{
	const uint64_t *arg = p->wire.arg + 2;
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		if (v1__has_symbols(p->v->version)) {
			p->frame[i] = (struct trace_frame){ arg[0], arg[1], arg[2], arg[3] };
			arg += 4;
		} else {
			p->frame[i] = (struct trace_frame){ .pc = *arg++ };
			if (p->symbols)
				err = v1_symbols__frame(p->symbols, &p->v->words, &p->frame[i]);
		}
	}
	return err;
}

/* Ids are cut to 32 bits, as Go's reader does. The first stack of an id counts. */
static int read_stack(struct parser *p)
{
	uint64_t n = p->wire.n < 2 ? UINT64_MAX : p->wire.arg[1], want;
	uint32_t id = (uint32_t)p->wire.arg[0];
	int err;

	if (n > V1_STACK_MAX)
		return v1_wire__broken(&p->wire, "a stack of %" PRIu64 " frames; the most is %d", n,
				       V1_STACK_MAX);
	want = 2 + n * (v1__has_symbols(p->v->version) ? 4 : 1);
	if (p->wire.n < want || (p->wire.n > want && p->v->version))
		return v1_wire__broken(&p->wire, "%zu numbers for a stack of %" PRIu64 " frames",
				       p->wire.n, n);
	if (!id || !n)
		return 0;
	err = read_frames(p, n);
	if (!err)
		err = dictionary__add_stack(&p->v->words, id, p->frame, n);
	return err == -EEXIST ? 0 : err;
}

/* Before 1.7 a goroutine's beginning was a PC: it becomes a stack of that one frame. */
static int add_start_stack(struct parser *p, uint64_t pc)
{
	struct trace_frame frame = { .pc = pc + 1 }; /* as if it were a return address */
	int err;

	if (dictionary__has_stack(&p->v->words, V1_START_STACK(pc)))
		return 0;
	err = p->symbols ? v1_symbols__frame(p->symbols, &p->v->words, &frame) : 0;
	return err ? err : dictionary__add_stack(&p->v->words, V1_START_STACK(pc), &frame, 1);
}

/* Two further arguments; a second one that is not wanted costs nothing to speak of. */
static int add_more(struct parser *p, struct v1_event *ev, uint64_t first, uint64_t second)
{
	struct v1 *v = p->v;

	if (v1__grow(&v->more, &v->more_cap, v->nmore + 1, sizeof(*v->more)))
		return -ENOMEM;
	if (v->nmore > UINT32_MAX - 2)
		return v1_wire__broken(&p->wire, "the trace has too many events");
	ev->other = (uint32_t)v->nmore;
	v->more[v->nmore++] = first;
	v->more[v->nmore++] = second;
	return 0;
}

static int read_log(struct parser *p, struct v1_event *ev, uint64_t key)
{
	struct dictionary *messages = &p->v->messages;
	const void *data;
	size_t len;
	int err = v1_wire__string(&p->wire, &data, &len);

	if (!err)
		err = dictionary__add_string(messages, dictionary__nstrings(messages) + 1, data,
					     len);
	return err ? err : add_more(p, ev, key, 0);
}

/* What the arguments of an event mean; `arg` are those behind the times. */
static int fill_in(struct parser *p, struct v1_event *ev, const uint64_t *arg)
{
	struct v1 *v = p->v;
	int err;

	ev->arg = arg[0];
	switch (ev->type) {
	case V1_GO_START:
	case V1_GO_START_LOCAL:
	case V1_GO_START_LABEL:
		err = find_g(v, arg[0], &p->g);
		ev->g = p->g;
		ev->arg = arg[1];
		if (!err && ev->type == V1_GO_START_LABEL)
			err = add_more(p, ev, arg[2], 0);
		return err;
	case V1_GO_CREATE:
		ev->arg = v1__has_symbols(v->version) ? arg[1] : V1_START_STACK(arg[1]);
		err = find_g(v, arg[0], &ev->other);
		if (!err && !v1__has_symbols(v->version))
			err = add_start_stack(p, arg[1]);
		return err;
	case V1_GO_UNBLOCK:
	case V1_GO_UNBLOCK_LOCAL:
		ev->arg = arg[1];
		return find_g(v, arg[0], &ev->other);
	case V1_GO_SYS_EXIT:
		ev->arg = arg[2];
		err = find_g(v, arg[0], &ev->g);
		return err ? err : add_more(p, ev, arg[1], 0);
	case V1_GO_WAITING:
	case V1_GO_IN_SYSCALL:
		return find_g(v, arg[0], &ev->g);
	case V1_GO_SYS_EXIT_LOCAL: /* Go's reader does not look at when it was */
		ev->arg = 0;
		return find_g(v, arg[0], &ev->other);
	case V1_STW_START: /* later readers take any */
		if (v->version < 11 && arg[0] > 1)
			return v1_wire__broken(&p->wire, "the world stopped for reason %" PRIu64,
					       arg[0]);
		return 0;
	case V1_SWEEP_DONE:
		return add_more(p, ev, arg[1], 0);
	case V1_TASK_CREATE:
		return add_more(p, ev, arg[1], arg[2]);
	case V1_REGION:
		if (arg[1] > 1)
			return v1_wire__broken(&p->wire, "a region's mode of %" PRIu64, arg[1]);
		ev->ended = arg[1];
		return add_more(p, ev, arg[1], arg[2]);
	case V1_LOG:
		return read_log(p, ev, arg[1]);
	}
	return 0;
}

/* Does the goroutine that runs on the P stop running by it? */
static bool leaves(unsigned int type)
{
	return (type >= V1_GO_END && type <= V1_GO_BLOCK) || type == V1_GO_SYS_BLOCK ||
	       (type >= V1_GO_BLOCK_SEND && type <= V1_GO_BLOCK_NET) || type == V1_GO_BLOCK_GC;
}

/* Is it about the whole program? Readers before Go 1.23 say of no goroutine that it did it. */
static bool of_nobody(const struct v1 *v, unsigned int type)
{
	return v->version < 11 && type >= V1_GC_START && type <= V1_STW_DONE;
}

static int keep_event(struct parser *p, const struct v1_event *ev)
{
	struct v1 *v = p->v;
	struct v1_p *on = &v->ps[p->p];
	size_t b = v->nbatches;

	if (v->nevents > UINT32_MAX - 16)
		return v1_wire__broken(&p->wire, "the trace has too many events");
	if (v1__grow(&v->events, &v->events_cap, v->nevents, sizeof(*v->events)))
		return -ENOMEM;
	if (!p->run) {
		if (v1__grow(&v->batches, &v->batches_cap, b, sizeof(*v->batches)))
			return -ENOMEM;
		v->batches[b] = (struct v1_batch){ .first = (uint32_t)v->nevents };
		*(on->last_batch ? &v->batches[on->last_batch - 1].next : &on->first_batch) =
			(uint32_t)b + 1;
		on->last_batch = (uint32_t)b + 1;
		v->nbatches++;
		p->run = true;
	}
	v->batches[on->last_batch - 1].n++;
	v->events[v->nevents++] = *ev;
	return 0;
}

static int keep_seq(struct parser *p, int64_t seq)
{
	struct v1 *v = p->v;

	if (v1__grow(&v->seqs, &v->seqs_cap, v->nevents, sizeof(*v->seqs)))
		return -ENOMEM;
	v->seqs[v->nevents] = seq;
	return 0;
}

/* Written late, in batches of any P: they are ordered by the time when they were taken. */
static int keep_sample(struct parser *p, struct v1_event *ev)
{
	int err;

	ev->time = (int64_t)p->wire.arg[1];
	ev->arg = 0;
	err = find_p(p->v, (int32_t)p->wire.arg[2], &ev->p);
	if (!err)
		err = find_g(p->v, p->wire.arg[3], &ev->g);
	if (!err)
		err = v1__grow(&p->samples, &p->samples_cap, p->nsamples, sizeof(*p->samples));
	if (!err)
		p->samples[p->nsamples++] = *ev;
	return err;
}

static int read_timed(struct parser *p)
{
	struct v1_event ev = {
		.g = p->g, .p = p->p, .offset = p->wire.offset, .type = p->wire.type
	};
	struct v1 *v = p->v;
	size_t at = 0;
	int err;

	if (v1__has_seq(v->version))
		p->seq = (int64_t)((uint64_t)p->seq + p->wire.arg[at++]);
	if (v1_spec__find(p->wire.type, v->version)->stack)
		ev.stack = (uint32_t)p->wire.arg[--p->wire.n];
	if (p->wire.type == V1_CPU_SAMPLE)
		return keep_sample(p, &ev);
	p->time = (int64_t)((uint64_t)p->time + p->wire.arg[at++]);
	ev.time = p->time;
	/* What a version does not have is 0. */
	memset(&p->wire.arg[p->wire.n], 0, V1_ARGS_MAX * sizeof(*p->wire.arg));
	err = fill_in(p, &ev, &p->wire.arg[at]);
	if (err)
		return err;
	if (of_nobody(v, p->wire.type))
		ev.g = V1_G_NONE;
	if (leaves(p->wire.type))
		p->g = V1_G_NONE;
	if (v1__has_seq(v->version))
		err = keep_seq(p,
			       ev.type == V1_GO_SYS_EXIT ? (int64_t)p->wire.arg[at + 1] : p->seq);
	return err ? err : keep_event(p, &ev);
}

static int read_event(struct parser *p)
{
	switch (p->wire.type) {
	case V1_STRING:
		return read_string(p);
	case V1_BATCH:
		return read_batch(p);
	}
	if (!p->in_batch && p->v->version >= 11)
		return v1_wire__broken(&p->wire, "it stands before the first batch");
	switch (p->wire.type) {
	case V1_FREQUENCY:
		return read_frequency(p);
	case V1_TIMER_GOROUTINE:
		return read_timer(p);
	case V1_STACK:
		return read_stack(p);
	}
	return read_timed(p);
}

/* CPU samples become the one batch of a P of their own, which no P of the file is. */
static int append_samples(struct parser *p)
{
	struct gosort_item *item;
	struct v1 *v = p->v;
	int err = 0;

	if (!p->nsamples)
		return 0;
	item = malloc(p->nsamples * sizeof(*item));
	if (!item || v1__grow(&v->ps, &v->ps_cap, v->nps, sizeof(*v->ps))) {
		free(item);
		return -ENOMEM;
	}
	p->p = (uint32_t)v->nps;
	v->ps[v->nps++] = (struct v1_p){};
	p->run = false;
	for (size_t i = 0; i < p->nsamples; i++)
		item[i] = (struct gosort_item){ p->samples[i].time, &p->samples[i] };
	gosort(item, p->nsamples);
	for (size_t i = 0; i < p->nsamples && !err; i++)
		err = keep_event(p, item[i].what);
	free(item);
	return err;
}

static int prepare(struct parser *p)
{
	struct v1 *v = p->v;
	uint32_t n;
	int err = v1__grow(&v->more, &v->more_cap, 0, sizeof(*v->more));

	for (int i = 0; i < V1_P_FAKES && !err; i++)
		err = find_p(v, V1_P_FAKE_ID + i, &n);
	if (!err)
		err = find_g(v, 0, &n);
	if (!err)
		err = find_g(v, UINT64_MAX - 1, &n); /* the id by which Go knows V1_G_GARBAGE */
	/* Before 1.11 the events before the first batch are of P 0. */
	if (!err)
		err = find_p(v, 0, &p->p);
	return err;
}

static int check_whole(const struct v1 *v, struct error *err)
{
	if (!v->ticks_per_sec)
		return error__set(err, -EBADMSG,
				  "broken trace: it does not say how long a tick is "
				  "(no Frequency event)");
	if (!v->nevents && v->version < 11)
		return error__set(err, -EBADMSG, "broken trace: it has no events");
	return 0;
}

int v1__parse(struct v1 *v, struct input *in, struct v1_symbols *symbols, struct error *err)
{
	struct parser *p = calloc(1, sizeof(*p));
	int e;

	if (!p)
		return -ENOMEM;
	p->v = v;
	p->symbols = symbols;
	v1_wire__init(&p->wire, in, v->version, err);
	e = prepare(p);
	if (!e)
		e = v1_wire__next(&p->wire);
	while (e > 0) {
		e = read_event(p);
		if (!e)
			e = v1_wire__next(&p->wire);
	}
	if (!e)
		e = append_samples(p);
	if (!e)
		e = check_whole(v, err);
	v1_wire__deinit(&p->wire);
	free(p->samples);
	free(p);
	return e;
}
