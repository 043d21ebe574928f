/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A trace of two generations with nearly all kinds of events, the list of events that a reader
 * delivers, and parts of a trace. Shared by the tests of reader and rewrite.
 */
#ifndef SELFTESTS_REWRITE_FIXTURE_H
#define SELFTESTS_REWRITE_FIXTURE_H

#include "unit/test.h"
#include "format/kernel.h"
#include "lib/input.h"
#include "reader/order.h"
#include "reader/reader.h"
#include "rewrite/rewrite.h"
#include "unit/writer_fixture.h"
#include "writer/private_write.h"

/* An event, with its strings and stacks resolved. */
struct seen {
	int64_t time;
	uint64_t m, p, g;
	uint64_t arg[EV_ARGS_MAX - 1];
	uint8_t type;
	bool extra;
};

struct seen_list {
	struct seen at[256];
	size_t n;
	struct trace_clock clock[8]; /* of each sync */
	int64_t sync[8];
	size_t syncs;
};

#define NONE UINT64_MAX

static inline uint64_t sum_of(uint64_t sum, const void *data, size_t len)
{
	const uint8_t *p = data;

	while (len--)
		sum = (sum ^ *p++) * 0x100000001b3;
	return sum;
}

static inline uint64_t sum_of_string(const struct dictionary *dictionary, uint64_t id, uint64_t sum)
{
	struct trace_string s;

	assert_true(dictionary__string(dictionary, id, &s));
	return sum_of(sum, s.data, s.len);
}

static inline uint64_t sum_of_stack(const struct dictionary *dictionary, uint64_t id)
{
	const struct trace_frame *f;
	uint64_t sum = 1;

	for (size_t i = 0; i < dictionary__frames(dictionary, id); i++) {
		f = dictionary__frame(dictionary, id, i);
		sum = sum_of(sum, &f->pc, sizeof(f->pc));
		sum = sum_of(sum, &f->line, sizeof(f->line));
		sum = sum_of_string(dictionary, f->func, sum);
		sum = sum_of_string(dictionary, f->file, sum);
	}
	return sum;
}

/* Sequence numbers are not compared. */
static inline void seen__take(struct seen *s, const struct trace_event *ev)
{
	const struct ev_spec *spec = spec__event(ev->type);

	*s = (struct seen){ ev->time, ev->m, ev->p, ev->g, {}, ev->type, ev->extra };
	if (ev->type == EV_CPU_SAMPLE)
		s->arg[0] = sum_of_stack(ev->dictionary, ev->arg[0]);
	for (unsigned int i = 0; spec->timed && i + 1 < spec->nargs; i++) {
		s->arg[i] = ev->arg[i];
		if (spec->arg[i + 1].type == ARG_STRING)
			s->arg[i] = sum_of_string(ev->dictionary, ev->arg[i], 1);
		else if (spec->arg[i + 1].type == ARG_STACK)
			s->arg[i] = sum_of_stack(ev->dictionary, ev->arg[i]);
		else if (spec->arg[i + 1].type == ARG_SEQ)
			s->arg[i] = 0;
	}
}

static inline struct reader *open_path(const char *path)
{
	struct error err = {};
	struct input *in;
	struct reader *r;

	if (input__open(&in, path, &err) || reader__open(&r, in, NULL, &err))
		fail_msg("%s", err.text);
	return r;
}

/* All events that the reader delivers from here on; there must be no error. */
static inline void read_rest(struct reader *r, struct seen_list *ret)
{
	struct error err = {};
	struct trace_event ev;
	int code;

	*ret = (struct seen_list){};
	while ((code = reader__next(r, &ev, &err)) > 0) {
		if (ev.type == EV_SYNC) {
			ret->clock[ret->syncs] = ev.sync->clock;
			ret->sync[ret->syncs++] = ev.time;
			continue;
		}
		assert_true(ret->n < sizeof(ret->at) / sizeof(*ret->at));
		seen__take(&ret->at[ret->n++], &ev);
	}
	if (code)
		fail_msg("event %zu: %s", ret->n, err.text);
	reader__destroy(r);
}

static inline void read_all(const char *path, struct seen_list *ret)
{
	read_rest(open_path(path), ret);
}

static inline const char *run_name(uint8_t run)
{
	static const char *const names[KERNEL_GONE + 1] = {
		[KERNEL_UNKNOWN] = "unknown",	[KERNEL_RUNNING] = "running",
		[KERNEL_RUNNABLE] = "runnable", [KERNEL_THROTTLED] = "throttled",
		[KERNEL_SLEEPING] = "sleeping", [KERNEL_BLOCKED] = "blocked",
		[KERNEL_STOPPED] = "stopped",	[KERNEL_GONE] = "gone",
	};

	assert_in_range(run, 0, KERNEL_GONE);
	return names[run];
}

/* the trace */

static inline void put(uint64_t m, uint64_t time, enum ev type, uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t args[] = { a, b, c, 0 };

	ok(writer__event(x.w, m, time, type, args, spec__event(type)->nargs - 1));
}

static inline uint32_t text(const char *s)
{
	return intern__cstring(x.in, s);
}

/* main.NAME, called by START */
static inline uint32_t stack(const char *name, const char *start)
{
	struct intern_frame f[] = {
		{ sum_of(1, name, strlen(name)), text(name), text("a.go"), 7, 0 },
		{ sum_of(1, start, strlen(start)), text(start), text("b.go"), 9, 0 },
	};

	return intern__stack(x.in, f, 2);
}

static inline void first_generation(void)
{
	static const struct private_meta meta = { .tool = "a tool" };
	static const struct private_loss loss = { 0, 5, 1000, 1001 };
	uint64_t log[] = { 77, text("key"), text("value"), stack("log", "one") };

	ok(writer__open(x.w, 1000, 5000000001000));
	ok(private__meta(x.w, &meta));
	ok(private__ticks(x.w, 64, 1000, 5000000001000));
	ok(private__losses(x.w, &loss, 1));
	ok(writer__proc_status(x.w, 10, 0, PROC_RUNNING));
	ok(writer__proc_status(x.w, 0, 1, PROC_IDLE));
	ok(writer__proc_status(x.w, 12, 2, PROC_SYSCALL));
	ok(writer__go_status(x.w, 10, 1, GO_RUNNING, stack("run", "one")));
	ok(writer__go_status(x.w, NOM, 2, GO_WAITING, 0));
	ok(writer__go_status(x.w, 12, 3, GO_SYSCALL, 0));
	ok(writer__go_status(x.w, NOM, 4, GO_RUNNABLE, stack("wait", "four")));
	ok(writer__go_status(x.w, 13, 7, GO_SYSCALL, 0));
	put(10, 1020, EV_GC_ACTIVE, 5, 0, 0);
	put(10, 1022, EV_GC_MARK_ASSIST_ACTIVE, 2, 0, 0);
	put(10, 1024, EV_GC_SWEEP_ACTIVE, 0, 0, 0);
	put(10, 1026, EV_GO_CREATE, 5, stack("new", "five"), stack("create", "one"));
	put(10, 1030, EV_GO_UNBLOCK, 2, 1, stack("wake", "one"));
	put(10, 1032, EV_GC_SWEEP_END, 3, 4, 0);
	put(11, 1040, EV_PROC_START, 1, 1, 0);
	put(11, 1050, EV_GO_START, 4, 1, 0);
	put(11, 1060, EV_STW_BEGIN, text("a reason"), stack("stop", "four"), 0);
	put(11, 1080, EV_STW_END, 0, 0, 0);
	put(10, 1084, EV_USER_TASK_BEGIN, 77, 0, text("task"));
	put(10, 1090, EV_USER_REGION_BEGIN, 77, text("region"), stack("region", "one"));
	ok(writer__event(x.w, 10, 1092, EV_USER_LOG, log, 4));
	ok(writer__sample(x.w, 1095, 10, 0, 1, stack("sampled", "one")));
	put(10, 1100, EV_GO_SYSCALL_BEGIN, 1, stack("read", "one"), 0);
	put(11, 1110, EV_PROC_STEAL, 0, 2, 10);
	put(11, 1115, EV_GO_BLOCK, text("sync"), stack("block", "four"), 0);
	put(11, 1120, EV_GO_START, 2, 2, 0);
	put(12, 1130, EV_GO_SYSCALL_END, 0, 0, 0);
	put(10, 1140, EV_GO_SYSCALL_END_BLOCKED, 0, 0, 0);
	put(12, 1150, EV_GO_STOP, text("preempted"), stack("loop", "three"), 0);
	put(12, 1155, EV_GC_SWEEP_BEGIN, 0, 0, 0);
	put(10, 1160, EV_PROC_START, 0, 3, 0);
	put(10, 1165, EV_GO_START, 1, 1, 0);
	put(10, 1170, EV_USER_REGION_END, 77, text("region"), 0);
	put(10, 1175, EV_GC_END, 6, 0, 0);
	ok(writer__close(x.w));
}

static inline void second_generation(unsigned int version)
{
	static const struct private_loss loss = { 0, 6, 2000, 2001 };

	ok(writer__open(x.w, 2000, 5000000002000));
	ok(private__losses(x.w, &loss, 1));
	ok(writer__proc_status(x.w, 10, 0, PROC_RUNNING));
	ok(writer__proc_status(x.w, 11, 1, PROC_RUNNING));
	ok(writer__go_status(x.w, 10, 1, GO_RUNNING, 0));
	ok(writer__go_status(x.w, 11, 2, GO_RUNNING, 0));
	ok(writer__go_status(x.w, 13, 7, GO_SYSCALL, 0));
	put(11, 2009, EV_GC_MARK_ASSIST_ACTIVE, 2, 0, 0);
	if (version > 22) {
		put(10, 2010, EV_GO_CREATE_BLOCKED, 8, stack("new", "eight"), 0);
		put(10, 2020, EV_GO_SWITCH, 8, 1, 0);
		put(10, 2030, EV_GO_SWITCH_DESTROY, 1, 1, 0);
	}
	put(10, 2040, EV_USER_TASK_END, 77, 0, 0);
	put(10, 2050, EV_STW_BEGIN, text("another"), 0, 0);
	put(10, 2070, EV_STW_END, 0, 0, 0);
	put(12, 2080, EV_GC_SWEEP_END, 1, 1, 0);
	put(11, 2085, EV_GO_BLOCK, text("sync"), 0, 0);
	put(11, 2090, EV_PROC_STOP, 0, 0, 0);
	put(14, 2100, EV_GO_CREATE_SYSCALL, 20, 0, 0);
	put(14, 2110, EV_PROC_START, 1, 1, 0);
	put(14, 2120, EV_GO_SYSCALL_END_BLOCKED, 0, 0, 0);
	put(14, 2130, EV_GO_START, 20, 1, 0);
	put(14, 2140, EV_GO_SYSCALL_BEGIN, 2, 0, 0);
	put(14, 2150, EV_GO_DESTROY_SYSCALL, 0, 0, 0);
	put(10, 2160, EV_PROC_STEAL, 1, 3, 14);
	put(10, 2170, EV_HEAP_ALLOC, 123456, 0, 0);
	put(10, 2180, EV_GC_BEGIN, 7, 0, 0);
	ok(writer__close(x.w));
}

/* Writes the trace. The path remains valid until four others are made. */
static inline const char *write_example(unsigned int version)
{
	const char *path = scratch("example");

	start_at(path, version, 1);
	first_generation();
	second_generation(version);
	assert_int_equal(trace_file__commit(x.file), 0);
	stop(NULL);
	return path;
}

/* rewriting */

static struct rewrite_stats stats; /* of the last rewritten trace */

static inline const char *rewritten(const char *path, const struct rewrite_opts *opts)
{
	const char *out = scratch("part");
	struct reader *r = open_path(path);
	struct trace_file *file;
	struct error err = {};
	struct trace_event ev;
	struct rewrite *rw;

	ok(trace_file__open(&file, out, FILE_ANY));
	ok(rewrite__create(&rw, file, opts));
	while (reader__next(r, &ev, &err) > 0 && (!opts->to || ev.time < opts->to))
		ok(rewrite__event(rw, &ev));
	assert_string_equal(err.text, "");
	ok(rewrite__end(rw));
	stats = *rewrite__stats(rw);
	ok(trace_file__commit(file));
	rewrite__destroy(rw);
	trace_file__destroy(file);
	reader__destroy(r);
	return out;
}

/* Writes the part [from, to) of the trace `path`; to 0: to its end. */
static inline const char *part(const char *path, unsigned int version, int64_t from, int64_t to)
{
	return rewritten(path, &(struct rewrite_opts){ version, false, from, to });
}

#endif
