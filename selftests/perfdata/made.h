/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes small perf.data files: for the unit test of the reader, which changes what it likes before
 * and after, and as seeds for its fuzz target. It shares no code with the reader.
 *
 *	struct made_perf *m = made_perf();
 *	made_switch(m, ...);		// records, one after another
 *	struct made *b = made_file(m);	// or made_pipe(); both to be freed
 */
#ifndef SELFTESTS_PERFDATA_MADE_H
#define SELFTESTS_PERFDATA_MADE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define MADE_SIZE (1u << 17)

struct made {
	size_t len;
	uint8_t data[MADE_SIZE];
};

/* Ids of tracepoints, and of the events that record them: ten times that, and one more per core */
enum { MADE_SWITCH = 7, MADE_WAKING, MADE_FORK, MADE_MIGRATE, MADE_EXIT, MADE_RUNTIME, MADE_END };

#define MADE_TYPE                                                                                  \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |            \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW)

struct made_perf {
	/* may be set before anything is made */
	uint64_t sample_type, read_format;
	uint32_t attr_size; /* of an attribute, as a perf of another age has it */
	int clock;	    /* -1: none */
	bool one_event;	    /* sched_switch, without ids */
	size_t packed;	    /* bytes that a compressed record holds; 0: not compressed */
	bool packed2;	    /* by the later kind of record */
	const char *switch_format;
	bool dead; /* the thread of a sample has no number any more */
	uint32_t
		outside; /* samples number a thread in perf's PID namespace by its number minus this, others 0 */
	/* what was made */
	struct made records, formats;
};

static const char *const made_name[] = { "sched_switch",       "sched_waking",
					 "sched_process_fork", "sched_migrate_task",
					 "sched_process_exit", "sched_stat_runtime" };

#define MADE_FIELD(type_name, offset, size, is_signed)                                             \
	"\tfield:" type_name ";\toffset:" #offset ";\tsize:" #size ";\tsigned:" #is_signed ";\n"
#define MADE_COMMON                                                                                \
	MADE_FIELD("unsigned short common_type", 0, 2, 0)                                          \
	MADE_FIELD("unsigned char common_flags", 2, 1, 0)                                          \
	MADE_FIELD("unsigned char common_preempt_count", 3, 1, 0)                                  \
	MADE_FIELD("int common_pid", 4, 4, 1) "\n"
#define MADE_COMM_PID MADE_FIELD("char comm[16]", 8, 16, 0) MADE_FIELD("pid_t pid", 24, 4, 1)

static const char *const made_fields[] = {
	MADE_FIELD("char prev_comm[16]", 8, 16, 0) MADE_FIELD("pid_t prev_pid", 24, 4, 1)
		MADE_FIELD("int prev_prio", 28, 4, 1) MADE_FIELD("long prev_state", 32, 8, 1)
			MADE_FIELD("char next_comm[16]", 40, 16, 0)
				MADE_FIELD("pid_t next_pid", 56, 4, 1)
					MADE_FIELD("int next_prio", 60, 4, 1),
	MADE_COMM_PID MADE_FIELD("int prio", 28, 4, 1) MADE_FIELD("int target_cpu", 32, 4, 1),
	MADE_FIELD("__data_loc char[] parent_comm", 8, 4, 0)
		MADE_FIELD("pid_t parent_pid", 12, 4, 1)
			MADE_FIELD("__rel_loc char[] child_comm", 16, 4, 0)
				MADE_FIELD("pid_t child_pid", 20, 4, 1),
	MADE_COMM_PID MADE_FIELD("int prio", 28, 4, 1) MADE_FIELD("int orig_cpu", 32, 4, 1)
		MADE_FIELD("int dest_cpu", 36, 4, 1),
	MADE_COMM_PID MADE_FIELD("int prio", 28, 4, 1),
	MADE_COMM_PID MADE_FIELD("u64 runtime", 32, 8, 0),
};

static inline void made_put(struct made *b, const void *data, size_t len)
{
	if (len > sizeof(b->data) - b->len)
		abort();
	memcpy(b->data + b->len, data, len);
	b->len += len;
}

static inline void made_number(struct made *b, uint64_t n, size_t size)
{
	made_put(b, &n, size);
}

static inline void made_text(struct made *b, const char *text, size_t size)
{
	char room[256] = "";

	strncpy(room, text, size);
	made_put(b, room, size);
}

static inline void made_string(struct made *b, const char *text)
{
	made_put(b, text, strlen(text) + 1);
}

/* A record: its header, then `payload`. */
static inline void made_record(struct made *b, uint32_t type, uint16_t misc, const void *payload,
			       size_t len)
{
	made_number(b, type, 4);
	made_number(b, misc, 2);
	made_number(b, len + 8, 2);
	made_put(b, payload, len);
}

/* Sets what it leaves out to what perf sched record does. */
static inline struct made_perf *made_perf(void)
{
	struct made_perf *m = calloc(1, sizeof(*m));

	m->sample_type = MADE_TYPE;
	m->read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST;
	m->attr_size = 128;
	m->clock = 1;
	return m;
}

struct made_sample {
	int event;
	uint64_t time;
	uint32_t cpu, pid, tid;
};

static inline void made_read(const struct made_perf *m, struct made *b)
{
	uint64_t f = m->read_format, n = f & PERF_FORMAT_GROUP ? 2 : 1;

	if (f & PERF_FORMAT_GROUP)
		made_number(b, n, 8);
	else
		made_number(b, 1, 8);
	if (f & PERF_FORMAT_TOTAL_TIME_ENABLED)
		made_number(b, 1000, 8);
	if (f & PERF_FORMAT_TOTAL_TIME_RUNNING)
		made_number(b, 1000, 8);
	for (uint64_t i = 0; i < n; i++) {
		if (f & PERF_FORMAT_GROUP)
			made_number(b, 1, 8);
		if (f & PERF_FORMAT_ID)
			made_number(b, 70, 8);
		if (f & PERF_FORMAT_LOST)
			made_number(b, 0, 8);
	}
}

static inline uint32_t made_own(const struct made_perf *m, uint32_t number)
{
	if (m->dead)
		return UINT32_MAX;
	return number > m->outside ? number - m->outside : 0;
}

/* A sample of `s->event`, whose own bytes are `raw`, by the kernel's order of parts. */
static inline void made_sample(struct made_perf *m, const struct made_sample *s,
			       const struct made *raw)
{
	uint64_t type = m->sample_type, id = (uint64_t)s->event * 10 + s->cpu % 2;
	static struct made b;

	b.len = 0;
	if (type & PERF_SAMPLE_IDENTIFIER)
		made_number(&b, id, 8);
	if (type & PERF_SAMPLE_IP)
		made_number(&b, 0xffffffff81000000, 8);
	if (type & PERF_SAMPLE_TID) {
		made_number(&b, made_own(m, s->pid), 4);
		made_number(&b, made_own(m, s->tid), 4);
	}
	if (type & PERF_SAMPLE_TIME)
		made_number(&b, s->time, 8);
	if (type & PERF_SAMPLE_ADDR)
		made_number(&b, 4096, 8);
	if (type & PERF_SAMPLE_ID)
		made_number(&b, id, 8);
	if (type & PERF_SAMPLE_STREAM_ID)
		made_number(&b, id, 8);
	if (type & PERF_SAMPLE_CPU)
		made_number(&b, s->cpu, 8);
	if (type & PERF_SAMPLE_PERIOD)
		made_number(&b, 1, 8);
	if (type & PERF_SAMPLE_READ)
		made_read(m, &b);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		made_number(&b, 3, 8);
		for (uint64_t i = 0; i < 3; i++)
			made_number(&b, (uint64_t)PERF_CONTEXT_KERNEL + i, 8);
	}
	if (type & PERF_SAMPLE_RAW) {
		made_number(&b, raw->len + 4, 4);
		made_put(&b, raw->data, raw->len);
		made_number(&b, 0, 4);
	}
	if (type & PERF_SAMPLE_BRANCH_STACK)
		made_number(&b, 0, 8);
	made_record(&m->records, PERF_RECORD_SAMPLE, 2, b.data, b.len);
}

static inline struct made *made_raw(int event, uint32_t tid)
{
	static struct made raw;

	raw.len = 0;
	made_number(&raw, (uint64_t)event, 4);
	made_number(&raw, tid, 4);
	return &raw;
}

static inline void made_switch(struct made_perf *m, uint64_t time, uint32_t cpu, uint32_t prev,
			       uint64_t state, uint32_t next)
{
	struct made_sample s = { MADE_SWITCH, time, cpu, prev ? 1000 : 0, prev };
	struct made *raw = made_raw(s.event, prev);

	made_text(raw, prev ? "worker" : "swapper/0", 16);
	made_number(raw, prev, 4);
	made_number(raw, 120, 4);
	made_number(raw, state, 8);
	made_text(raw, next ? "a name of 15 by" : "swapper/0", 16);
	made_number(raw, next, 4);
	made_number(raw, 120, 4);
	made_sample(m, &s, raw);
}

/* One of the events that are of one thread: `a` and `b` are its last numbers. */
static inline void made_other(struct made_perf *m, int event, uint64_t time, uint32_t cpu,
			      uint32_t by, uint32_t tid, uint32_t a, uint32_t b)
{
	struct made_sample s = { event, time, cpu, 1000, by };
	struct made *raw = made_raw(s.event, by);

	made_text(raw, "worker", 16);
	made_number(raw, tid, 4);
	made_number(raw, 120, 4);
	made_number(raw, a, 4);
	made_number(raw, b, 4);
	made_sample(m, &s, raw);
}

/* Its names lie behind the fields: one place counts from the event's first byte, the other one from
 * the end of the field. */
static inline void made_fork(struct made_perf *m, uint64_t time, uint32_t parent, uint32_t child)
{
	struct made_sample s = { MADE_FORK, time, 0, 1000, parent };
	struct made *raw = made_raw(s.event, parent);

	made_number(raw, 7u << 16 | 24, 4);
	made_number(raw, parent, 4);
	made_number(raw, 6u << 16 | (32 - 20), 4);
	made_number(raw, child, 4);
	made_text(raw, "parent", 8);
	made_text(raw, "child", 8);
	made_sample(m, &s, raw);
}

static inline void made_comm(struct made_perf *m, uint32_t pid, uint32_t tid, const char *name)
{
	static struct made b;

	b.len = 0;
	made_number(&b, pid, 4);
	made_number(&b, tid, 4);
	made_text(&b, name, 16);
	made_number(&b, tid, 8); /* the trailer of sample_id_all: thread and time */
	made_number(&b, 1, 8);
	made_record(&m->records, PERF_RECORD_COMM, 0, b.data, b.len);
}

static inline void made_task(struct made_perf *m, uint32_t type, uint32_t pid, uint32_t tid,
			     uint32_t parent)
{
	uint32_t payload[6] = { pid, 1, tid, parent, 5 };

	made_record(&m->records, type, 0, payload, sizeof(payload));
}

/* As sample_id_all has it: thread, time, perhaps the id, and the core behind it. */
static inline void made_lost_at(struct made_perf *m, uint64_t records, uint64_t time, uint32_t cpu)
{
	const bool id = m->sample_type & PERF_SAMPLE_ID;

	made_record(&m->records, PERF_RECORD_LOST, 0,
		    (uint64_t[]){ 70, records, 0, time, id ? 70 : cpu, cpu }, id ? 48 : 40);
}

static inline void made_lost(struct made_perf *m, uint64_t records, uint64_t samples)
{
	made_record(&m->records, PERF_RECORD_LOST, 0, (uint64_t[]){ 70, records }, 16);
	made_record(&m->records, PERF_RECORD_LOST_SAMPLES, 0, (uint64_t[]){ samples }, 8);
	made_record(&m->records, PERF_RECORD_LOST_SAMPLES, 1 << 15, (uint64_t[]){ 99 }, 8);
}

/* A trace of the hardware, which is no records: `len` bytes after one. */
static inline void made_auxtrace(struct made_perf *m, uint64_t len)
{
	made_record(&m->records, 71, 0, (uint64_t[]){ len, 0, 0, 0, 0 }, 40);
	for (uint64_t i = 0; i < len; i++)
		made_number(&m->records, 0xff, 1);
}

/* A bit of everything. */
static inline void made_recording(struct made_perf *m)
{
	made_comm(m, 1000, 1005, "by comm");
	made_switch(m, 5000, 0, 1001, 1, 0);
	if (!m->one_event) {
		made_other(m, MADE_WAKING, 5100, 0, 1002, 1001, 1, 0);
		made_other(m, MADE_MIGRATE, 5100, 0, 1002, 1001, 0, 1);
		made_fork(m, 5200, 1002, 1003);
		made_other(m, MADE_EXIT, 5400, 0, 1003, 1003, 0, 0);
		made_other(m, MADE_RUNTIME, 5400, 0, 1003, 1003, 77, 0);
	}
	made_task(m, PERF_RECORD_FORK, 1000, 1004, 1001);
	made_lost(m, 3, 2);
	made_switch(m, 4000, 1, 0, 0, 1001);
	made_switch(m, 5100, 1, 1001, 0x100, 1002);
	made_record(&m->records, 68, 0, "", 0);
}

static inline void made_format(struct made *b, const struct made_perf *m, int event)
{
	static struct made text;
	char id[16];

	text.len = 0;
	if (event == MADE_SWITCH && m->switch_format) {
		made_put(&text, m->switch_format, strlen(m->switch_format));
	} else {
		snprintf(id, sizeof(id), "%d", event);
		made_put(&text, "name: ", 6);
		made_put(&text, made_name[event - MADE_SWITCH],
			 strlen(made_name[event - MADE_SWITCH]));
		made_put(&text, "\nID: ", 5);
		made_put(&text, id, strlen(id));
		made_put(&text, "\nformat:\n", 9);
		made_put(&text, MADE_COMMON, strlen(MADE_COMMON));
		made_put(&text, made_fields[event - MADE_SWITCH],
			 strlen(made_fields[event - MADE_SWITCH]));
		made_put(&text, "\nprint fmt: \"x=%d\", REC->x\n", 27);
	}
	made_number(b, text.len, 8);
	made_put(b, text.data, text.len);
}

/* As perf does it: the whole of what trace-cmd puts in front of a file, for the events recorded. */
static inline void made_formats(struct made_perf *m)
{
	struct made *b = &m->formats;
	int last = m->one_event ? MADE_SWITCH : MADE_END - 1;

	b->len = 0;
	made_put(b, "\x17\x08\x44tracing", 10);
	made_string(b, "0.6");
	made_number(b, 0, 1);
	made_number(b, 8, 1);
	made_number(b, 4096, 4);
	made_string(b, "header_page");
	made_number(b, 4, 8);
	made_put(b, "page", 4);
	made_string(b, "header_event");
	made_number(b, 0, 8);
	made_number(b, 1, 4); /* ftrace's */
	made_number(b, 3, 8);
	made_put(b, "xyz", 3);
	made_number(b, 2, 4); /* systems */
	made_string(b, "block");
	made_number(b, 1, 4);
	made_number(b, 5, 8);
	made_put(b, "block", 5);
	made_string(b, "sched");
	made_number(b, (uint64_t)(last - MADE_SWITCH + 1), 4);
	for (int event = MADE_SWITCH; event <= last; event++)
		made_format(b, m, event);
	made_number(b, 0, 4); /* kallsyms, printk, names */
	made_number(b, 0, 4);
	made_number(b, 0, 8);
}

/* The attribute of an event, in as many bytes as its perf has. */
static inline void made_attr(const struct made_perf *m, struct made *b, int event)
{
	uint8_t room[512] = { 0 };
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = m->attr_size,
		.config = (uint64_t)event,
		.sample_period = 1,
		.sample_type = m->sample_type,
		.read_format = m->read_format,
		.sample_id_all = 1,
		.use_clockid = m->clock >= 0,
		.clockid = m->clock >= 0 ? m->clock : 0,
	};

	memcpy(room, &attr, sizeof(attr));
	made_put(b, room, m->attr_size);
}

/* All records once more, as compressed ones of one stream. */
static inline void made_pack(const struct made_perf *m, struct made *to)
{
	size_t room = ZSTD_compressBound(m->records.len), len, n;
	uint8_t *packed = malloc(room), payload[8 + MADE_SIZE / 2];

	len = ZSTD_compress(packed, room, m->records.data, m->records.len, 1);
	for (size_t at = 0; at < len; at += n) {
		n = len - at < m->packed ? len - at : m->packed;
		if (m->packed2) {
			memcpy(payload, &(uint64_t){ n }, 8);
			memset(payload + 8 + n, 0, 8);
			memcpy(payload + 8, packed + at, n);
			made_record(to, 83, 0, payload, (8 + n + 7) & ~7ul);
		} else {
			made_record(to, 81, 0, packed + at, n);
		}
	}
	free(packed);
}

static inline void made_all_records(const struct made_perf *m, struct made *to)
{
	if (m->packed)
		made_pack(m, to);
	else
		made_put(to, m->records.data, m->records.len);
}

static inline void made_version(struct made *b)
{
	made_number(b, 16, 4);
	made_text(b, "6.1.made", 16);
}

static inline void made_packing(struct made *b)
{
	made_number(b, 1, 4);
	made_number(b, 1, 4); /* zstd */
	made_number(b, 1, 4);
	made_number(b, 3, 4);
	made_number(b, 1 << 20, 4);
}

/* Numbers at a place that was left free before. */
static inline void made_patch(struct made *b, size_t at, uint64_t n, size_t size)
{
	memcpy(b->data + at, &n, size);
}

enum { MADE_HEADER = 104 }; /* bytes; then ids, attributes, data, the table of sections, sections */

static inline struct made *made_file(struct made_perf *m)
{
	struct made *b = calloc(1, sizeof(*b));
	int last = m->one_event ? MADE_SWITCH : MADE_END - 1, event;
	uint64_t features = 1 << 1 | 1 << 5 | (m->packed ? 1 << 27 : 0);
	size_t ids = MADE_HEADER, attrs, data, table;

	made_put(b, "PERFILE2", 8);
	made_number(b, MADE_HEADER, 8);
	made_number(b, m->attr_size + 16, 8);
	b->len = MADE_HEADER;
	for (event = MADE_SWITCH; event <= last && !m->one_event; event++) {
		made_number(b, (uint64_t)event * 10, 8);
		made_number(b, (uint64_t)event * 10 + 1, 8);
	}
	attrs = b->len;
	for (event = MADE_SWITCH; event <= last; event++) {
		made_attr(m, b, event);
		made_number(b, ids + (size_t)(event - MADE_SWITCH) * 16, 8);
		made_number(b, m->one_event ? 0 : 16, 8);
	}
	data = b->len;
	made_patch(b, 24, attrs, 8);
	made_patch(b, 32, data - attrs, 8);
	made_all_records(m, b);
	made_patch(b, 40, data, 8);
	made_patch(b, 48, b->len - data, 8);
	made_patch(b, 72, features, 8);
	table = b->len;
	b->len += m->packed ? 48 : 32;
	made_formats(m);
	made_patch(b, table, b->len, 8);
	made_patch(b, table + 8, m->formats.len, 8);
	made_put(b, m->formats.data, m->formats.len);
	made_patch(b, table + 16, b->len, 8);
	made_version(b);
	made_patch(b, table + 24, 20, 8);
	if (m->packed) {
		made_patch(b, table + 32, b->len, 8);
		made_patch(b, table + 40, 20, 8);
		made_packing(b);
	}
	return b;
}

static inline void made_feature(struct made *b, uint64_t feature, void (*make)(struct made *b))
{
	static struct made payload;

	payload.len = 0;
	made_number(&payload, feature, 8);
	make(&payload);
	made_record(b, 80, 0, payload.data, payload.len);
}

static inline struct made *made_pipe(struct made_perf *m)
{
	struct made *b = calloc(1, sizeof(*b));
	int last = m->one_event ? MADE_SWITCH : MADE_END - 1, event;
	static struct made attr;

	made_put(b, "PERFILE2", 8);
	made_number(b, 16, 8);
	for (event = MADE_SWITCH; event <= last; event++) {
		attr.len = 0;
		made_attr(m, &attr, event);
		made_number(&attr, (uint64_t)event * 10, 8);
		made_number(&attr, (uint64_t)event * 10 + 1, 8);
		made_record(b, 64, 0, attr.data, attr.len);
	}
	made_feature(b, 5, made_version);
	if (m->packed)
		made_feature(b, 27, made_packing);
	made_formats(m);
	while (m->formats.len % 8)
		made_number(&m->formats, 0, 1);
	made_record(b, 66, 0, (uint32_t[]){ (uint32_t)m->formats.len }, 4);
	made_put(b, m->formats.data, m->formats.len);
	made_all_records(m, b);
	return b;
}

#endif
