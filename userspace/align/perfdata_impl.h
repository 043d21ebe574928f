/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files of the perf.data reader: perfdata.c (interface), perfdata_file.c (header,
 * attributes and sections), perfdata_formats.c (fields of scheduler events), perfdata_records.c
 * (the stream of records, compressed or not), perfdata_sample.c (samples), perfdata_losses.c,
 * perfdata_names.c and perfdata_pids.c (after the last one).
 */
#ifndef ALIGN_PERFDATA_IMPL_H
#define ALIGN_PERFDATA_IMPL_H

#include <errno.h>
#include <linux/perf_event.h>

#include "align/perfdata.h"
#include "lib/array.h"
#include "lib/arena.h"
#include "lib/buf.h"
#include "lib/map.h"
#include "lib/unpack.h"
#include "writer/intern.h"

/* Record types of perf itself, in files and pipes only */
enum {
	PERF_USER_FIRST = 64,
	PERF_USER_HEADER_ATTR = 64,
	PERF_USER_TRACING_DATA = 66,
	PERF_USER_AUXTRACE = 71,
	PERF_USER_FEATURE = 80,
	PERF_USER_COMPRESSED = 81,
	PERF_USER_COMPRESSED2 = 83,
};

/* Sections at the end of a file; records in a pipe */
enum perf_feature {
	PERF_FEATURE_FORMATS = 1,
	PERF_FEATURE_VERSION = 5,
	PERF_FEATURE_FOLDER = 24,
	PERF_FEATURE_COMPRESSED = 27,
	PERF_FEATURES = 256,
};

#define PERF_RECORD_MAX 65535	     /* bytes: the size has 16 bits */
#define PERF_KEPT_MORE	(256u << 10) /* items that may exceed the bytes of input */
#define PERF_NAME_MAX	63	     /* bytes; thread names have 15, events some more */

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

/* A recorded event, and where its samples contain what. */
struct perf_attr {
	struct perf_event_attr attr;
	const struct sched_format *format; /* NULL: not a scheduler event */
	size_t id, tid, time, cpu;	   /* offsets; PERF_ABSENT */
	size_t head;			   /* offset of the variable parts: READ, CALLCHAIN, RAW */
};

#define PERF_ABSENT SIZE_MAX

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
	struct map format_of; /* by tracepoint ID */

	struct arena arena; /* formats, attributes */
	struct intern *names;
	struct map threads; /* to their process + 1, cast to a pointer */
	struct perf_sched *sched;
	size_t n, cap;
	uint64_t samples; /* of all events */
	uint64_t lost_records, lost_samples;
	struct perf_loss *losses;
	size_t nlosses, losses_cap;
	uint64_t *latest; /* by CPU: time of its last event, 0: none */
	bool just_lost;	  /* no scheduler event has been read since */
	int clock;
	bool has_clock; /* set by the first scheduler event */

	struct unpack *unpack; /* for compressed records; NULL: none so far */
	unsigned char *unpacked;
	size_t unpacked_len;
	uint64_t packed_total, unpacked_total;
	bool inside; /* within a compressed record */
	uint64_t at; /* offset of the current record in the input */
};

#define PERF_AGAIN "; record again, and stop perf with ^C"

/* "NAME: corrupt perf.data: invalid WHAT at byte N", and the remedy. Returns -EBADMSG. */
int perf__broken(const struct perf_data *d, const char *what, struct error *error);
int perf__no_memory(const struct perf_data *d, struct error *error);
/* Account for one more stored item: 0, or -E2BIG if the input is too small to contain so many. */
int perf__keep(const struct perf_data *d, struct error *error);

/*
 * The next `len` (<= INPUT_WINDOW) bytes of *left; an error that names `what` if there are fewer.
 */
int perf__take(struct perf_data *d, uint64_t *left, size_t len, const unsigned char **ret,
	       const char *what, struct error *error);
int perf__skip(struct perf_data *d, uint64_t *left, uint64_t len, const char *what,
	       struct error *error);

/* Read everything from the header on. */
int perf__read_all(struct perf_data *d, struct error *error);

/* An attribute of a file or pipe, without its IDs. */
int perf__add_attr(struct perf_data *d, struct buf *b, struct perf_attr **ret, struct error *error);
int perf__add_id(struct perf_data *d, struct perf_attr *attr, uint64_t id, struct error *error);
int perf__feature(struct perf_data *d, uint64_t feature, struct buf *b, struct error *error);

/* Read the formats of events: the next `size` bytes of the input, all of which are consumed. */
int perf__read_formats(struct perf_data *d, uint64_t size, struct error *error);
/* To be called when both the attribute and the formats are known, which may arrive in any order. */
int perf__resolve(struct perf_data *d, struct perf_attr *attr, struct error *error);

/* Read the records in the next `size` bytes of the input; UINT64_MAX: up to its end. */
int perf__read_records(struct perf_data *d, uint64_t size, struct error *error);

int perf__set_layout(const struct perf_data *d, struct perf_attr *attr, struct error *error);
int perf__sample(struct perf_data *d, struct buf *b, struct error *error);

/* Intern a string of up to `len` bytes, or up to a NUL. 0, or a negative errno. */
int perf__name(struct perf_data *d, const void *s, size_t len, uint32_t *ret, struct error *error);
/* Store that the thread belongs to that process. 0, or a negative errno. */
int perf__thread(struct perf_data *d, uint32_t tid, uint32_t pid, struct error *error);

/*
 * Handle PERF_RECORD_LOST, from its ID on; before the next event if just_lost; sort when all is
 * read.
 */
int perf__lose(struct perf_data *d, const struct buf *b, uint64_t count, struct error *error);
int perf__keep_latest(struct perf_data *d, const struct perf_sched *ev, struct error *error);
void perf__after_loss(struct perf_data *d, uint64_t time);
void perf__sort_losses(struct perf_data *d);

/*
 * By time, then in the order of the file. False: out of memory, of which it needs the same amount
 * again.
 */
bool perf__sort(struct perf_sched *ev, size_t n);
/*
 * After sorting, in a file of a PID namespace other than the initial one: number all threads by
 * that namespace. 0, or a negative errno and the reason.
 */
int perf__use_own_numbers(struct perf_data *d, struct error *error);

#endif
