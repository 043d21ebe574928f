// SPDX-License-Identifier: GPL-2.0
/*
 * The destination of records: see sink.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/served.h"
#include "capture/sink.h"
#include "writer/intern.h"
#include "writer/output.h"
#include "writer/output_owner.h"
#include "writer/private_write.h"

#define PAUSE_PATIENCE 1000000000ull /* ns */

struct sink {
	struct sink_opts opts;
	struct trace_file *file; /* NULL: those of `rotate` */
	struct rotate *rotate;
	struct flight *flight;
	struct triggers *triggers; /* NULL: none */
	uint64_t t1;
	struct rawfile *raw;
	struct intern *intern;
	struct writer *writer;
	struct sequencer *sequencer;
	struct symbolizer symbolizer;
	uint32_t changes; /* number of the latest record of sink__recorded() */
	uint32_t plugins; /* number of the latest record about plugins */
	bool raw_failed;  /* the error is that of the raw file, not that of the trace */
};

int sink__open(struct sink **ret, const struct sink_opts *opts, struct error *error)
{
	struct sink *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return error__set(error, -ENOMEM, "out of memory");
	s->opts = *opts;
	if (opts->rotate.dir)
		err = rotate__open(&s->rotate, &opts->rotate, error);
	else if (opts->flight.dir)
		err = flight__open(&s->flight, &opts->flight, error);
	else
		err = opts->served ? 0 : output__open(&s->file, opts->path, FILE_TRACE, error);
	if (!err && s->flight && opts->triggers.n) {
		s->triggers = triggers__create(&opts->triggers, s->flight);
		err = s->triggers ? 0 : error__set(error, -ENOMEM, "out of memory");
	}
	if (!err && s->file && opts->stop_fd)
		trace_file__interrupt(s->file, opts->stop_fd);
	if (!err && opts->raw_path)
		err = rawfile__create(&s->raw, opts->raw_path, error);
	if (err) {
		sink__destroy(s);
		return err;
	}
	*ret = s;
	return 0;
}

static void forget_sequencer(struct sink *s)
{
	sequencer__destroy(s->sequencer);
	writer__destroy(s->writer);
	intern__destroy(s->intern);
	s->sequencer = NULL;
	s->writer = NULL;
	s->intern = NULL;
}

void sink__destroy(struct sink *s)
{
	if (!s)
		return;
	forget_sequencer(s);
	rawfile__destroy(s->raw);
	rotate__destroy(s->rotate);
	triggers__destroy(s->triggers);
	flight__destroy(s->flight);
	trace_file__destroy(s->file);
	free(s);
}

bool sink__in_folder_of_other(const struct sink *s)
{
	return (s->rotate ? rotate__in_folder_of_other(s->rotate) :
		s->flight ? flight__in_folder_of_other(s->flight) :
			    s->file && trace_file__in_folder_of_other(s->file)) ||
	       (s->raw && rawfile__in_folder_of_other(s->raw));
}

bool sink__gives_files(const struct sink *s)
{
	return (s->rotate || s->flight) && output_owner__is_set() && sink__in_folder_of_other(s);
}

static int between_generations(void *ctx, uint64_t time)
{
	struct sink *s = ctx;

	if (s->opts.served)
		return served__next(s->opts.served, time);
	return s->rotate ? rotate__next(s->rotate, time) : flight__next(s->flight, time);
}

int sink__create_sequencer(struct sink *s, const struct layout *layout,
			   const struct symbolizer *symbolizer, const struct private_meta *meta)
{
	struct writer_opts writer = { .version = s->opts.version, .tick_ns = s->opts.tick_ns };
	struct sequencer_opts opts = {
		.layout = layout,
		.symbolizer = *symbolizer,
		.no_syscalls = s->opts.no_syscalls,
		.min_call_ns = s->opts.min_call_ns,
		.version = s->opts.version,
		.tick_ns = s->opts.tick_ns,
		.meta = meta,
		.between = s->file ? NULL : between_generations,
		.between_ctx = s,
	};
	int err;

	s->symbolizer = *symbolizer;
	s->intern = intern__create();
	s->writer = s->intern ? writer__create(s->file, s->intern, &writer) : NULL;
	if (!s->writer)
		return -ENOMEM;
	opts.intern = s->intern;
	opts.writer = s->writer;
	if (s->triggers)
		opts.watch = triggers__watch(s->triggers);
	err = sequencer__create(&s->sequencer, &opts);
	if (!err && s->triggers)
		triggers__start(s->triggers, s->sequencer, s->intern);
	return err;
}

struct sequencer *sink__sequencer(struct sink *s)
{
	return s->sequencer;
}

const struct writer_stats *sink__written(const struct sink *s)
{
	return writer__stats(s->writer);
}

/*
 * Makes a call for the raw file, if there is one; on failure, notes that it was this file, and
 * returns.
 */
#define TO_RAW(s, call)                                                                            \
	do {                                                                                       \
		int raw_err_ = (s)->raw ? (call) : 0;                                              \
                                                                                                   \
		if (raw_err_) {                                                                    \
			(s)->raw_failed = true;                                                    \
			return raw_err_;                                                           \
		}                                                                                  \
	} while (0)

int sink__start_files(struct sink *s, const struct raw_header *facts)
{
	if (s->rotate)
		return rotate__start(s->rotate, s->writer, facts->t0, facts->wall_ns);
	if (s->flight)
		flight__start(s->flight, s->writer, facts->t0, facts->wall_ns);
	if (s->opts.served)
		return served__start(s->opts.served, s->writer, s->flight, facts->t0);
	return 0;
}

int sink__start(struct sink *s, const struct raw_header *facts)
{
	int err = sink__start_files(s, facts);

	if (err)
		return err;
	TO_RAW(s, rawfile__start(s->raw, facts));
	if (facts->flags & RAW_NO_KERNEL)
		sequencer__no_kernel(s->sequencer);
	if (facts->flags & RAW_CALLS_ONLY)
		sequencer__calls_only(s->sequencer);
	sequencer__max_names(s->sequencer, facts->flags >> RAW_NAMES_SHIFT);
	return sequencer__start(s->sequencer, facts->t0, facts->wall_ns);
}

int sink__record(struct sink *s, unsigned int ring, const struct gt_record *rec, size_t size)
{
	int err;

	TO_RAW(s, rawfile__record(s->raw, ring, rec, size));
	err = sequencer__record(s->sequencer, ring, rec, size);
	return err == -EBADMSG ? 0 : err; /* the sequencer counts it */
}

/* Rings that no probe has */
#define OWN_RING     (GT_RINGS_ALL - 1)
#define CHANGES_RING (GT_RINGS_ALL - 2) /* of sink__recorded() */
#define PLUGINS_RING (GT_RINGS_ALL - 3) /* of sink__plugin() */

/* A text as of a probe; its number `seq` says that nothing is missing. At most GT_TEXT_MAX bytes. */
static int own_text(struct sink *s, unsigned int ring, uint32_t seq, uint64_t time, uint64_t number,
		    const char *bytes, size_t len, bool cut)
{
	struct {
		struct gt_record rec;
		struct gt_text text;
		char bytes[GT_TEXT_MAX];
	} r = {
		.rec = { .time = time, .tid = 1, .kind = GT_TEXT, .object = number, .seq = seq },
		.text = { .len = (uint32_t)len, .cut = cut },
	};

	memcpy(r.bytes, bytes, len);
	return sink__record(s, ring, &r.rec, sizeof(r.rec) + sizeof(r.text) + (len + 7) / 8 * 8);
}

int sink__name(struct sink *s, size_t i, const char *name)
{
	size_t len = strnlen(name, GT_TEXT_MAX);

	return own_text(s, OWN_RING, (uint32_t)i, 0, GT_TEXT_GIVEN(i), name, len,
			name[len] != '\0');
}

int sink__labels(struct sink *s, uint32_t seq, uint64_t time, uint64_t g, uint64_t goid,
		 const char *text, size_t len)
{
	uint64_t number = GT_TEXT_ONCE | (uint64_t)OWN_RING << 32 | seq;
	struct {
		struct gt_record rec;
		struct gt_labels_present present;
	} r = {
		.rec = { .time = time,
			 .tid = 1,
			 .kind = GT_LABELS_PRESENT,
			 .object = g,
			 .seq = seq + 1 },
		.present = { goid, number },
	};
	int err = own_text(s, OWN_RING, seq, time, number, text, len, false);

	return err ? err : sink__record(s, OWN_RING, &r.rec, sizeof(r));
}

int sink__recorded(struct sink *s, uint64_t time, const struct gt_recorded *recorded)
{
	struct {
		struct gt_record rec;
		struct gt_recorded recorded;
	} r = {
		.rec = { .time = time, .tid = 1, .kind = GT_RECORDED, .seq = ++s->changes },
		.recorded = *recorded,
	};

	return sink__record(s, CHANGES_RING, &r.rec, sizeof(r));
}

static int plugin_record(struct sink *s, unsigned int kind, uint64_t time, uint64_t object)
{
	const struct gt_record rec = { .time = time,
				       .tid = 1,
				       .kind = (uint16_t)kind,
				       .object = object,
				       .seq = ++s->plugins };

	return sink__record(s, PLUGINS_RING, &rec, sizeof(rec));
}

int sink__plugin_mapped(struct sink *s, uint64_t time)
{
	return plugin_record(s, GT_PLUGIN_MAPPED, time, 0);
}

int sink__plugins_probed(struct sink *s, uint64_t time, uint64_t known)
{
	return plugin_record(s, GT_PLUGINS_PROBED, time, known);
}

int sink__plugin(struct sink *s, uint64_t time, const struct gt_plugin *plugin, const char *text)
{
	uint32_t seq = ++s->plugins;
	uint64_t number = GT_TEXT_ONCE | (uint64_t)PLUGINS_RING << 32 | seq;
	size_t len = strnlen(text, GT_TEXT_MAX);
	struct {
		struct gt_record rec;
		struct gt_plugin plugin;
	} r = {
		.rec = { .time = time, .tid = 1, .kind = GT_PLUGIN, .seq = ++s->plugins },
		.plugin = *plugin,
	};
	int err = own_text(s, PLUGINS_RING, seq, time, number, text, len, text[len] != '\0');

	r.plugin.text = number;
	return err ? err : sink__record(s, PLUGINS_RING, &r.rec, sizeof(r));
}

int sink__watermark(struct sink *s, uint64_t time)
{
	int err;

	TO_RAW(s, rawfile__watermark(s->raw, time));
	err = sequencer__watermark(s->sequencer, time);
	if (err || !s->triggers)
		return err;
	triggers__watermark(s->triggers, sequencer__applied(s->sequencer));
	return triggers__failure(s->triggers);
}

int sink__snapshot(struct sink *s, struct snapshot *first, struct snapshot *second)
{
	TO_RAW(s, rawfile__snapshot(s->raw, first, second));
	return sequencer__take_snapshots(s->sequencer, first, second);
}

int sink__resnapshot(struct sink *s, struct snapshot *first, struct snapshot *second)
{
	int err;

	TO_RAW(s, rawfile__resnapshot(s->raw, first, second));
	err = sequencer__take_resnapshots(s->sequencer, first, second);
	return err == -EAGAIN ? 0 : err;
}

int sink__lost(struct sink *s, unsigned int kind, uint64_t count)
{
	TO_RAW(s, rawfile__lost(s->raw, kind, count));
	return sequencer__lost(s->sequencer, kind, count);
}

int sink__host_clock(struct sink *s, const struct private_host_clock *clock)
{
	TO_RAW(s, rawfile__host_clock(s->raw, clock));
	sequencer__host_clock(s->sequencer, clock);
	return 0;
}

int sink__cpu_samples(struct sink *s, const struct private_cpu_samples *taken)
{
	TO_RAW(s, rawfile__cpu_samples(s->raw, taken));
	sequencer__cpu_samples(s->sequencer, taken);
	return 0;
}

int sink__clock_error(struct sink *s, uint64_t ns)
{
	TO_RAW(s, rawfile__clock_error(s->raw, ns));
	sequencer__clock_error(s->sequencer, ns);
	return 0;
}

/* Whether the trigger exit has requested a snapshot, whose cause contains how the process ended. */
static bool knows_exit(struct sink *s)
{
	const struct flight_cause *cause;

	if (s->triggers)
		triggers__poll(s->triggers);
	for (size_t i = 0; (cause = flight__pending(s->flight, i, UINT64_MAX)); i++)
		if (!strcmp(cause->kind, "exit"))
			return true;
	return false;
}

uint64_t sink__snapshots(const struct sink *s)
{
	return s->flight ? flight__snapshots(s->flight) : 0;
}

uint64_t sink__causes(const struct sink *s)
{
	return s->flight ? flight__causes(s->flight) : 0;
}

bool sink__window(const struct sink *s, struct window_part *ret)
{
	*ret = s->flight ? flight__window(s->flight) : (struct window_part){};
	return s->flight;
}

bool sink__request(struct sink *s, const struct flight_cause *cause)
{
	if (!s->flight)
		return false;
	if (!strcmp(cause->kind, "exit") && knows_exit(s))
		return true;
	return flight__request(s->flight, cause);
}

/*
 * Writes the causes to the open generation, which exists once the initial state is known. Readers use
 * the last one as the cause of the file: so the oldest, after which the file is named, is written last.
 */
static int note_causes(struct sink *s, uint64_t time)
{
	size_t n = 0;
	int err = 0;

	if (!s->flight || !sequencer__is_ready(s->sequencer))
		return 0;
	while (flight__pending(s->flight, n, time))
		n++;
	while (n-- && !err) {
		const struct flight_cause *cause = flight__pending(s->flight, n, time);

		err = private__cause(s->writer, cause->time, cause->text);
	}
	return err;
}

/*
 * Whether the open generation can end without cutting a pause, unless that has lasted so long since
 * `asked` that its end may have been lost.
 */
static bool can_end(const struct sink *s, uint64_t watermark, uint64_t asked)
{
	return sequencer__is_ready(s->sequencer) &&
	       (!sequencer__in_pause(s->sequencer) || watermark >= asked + PAUSE_PATIENCE);
}

static int save_due(struct sink *s, uint64_t watermark)
{
	const struct flight_cause *cause = s->flight ? flight__due(s->flight, watermark) : NULL;
	int err;

	if (!cause || !can_end(s, watermark, cause->time + s->opts.flight.tail_ns))
		return 0;
	err = note_causes(s, watermark);
	if (!err)
		err = sequencer__end_generation(s->sequencer);
	if (!err)
		flight__save(s->flight, watermark);
	return err;
}

int sink__save_due(struct sink *s, uint64_t watermark)
{
	int err = save_due(s, watermark);
	uint64_t applied, asked;

	if (err || !s->opts.served || !sequencer__is_ready(s->sequencer))
		return err;
	applied = sequencer__applied(s->sequencer); /* where the generation would end */
	if (!served__is_due(s->opts.served, applied, &asked) || !can_end(s, applied, asked))
		return 0;
	return sequencer__end_generation(s->sequencer);
}

int sink__finish(struct sink *s, uint64_t t1)
{
	int err = note_causes(s, UINT64_MAX);

	err = err ? err : sequencer__finish(s->sequencer, t1);

	s->t1 = t1;
	TO_RAW(s, rawfile__finish(s->raw, t1, &s->symbolizer));
	return err;
}

void sink__pause(struct sink *s)
{
	rotate__pause(s->rotate, s->t1);
	forget_sequencer(s);
}

bool sink__is_full(const struct sink *s)
{
	return rotate__is_full(s->rotate);
}

static int failed(const struct sink *s, int err, struct error *error)
{
	const char *path = s->raw_failed ? s->opts.raw_path : s->opts.path;
	const char *why = err == -EINTR ? "interrupted while no process was reading the output" :
					  strerror(-err);
	uint64_t generations = s->writer ? writer__stats(s->writer)->generations : 0;

	if (generations && trace_file__size(s->file))
		return error__set(error, err,
				  "cannot write %s: %s; %s contains the %llu complete generations "
				  "written so far",
				  path, why, s->opts.path, (unsigned long long)generations);
	return error__set(error, err, "cannot write %s: %s", path, why);
}

int sink__commit(struct sink *s, int err, struct error *error)
{
	int committed = 0;

	if (s->rotate)
		return rotate__end(s->rotate, err, s->t1, error);
	if (s->flight)
		return flight__end(s->flight, err, s->t1, error);
	if (!s->file)
		return err ? error__set(error, err, "cannot record: %s", strerror(-err)) : 0;
	if (!err || trace_file__size(s->file))
		committed = trace_file__commit(s->file);
	if (err && s->raw && !s->raw_failed)
		rawfile__keep(s->raw);
	if (err)
		return failed(s, err, error);
	if (committed)
		return error__set(error, committed, "cannot complete %s: %s", s->opts.path,
				  strerror(-committed));
	return 0;
}
