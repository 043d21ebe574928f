// SPDX-License-Identifier: GPL-2.0
/* Any bytes to a trace: see make_trace.h. */
#include <stdio.h>
#include <string.h>

#include "format/encode.h"
#include "format/spec.h"
#include "lib/buf.h"
#include "make_trace.h"

#define THREADS	    8	 /* the last one is TRACE_NO_M */
#define BATCH	    4096 /* bytes of a thread in a generation */
#define GENERATIONS 6
#define PS	    4
#define GS	    8
#define STACKS	    3
#define UNDEFINED   0xff /* a string, a stack, a P: one that is not there */

static const char *const strings[] = {
	"main.main", "main.f", "main.go", "GC (x)", "sync", "a task"
};

/* clang-format off */
#define ON(thread) ((thread) + 1 * THREADS) /* a tick after the event before */

const uint8_t made_example[] = {
	3,
	EV_GO_CREATE, ON(0), 6, 1, 2,
	EV_USER_TASK_BEGIN, ON(0), 1, 0, 6, 1,
	EV_USER_REGION_BEGIN, ON(0), 1, 2, 1,
	EV_GC_BEGIN, ON(1), 0, 1,
	EV_GC_SWEEP_BEGIN, ON(0), 3,
	EV_GC_SWEEP_END, ON(0), 10, 20,
	EV_STW_BEGIN, ON(1), 4, 1,
	EV_STW_END, ON(1),
	EV_GO_BLOCK, ON(1), 5, 1,
	EV_GO_START, ON(1), 4, 0,
	EV_GO_UNBLOCK, ON(0), 2, 0, 1,
	EV_GO_SYSCALL_END, ON(2),
	EV_GO_SYSCALL_BEGIN, ON(0), 0, 2,
	EV_PROC_STEAL, ON(1), 0, 0, 0,
	EV_GO_SYSCALL_END_BLOCKED, ON(0),
	MADE_SAMPLE, ON(1), 1, 4, 2,
	MADE_GENERATION, 0,
	EV_PROC_STATUS, ON(1), 1, PROC_RUNNING,
	EV_GO_STATUS, ON(1), 4, 1, GO_RUNNING,
	EV_GO_STATUS, ON(7), 2, 0, GO_RUNNABLE,
	EV_GC_ACTIVE, ON(1), 0,
	EV_GO_STOP, ON(1), 6, 1,
	EV_GO_START, ON(1), 2, 0,
	EV_GC_END, ON(1), 0,
	EV_USER_LOG, ON(1), 1, 5, 6, 1,
	EV_USER_TASK_END, ON(1), 1, 1,
	MADE_GENERATION, 0,
	EV_HEAP_ALLOC, ON(1), 100,
	EV_GO_DESTROY, ON(1),
};
/* clang-format on */
const size_t made_example_len = sizeof(made_example);

struct thread {
	uint8_t data[BATCH];
	size_t len;
	uint64_t first, last; /* ticks */
	uint64_t p;	      /* that it started last */
};

struct maker {
	struct buf in;
	uint8_t *out;
	unsigned int version;
	uint64_t generation, now;
	uint64_t g_seq[GS], p_seq[PS], gc_seq;
	struct thread thread[THREADS];
	uint8_t samples[BATCH];
	size_t samples_len;
};

static uint64_t m_of(unsigned int thread)
{
	return thread == THREADS - 1 ? TRACE_NO_M : thread;
}

static uint8_t *put_batch(const struct maker *mk, uint8_t *p, uint64_t m, uint64_t time,
			  const uint8_t *data, size_t len)
{
	*p++ = EV_EVENT_BATCH;
	p = leb__put(p, mk->generation);
	p = leb__put(p, m);
	p = leb__put(p, time);
	p = leb__put(p, len);
	memcpy(p, data, len);
	return p + len;
}

static uint8_t *put_numbers(uint8_t *p, uint8_t type, const uint64_t *number, unsigned int n)
{
	*p++ = type;
	for (unsigned int i = 0; i < n; i++)
		p = leb__put(p, number[i]);
	return p;
}

/* A thread's event at a time that is known. */
static void put_event(struct thread *thread, uint64_t time, uint8_t type, const uint64_t *arg,
		      unsigned int n)
{
	uint8_t *p = thread->data + thread->len;

	if (!thread->len)
		thread->first = thread->last = time;
	*p++ = type;
	p = leb__put(p, time - thread->last);
	for (unsigned int i = 0; i < n; i++)
		p = leb__put(p, arg[i]);
	thread->len = p - thread->data;
	thread->last = time;
}

static void status(struct maker *mk, unsigned int thread, uint8_t type, uint64_t id,
		   uint64_t status)
{
	uint64_t arg[] = { id, m_of(thread), status };

	if (type == EV_PROC_STATUS) {
		arg[1] = status;
		mk->thread[thread].p = id;
	}
	put_event(&mk->thread[thread], mk->now, type, arg, type == EV_PROC_STATUS ? 2 : 3);
}

/* Two that run, one in a system call, and what waits for them. */
static void put_statuses(struct maker *mk)
{
	for (unsigned int i = 0; i < 2; i++) {
		status(mk, i, EV_PROC_STATUS, i, PROC_RUNNING);
		status(mk, i, EV_GO_STATUS, i + 1, GO_RUNNING);
	}
	status(mk, 2, EV_PROC_STATUS, 2, PROC_SYSCALL);
	status(mk, 2, EV_GO_STATUS, 3, GO_SYSCALL);
	status(mk, THREADS - 1, EV_PROC_STATUS, 3, PROC_IDLE);
	status(mk, THREADS - 1, EV_GO_STATUS, 4, GO_RUNNABLE);
	status(mk, THREADS - 1, EV_GO_STATUS, 5, GO_WAITING);
}

/* The counter that an event's sequence number comes from. */
static uint64_t *seq_of(struct maker *mk, uint8_t type, unsigned int thread, uint64_t first_arg)
{
	switch (type) {
	case EV_PROC_START:
		mk->thread[thread].p = first_arg;
		return &mk->p_seq[first_arg % PS];
	case EV_PROC_STEAL:
		return &mk->p_seq[first_arg % PS];
	case EV_GO_SYSCALL_BEGIN:
		return &mk->p_seq[mk->thread[thread].p % PS];
	case EV_GC_ACTIVE:
	case EV_GC_BEGIN:
	case EV_GC_END:
		return &mk->gc_seq;
	default:
		return &mk->g_seq[first_arg % GS];
	}
}

static uint64_t argument(struct maker *mk, enum ev_arg type, uint64_t *seq)
{
	uint8_t byte = buf__u8(&mk->in);

	switch (type) {
	case ARG_G:
		return byte % GS;
	case ARG_M:
		return m_of(byte % THREADS);
	case ARG_P:
		return byte == UNDEFINED ? TRACE_NO_M : byte % PS;
	case ARG_SEQ:
		return byte % 8 == 7 ? byte / 8 : ++*seq;
	case ARG_STRING:
		return byte == UNDEFINED ? 99 : byte % (sizeof(strings) / sizeof(*strings) + 1);
	case ARG_STACK:
		return byte == UNDEFINED ? 99 : byte % (STACKS + 1);
	case ARG_STATUS:
		return byte % 6;
	case ARG_TASK:
		return byte % 4;
	default:
		return byte;
	}
}

/* Statuses and creations begin a new count. */
static void reset_seq(struct maker *mk, uint8_t type, const uint64_t *arg)
{
	switch (type) {
	case EV_PROC_STATUS:
		mk->p_seq[arg[0] % PS] = 0;
		break;
	case EV_GO_STATUS:
	case EV_GO_STATUS_STACK:
	case EV_GO_CREATE:
	case EV_GO_CREATE_BLOCKED:
	case EV_GO_CREATE_SYSCALL:
		mk->g_seq[arg[0] % GS] = 0;
		break;
	}
}

static void make_event(struct maker *mk, uint8_t type, unsigned int thread, unsigned int dt)
{
	const struct ev_spec *spec = spec__event(type);
	struct thread *t = &mk->thread[thread];
	uint64_t arg[EV_ARGS_MAX] = {};
	unsigned int i;

	for (i = 0; i + 1 < spec->nargs; i++)
		arg[i] = argument(mk, spec->arg[i + 1].type, seq_of(mk, type, thread, arg[0]));
	reset_seq(mk, type, arg);
	mk->now += dt;
	/* A clock that lags: events of other threads come first, by their times. */
	put_event(t, t->len && dt == 31 ? t->last : mk->now, type, arg, i);
}

static void make_sample(struct maker *mk, unsigned int thread)
{
	uint64_t number[] = { mk->now, m_of(thread), argument(mk, ARG_P, NULL),
			      argument(mk, ARG_G, NULL), argument(mk, ARG_STACK, NULL) };
	uint8_t *p = mk->samples + mk->samples_len;

	if (!mk->samples_len)
		*p++ = EV_CPU_SAMPLES;
	mk->samples_len = put_numbers(p, EV_CPU_SAMPLE, number, 5) - mk->samples;
}

static uint8_t *put_strings(const struct maker *mk, uint8_t *p)
{
	uint8_t data[256], *at = data;

	*at++ = EV_STRINGS;
	for (unsigned int i = 0; i < sizeof(strings) / sizeof(*strings); i++) {
		at = put_numbers(at, EV_STRING, (uint64_t[]){ i + 1, strlen(strings[i]) }, 2);
		memcpy(at, strings[i], strlen(strings[i]));
		at += strlen(strings[i]);
	}
	return put_batch(mk, p, TRACE_NO_M, mk->now, data, at - data);
}

/* Stack i has i frames, of main.main and main.f. */
static uint8_t *put_stacks(const struct maker *mk, uint8_t *p)
{
	uint8_t data[256], *at = data;

	*at++ = EV_STACKS;
	for (unsigned int i = 1; i <= STACKS; i++) {
		at = put_numbers(at, EV_STACK, (uint64_t[]){ i, i }, 2);
		for (unsigned int frame = 0; frame < i; frame++) {
			at = leb__put(at, 0x400000 + frame);
			at = leb__put(at, 1 + frame % 2);
			at = leb__put(at, 3);
			at = leb__put(at, 10 + frame);
		}
	}
	return put_batch(mk, p, TRACE_NO_M, mk->now, data, at - data);
}

static uint8_t *put_sync(const struct maker *mk, uint8_t *p)
{
	uint8_t data[128], *at = data;

	if (mk->version >= 25)
		*at++ = EV_SYNC;
	at = put_numbers(at, EV_FREQUENCY, (uint64_t[]){ 1000000000 }, 1);
	if (mk->version >= 25)
		at = put_numbers(at, EV_CLOCK_SNAPSHOT, (uint64_t[]){ 0, mk->now, 1, 2 }, 4);
	return put_batch(mk, p, TRACE_NO_M, mk->now, data, at - data);
}

static void end_generation(struct maker *mk)
{
	uint8_t *p = mk->out;

	for (unsigned int i = 0; i < THREADS; i++) {
		struct thread *t = &mk->thread[i];

		if (t->len)
			p = put_batch(mk, p, m_of(i), t->first, t->data, t->len);
		t->len = 0;
	}
	if (mk->samples_len)
		p = put_batch(mk, p, TRACE_NO_M, mk->now, mk->samples, mk->samples_len);
	mk->samples_len = 0;
	p = put_stacks(mk, p);
	p = put_strings(mk, p);
	p = put_sync(mk, p);
	if (mk->version >= 26)
		*p++ = EV_END_OF_GENERATION;
	mk->out = p;
	mk->generation++;
	mk->now += 100;
}

/* Room for one event more everywhere, and in `left` bytes for a generation of it. */
static bool has_room(const struct maker *mk, size_t left)
{
	size_t used = mk->samples_len;

	for (unsigned int i = 0; i < THREADS; i++) {
		if (mk->thread[i].len + EVENT_MAX > BATCH)
			return false;
		used += mk->thread[i].len;
	}
	return mk->samples_len + EVENT_MAX <= BATCH && used + 1024 <= left;
}

size_t make_trace(const uint8_t *data, size_t size, uint8_t *ret)
{
	static const unsigned int versions[] = { 22, 23, 25, 26 };
	struct maker mk = { .in = buf__make(data, size), .generation = 1, .now = 1000 };

	mk.version = versions[buf__u8(&mk.in) % 4];
	mk.out = ret + sprintf((char *)ret, "go 1.%u trace", mk.version);
	memset(mk.out, 0, 3);
	mk.out += 3;
	put_statuses(&mk);
	while (buf__left(&mk.in) >= 2 && has_room(&mk, MADE_MAX - (size_t)(mk.out - ret))) {
		uint8_t type = buf__u8(&mk.in), place = buf__u8(&mk.in);
		const struct ev_spec *spec = spec__event(type);

		if (type == MADE_SAMPLE)
			make_sample(&mk, place % THREADS);
		else if (type == MADE_GENERATION && mk.generation < GENERATIONS)
			end_generation(&mk);
		else if (spec && spec->timed && type != EV_CLOCK_SNAPSHOT)
			make_event(&mk, type, place % THREADS, place / THREADS);
		else
			make_event(&mk, EV_PROCS_CHANGE + type % 36, place % THREADS,
				   place / THREADS);
	}
	end_generation(&mk);
	return (size_t)(mk.out - ret);
}
