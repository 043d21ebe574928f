/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The destination of records: the sequencer with its writer and output file, and optionally a raw
 * file.
 *
 * The recorder feeds it live, and 'gotrace-bpf replay' from a raw file, so that both make a trace
 * with the same code.
 */
#ifndef CAPTURE_SINK_H
#define CAPTURE_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flight/flight.h"
#include "flight/rotate.h"
#include "format/private.h"
#include "lib/error.h"
#include "rawfile/rawfile.h"
#include "sequence/sequencer.h"
#include "trigger/trigger.h"
#include "writer/writer.h"

struct served;
struct sink;

struct sink_opts {
	const char *path;
	/* With a dir: files are written there instead of to `path`. At most one has a dir. */
	struct rotate_opts rotate;
	struct flight_opts flight;
	struct trigger_opts triggers; /* of the flight recorder */
	const char *raw_path;	      /* NULL: none */
	struct served *served; /* takes the generations instead of a file; NULL: none; borrowed */
	unsigned int version, tick_ns; /* of the trace: TRACE_VERSIONS; 1 or 64 */
	bool no_syscalls;
	uint32_t max_names;   /* different names of requests; 0: the default */
	uint64_t min_call_ns; /* struct sequencer_opts */
	int stop_fd;	      /* 0: none; see trace_file__interrupt() */
};

/* Opens the files, so that a bad path is known before anything else is done. */
int sink__open(struct sink **ret, const struct sink_opts *opts, struct error *error);
/* Removes files that were not committed. NULL allowed. */
void sink__destroy(struct sink *s);

/* Whether one of the files is in a folder of another user: see writer/output_file.h. */
bool sink__in_folder_of_other(const struct sink *s);
/* Whether later files are to be given to the user of sudo: see writer/output_owner.h. */
bool sink__gives_files(const struct sink *s);

/*
 * Creates the sequencer. Borrows the layout, the symbolizer and `meta`. Again after sink__pause(), for
 * another window.
 */
int sink__create_sequencer(struct sink *s, const struct layout *layout,
			   const struct symbolizer *symbolizer, const struct private_meta *meta);
struct sequencer *sink__sequencer(struct sink *s);
const struct writer_stats *sink__written(const struct sink *s);

/*
 * As the sequencer's functions of the same names, and each writes to the raw file first. The
 * snapshots are taken over.
 */
int sink__start(struct sink *s, const struct raw_header *facts);
/* Starts only the files, for a replay, which starts the sequencer itself. */
int sink__start_files(struct sink *s, const struct raw_header *facts);
int sink__record(struct sink *s, unsigned int ring, const struct gt_record *rec, size_t size);
/* The name that records call GT_TEXT_GIVEN(i); after sink__start(). It is cut at GT_TEXT_MAX. */
int sink__name(struct sink *s, size_t i, const char *name);
/*
 * A goroutine had labels at `time` (text/labels.h), which are `len` bytes of text. `seq` is the number
 * of the next record of this kind and of sink__name(); this takes two. Before sink__snapshot().
 */
int sink__labels(struct sink *s, uint32_t seq, uint64_t time, uint64_t g, uint64_t goid,
		 const char *text, size_t len);
/* The event sets that are recorded from `time` on, which is after the latest watermark. */
int sink__recorded(struct sink *s, uint64_t time, const struct gt_recorded *recorded);
/*
 * A plugin was mapped at `time`, as if by a record of the probe. Then, at a later time: what is known about
 * a plugin (`plugin.text` is set here); all plugins that were mapped up to `known` have probes, or cannot
 * be recorded.
 */
int sink__plugin_mapped(struct sink *s, uint64_t time);
int sink__plugin(struct sink *s, uint64_t time, const struct gt_plugin *plugin, const char *text);
int sink__plugins_probed(struct sink *s, uint64_t time, uint64_t known);
int sink__watermark(struct sink *s, uint64_t time);
int sink__snapshot(struct sink *s, struct snapshot *first, struct snapshot *second);
int sink__resnapshot(struct sink *s, struct snapshot *first, struct snapshot *second);
int sink__lost(struct sink *s, unsigned int kind, uint64_t count);
int sink__host_clock(struct sink *s, const struct private_host_clock *clock);
int sink__cpu_samples(struct sink *s, const struct private_cpu_samples *taken);
int sink__clock_error(struct sink *s, uint64_t ns);
int sink__finish(struct sink *s, uint64_t t1);

/*
 * With opts.rotate, after sink__finish(): completes the file in the background, and forgets the
 * sequencer and its counts.
 */
void sink__pause(struct sink *s);
/* Whether the disk is too slow for another window: see rotate__is_full(). */
bool sink__is_full(const struct sink *s);

/* With a flight recorder: as flight__request(). Without, false. */
bool sink__request(struct sink *s, const struct flight_cause *cause);
/* Snapshots that were written or are being written. */
uint64_t sink__snapshots(const struct sink *s);
/* As flight__causes(); 0 without a flight recorder. */
uint64_t sink__causes(const struct sink *s);
/* The window of the flight recorder, as it is now. False: there is none, and *ret is {}. */
bool sink__window(const struct sink *s, struct window_part *ret);
/*
 * Saves the snapshot that is due, and ends the generation if a consumer of opts.served waits for that, all
 * records up to `watermark` being applied.
 */
int sink__save_due(struct sink *s, uint64_t watermark);

/*
 * Completes the files. `err` is 0, or what a function above returned. Complete generations that
 * were written are kept in any case. Returns the first failure, with the reason.
 */
int sink__commit(struct sink *s, int err, struct error *error);

#endif
