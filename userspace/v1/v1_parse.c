// SPDX-License-Identifier: GPL-2.0
/*
 * Parses a v1 trace into events, strings and stacks.
 *
 * First step of v1__open(). Upstream: v1_wire.c. Downstream: v1_order.c, which merges the batches.
 * The file consists of batches of events. Each batch belongs to one P; batches of different Ps are
 * in any order. The time of an event is relative to the previous one in its batch, and its
 * goroutine is the one that the previous events of the P have started. Strings and stacks are in
 * batches, too.
 */
#include <string.h>

#include "format/gosort.h"
#include "lib/array.h"
#include "v1/v1_wire.h"

struct parser {
	struct v1 *v;
	struct v1_wire wire;
	struct v1_symbols *symbols;
	uint32_t p, g;	   /* of the batch; the goroutine running there */
	uint32_t timer;	   /* version 0: the timer goroutine so far */
	int64_t time, seq; /* of the previous event */
	bool in_batch;	   /* a batch has begun */
	bool batch_open;   /* the last batch of `p` in v1.batches is open */
	struct v1_event *samples;
	size_t nsamples, samples_cap;
	struct trace_frame frame[V1_STACK_MAX];
};

/* Go's reader of 1.11 and later ignores strings before the first batch. */
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
		return v1_wire__broken(&p->wire, "invalid string %" PRIu64 " of %zu bytes", id,
				       len);
	if (v->version >= 11 && !p->in_batch)
		return 0;
	err = dictionary__add_string(&v->dictionary, id, data, len);
	if (err == -EEXIST)
		return v1_wire__broken(&p->wire, "string %" PRIu64 " is defined twice", id);
	if (id > v->max_string)
		v->max_string = id;
	return err;
}

/* Finds or adds the goroutine with the id; stores its index. */
static int find_g(struct v1 *v, uint64_t id, uint32_t *ret)
{
	uintptr_t n = (uintptr_t)map__get(&v->g_by_id, id);

	if (!n) {
		if (array__grow(&v->gs, v->ngs, &v->gs_cap, sizeof(*v->gs)) ||
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
		if (array__grow(&v->ps, v->nps, &v->ps_cap, sizeof(*v->ps)) ||
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
		return v1_wire__broken(&p->wire, "P ID %" PRIu64 "; the limit is %d", id,
				       INT32_MAX);
	p->v->ps[p->p].last_g = p->g;
	err = find_p(p->v, (int32_t)id, &p->p);
	if (err)
		return err;
	p->g = p->v->ps[p->p].last_g;
	p->seq = v1__has_seq(p->v->version) ? (int64_t)p->wire.arg[1] : 0;
	p->time = (int64_t)p->wire.arg[v1__has_seq(p->v->version) ? 2 : 1];
	p->in_batch = true;
	p->batch_open = false;
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
	/* The first parser had one timer goroutine, the last one named, and never goroutine 0. */
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
				err = v1_symbols__frame(p->symbols, &p->v->dictionary,
							&p->frame[i]);
		}
	}
	return err;
}

/* Ids are truncated to 32 bits, and the first stack with an id is used, as in Go's reader. */
static int read_stack(struct parser *p)
{
	uint64_t n = p->wire.n < 2 ? UINT64_MAX : p->wire.arg[1], want;
	uint32_t id = (uint32_t)p->wire.arg[0];
	int err;

	if (n > V1_STACK_MAX)
		return v1_wire__broken(&p->wire, "a stack of %" PRIu64 " frames; the limit is %d",
				       n, V1_STACK_MAX);
	want = 2 + n * (v1__has_symbols(p->v->version) ? 4 : 1);
	if (p->wire.n < want || (p->wire.n > want && p->v->version))
		return v1_wire__broken(&p->wire, "%zu numbers for a stack of %" PRIu64 " frames",
				       p->wire.n, n);
	if (!id || !n)
		return 0;
	err = read_frames(p, n);
	if (!err)
		err = dictionary__add_stack(&p->v->dictionary, id, p->frame, n);
	return err == -EEXIST ? 0 : err;
}

/* Before 1.7 the start of a goroutine is a PC; makes a stack with one frame of it. */
static int add_start_stack(struct parser *p, uint64_t pc)
{
	struct trace_frame frame = { .pc = pc + 1 }; /* like a return address */
	int err;

	if (dictionary__has_stack(&p->v->dictionary, V1_START_STACK(pc)))
		return 0;
	err = p->symbols ? v1_symbols__frame(p->symbols, &p->v->dictionary, &frame) : 0;
	return err ? err : dictionary__add_stack(&p->v->dictionary, V1_START_STACK(pc), &frame, 1);
}

/* Adds two further arguments; an unused second one costs little. */
static int add_more(struct parser *p, struct v1_event *ev, uint64_t first, uint64_t second)
{
	struct v1 *v = p->v;

	if (array__grow(&v->more, v->nmore + 1, &v->more_cap, sizeof(*v->more)))
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

/* Interprets the arguments of an event; `arg` are those after the times. */
static int set_args(struct parser *p, struct v1_event *ev, const uint64_t *arg)
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
	case V1_GO_SYS_EXIT_LOCAL: /* Go's reader ignores the real time */
		ev->arg = 0;
		return find_g(v, arg[0], &ev->other);
	case V1_STW_START: /* later readers accept any */
		if (v->version < 11 && arg[0] > 1)
			return v1_wire__broken(&p->wire, "unknown stop-the-world reason %" PRIu64,
					       arg[0]);
		return 0;
	case V1_SWEEP_DONE:
		return add_more(p, ev, arg[1], 0);
	case V1_TASK_CREATE:
		return add_more(p, ev, arg[1], arg[2]);
	case V1_REGION:
		if (arg[1] > 1)
			return v1_wire__broken(&p->wire, "unknown region mode %" PRIu64, arg[1]);
		ev->ended = arg[1];
		return add_more(p, ev, arg[1], arg[2]);
	case V1_LOG:
		return read_log(p, ev, arg[1]);
	}
	return 0;
}

/* Whether the running goroutine leaves the P by this event. */
static bool leaves_p(unsigned int type)
{
	return (type >= V1_GO_END && type <= V1_GO_BLOCK) || type == V1_GO_SYS_BLOCK ||
	       (type >= V1_GO_BLOCK_SEND && type <= V1_GO_BLOCK_NET) || type == V1_GO_BLOCK_GC;
}

/*
 * Whether the event concerns the whole program: before Go 1.23, readers assigned it to no
 * goroutine.
 */
static bool is_global(const struct v1 *v, unsigned int type)
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
	if (array__grow(&v->events, v->nevents, &v->events_cap, sizeof(*v->events)))
		return -ENOMEM;
	if (!p->batch_open) {
		if (array__grow(&v->batches, b, &v->batches_cap, sizeof(*v->batches)))
			return -ENOMEM;
		v->batches[b] = (struct v1_batch){ .first = (uint32_t)v->nevents };
		*(on->last_batch ? &v->batches[on->last_batch - 1].next : &on->first_batch) =
			(uint32_t)b + 1;
		on->last_batch = (uint32_t)b + 1;
		v->nbatches++;
		p->batch_open = true;
	}
	v->batches[on->last_batch - 1].n++;
	v->events[v->nevents++] = *ev;
	return 0;
}

static int keep_seq(struct parser *p, int64_t seq)
{
	struct v1 *v = p->v;

	if (array__grow(&v->seqs, v->nevents, &v->seqs_cap, sizeof(*v->seqs)))
		return -ENOMEM;
	v->seqs[v->nevents] = seq;
	return 0;
}

/* Samples are written late, in batches of any P. They are sorted by their own time. */
static int keep_sample(struct parser *p, struct v1_event *ev)
{
	int err;

	ev->time = (int64_t)p->wire.arg[1];
	ev->arg = 0;
	err = find_p(p->v, (int32_t)p->wire.arg[2], &ev->p);
	if (!err)
		err = find_g(p->v, p->wire.arg[3], &ev->g);
	if (!err)
		err = array__grow(&p->samples, p->nsamples, &p->samples_cap, sizeof(*p->samples));
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
	/* arguments that a version lacks are 0 */
	memset(&p->wire.arg[p->wire.n], 0, V1_ARGS_MAX * sizeof(*p->wire.arg));
	err = set_args(p, &ev, &p->wire.arg[at]);
	if (err)
		return err;
	if (is_global(v, p->wire.type))
		ev.g = V1_G_NONE;
	if (leaves_p(p->wire.type))
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
		return v1_wire__broken(&p->wire, "the event precedes the first batch");
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

/* Makes the CPU samples the only batch of a separate P, which is not in the file. */
static int append_samples(struct parser *p)
{
	struct gosort_item *item;
	struct v1 *v = p->v;
	int err = 0;

	if (!p->nsamples)
		return 0;
	item = malloc(p->nsamples * sizeof(*item));
	if (!item || array__grow(&v->ps, v->nps, &v->ps_cap, sizeof(*v->ps))) {
		free(item);
		return -ENOMEM;
	}
	p->p = (uint32_t)v->nps;
	v->ps[v->nps++] = (struct v1_p){};
	p->batch_open = false;
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
	int err = array__grow(&v->more, 0, &v->more_cap, sizeof(*v->more));

	for (int i = 0; i < V1_P_FAKES && !err; i++)
		err = find_p(v, V1_P_FAKE_ID + i, &n);
	if (!err)
		err = find_g(v, 0, &n);
	if (!err)
		err = find_g(v, UINT64_MAX - 1, &n); /* Go's id of V1_G_GARBAGE */
	/* Before 1.11, events before the first batch belong to P 0. */
	if (!err)
		err = find_p(v, 0, &p->p);
	return err;
}

static int check_complete(const struct v1 *v, struct error *error)
{
	if (!v->ticks_per_sec)
		return error__set(error, -EBADMSG, "invalid trace: no Frequency event");
	if (!v->nevents && v->version < 11)
		return error__set(error, -EBADMSG, "invalid trace: no events");
	return 0;
}

int v1__parse(struct v1 *v, struct input *in, struct v1_symbols *symbols, struct error *error)
{
	struct parser *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return -ENOMEM;
	p->v = v;
	p->symbols = symbols;
	v1_wire__init(&p->wire, in, v->version, error);
	err = prepare(p);
	if (!err)
		err = v1_wire__next(&p->wire);
	while (err > 0) {
		err = read_event(p);
		if (!err)
			err = v1_wire__next(&p->wire);
	}
	if (!err)
		err = append_samples(p);
	if (!err)
		err = check_complete(v, error);
	v1_wire__deinit(&p->wire);
	free(p->samples);
	free(p);
	return err;
}
