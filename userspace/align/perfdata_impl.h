/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of the reader of perf.data share: perfdata.c (what is given out), perfdata_file.c (the
 * file's header, attributes and sections), perfdata_formats.c (which event of the scheduler has which fields
 * where), perfdata_records.c (the stream of records, compressed or not), perfdata_sample.c (a record of
 * an event), perfdata_losses.c (what is missing) and perfdata_names.c.
 */
#ifndef ALIGN_PERFDATA_IMPL_H
#define ALIGN_PERFDATA_IMPL_H

#include <errno.h>
#include <linux/perf_event.h>

#include "align/perfdata.h"
#include "lib/array.h"
#include "lib/blocks.h"
#include "lib/buf.h"
#include "lib/map.h"
#include "lib/unpack.h"

/* perf's own types of records, which stand in files and pipes only */
enum {
	PERF_USER_FIRST = 64,
	PERF_USER_HEADER_ATTR = 64,
	PERF_USER_TRACING_DATA = 66,
	PERF_USER_AUXTRACE = 71,
	PERF_USER_FEATURE = 80,
	PERF_USER_COMPRESSED = 81,
	PERF_USER_COMPRESSED2 = 83,
};

/* Sections of the file's end, and the same as records of a pipe */
enum perf_feature {
	PERF_FEATURE_FORMATS = 1,
	PERF_FEATURE_VERSION = 5,
	PERF_FEATURE_FOLDER = 24,
	PERF_FEATURE_COMPRESSED = 27,
	PERF_FEATURES = 256,
};

#define PERF_RECORD_MAX 65535	     /* bytes; its size is a number of 16 bits */
#define PERF_KEPT_MORE	(256u << 10) /* events, threads and names, than the input has bytes */
#define PERF_NAME_MAX	63	     /* bytes; a thread's has 15, an event's some more */

enum sched_where { SCHED_ABSENT, SCHED_HERE, SCHED_DATA_LOC, SCHED_REL_LOC };

struct sched_field {
	uint32_t offset, size; /* within the event's own bytes */
	enum sched_where where;
};

/* An event of subsystem sched. */
struct sched_format {
	enum perf_sched_kind kind;
	uint32_t name;
	struct sched_field tid, comm, next, next_comm, state;
};

/* One of the events that were recorded, and where its samples have what. */
struct perf_attr {
	struct perf_event_attr attr;
	const struct sched_format *format; /* NULL: not the scheduler's */
	size_t id, tid, time, cpu;	   /* offsets; PERF_ABSENT */
	size_t head;			   /* of what has no fixed size: READ, CALLCHAIN, RAW */
};

#define PERF_ABSENT SIZE_MAX

struct perf_thread {
	uint32_t pid, name;
};

struct perf_names {
	struct map by_key;
	const char **name;
	uint32_t n, cap;
};

struct perf_data {
	struct input *in;
	bool pipe;
	char version[32];
	char described[64];

	struct perf_attr **attr;
	size_t attrs, attr_cap;
	struct map attr_of; /* by id */

	bool has_formats;
	size_t formats;
	struct map format_of; /* by the tracepoint's id */

	struct blocks *blocks; /* threads, names, formats, attributes */
	struct perf_names names;
	struct map threads;
	struct perf_sched *sched;
	size_t n, cap;
	uint64_t samples; /* of any event */
	uint64_t lost_records, lost_samples;
	struct perf_loss *losses;
	size_t nlosses, losses_cap;
	uint64_t *latest; /* by core: its last event's time, 0: none */
	bool just_lost;	  /* no event of the scheduler was read since */
	int clock;
	bool has_clock; /* an event of the scheduler was there to say which */

	struct unpack *unpack; /* of compressed records; NULL: none was there yet */
	unsigned char *unpacked;
	size_t unpacked_len;
	uint64_t packed_total, unpacked_total;
	bool inside; /* of a compressed record */
	uint64_t at; /* the record that is being read: its offset in the input */
};

#define PERF_AGAIN "; record again, and let perf come to its end, as by ^C"

/* "NAME: its WHAT at byte N is broken", and the remedy. Returns `-EBADMSG`. */
int perf__broken(const struct perf_data *d, const char *what, struct error *err);
int perf__no_memory(const struct perf_data *d, struct error *err);
/* One thing more is to be kept: 0, or -E2BIG when the input is too small to have so many. */
int perf__keep(const struct perf_data *d, struct error *err);

/* The input's next `len` (<= INPUT_WINDOW) bytes of *left; what is broken when there are fewer. */
int perf__take(struct perf_data *d, uint64_t *left, size_t len, const unsigned char **ret,
	       const char *what, struct error *err);
int perf__skip(struct perf_data *d, uint64_t *left, uint64_t len, const char *what,
	       struct error *err);

/* From the header to the end. */
int perf__read_all(struct perf_data *d, struct error *err);

/* An attribute as it stands in a file or pipe, followed by nothing; its ids come after it. */
int perf__add_attr(struct perf_data *d, struct buf *b, struct perf_attr **ret, struct error *err);
int perf__add_id(struct perf_data *d, struct perf_attr *attr, uint64_t id, struct error *err);
int perf__feature(struct perf_data *d, uint64_t feature, struct buf *b, struct error *err);

/* The formats of events, `size` bytes from the input's next one on, all of which are consumed. */
int perf__read_formats(struct perf_data *d, uint64_t size, struct error *err);
/* To be called when the attribute and the formats are there, in whatever order they came. */
int perf__resolve(struct perf_data *d, struct perf_attr *attr, struct error *err);

/* The records in the input's next `size` bytes; UINT64_MAX: until it ends. */
int perf__read_records(struct perf_data *d, uint64_t size, struct error *err);

int perf__set_layout(const struct perf_data *d, struct perf_attr *attr, struct error *err);
int perf__sample(struct perf_data *d, struct buf *b, struct error *err);

/* A string of up to `len` bytes, that ends before with a NUL. 0, or a negative errno. */
int perf__name(struct perf_data *d, const void *s, size_t len, uint32_t *ret, struct error *err);
int perf__thread(struct perf_data *d, uint32_t tid, struct perf_thread **ret, struct error *err);

/* A PERF_RECORD_LOST, from its id on; before the next event, if just_lost; by time, when all is read. */
int perf__lose(struct perf_data *d, const struct buf *b, uint64_t count, struct error *err);
int perf__keep_latest(struct perf_data *d, const struct perf_sched *ev, struct error *err);
void perf__after_loss(struct perf_data *d, uint64_t time);
void perf__sort_losses(struct perf_data *d);

/* By time; of one time as they stand. False: no memory, which it takes as much of once more. */
bool perf__sort(struct perf_sched *ev, size_t n);

#endif
