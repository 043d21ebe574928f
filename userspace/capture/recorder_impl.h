/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by recorder.c, which records one window, and recorder_windows.c, which records many of them
 * with the same programs.
 */
#ifndef CAPTURE_RECORDER_IMPL_H
#define CAPTURE_RECORDER_IMPL_H

#include "capture/recorder.h"
#include "format/private.h"
#include "gotrace/counters.h"
#include "rawfile/rawfile.h"
#include "service/status.h"
#include "target/process/snapshot.h"
#include "target/symbols/symbolize.h"

struct cost_events;
struct csymbols;
struct drain;
struct hits;
struct inline_probes;
struct served;
struct probes;
struct resync;

/* So that rates are those of 8 generations at least, if there are so many. */
#define RECORDER_SAMPLES 9

/* The sums at the ends of the latest generations: the i-th of `n` is sample[i % RECORDER_SAMPLES]. */
struct recorder_samples {
	struct status_counts sample[RECORDER_SAMPLES];
	uint64_t n, generations;
};

struct recorder {
	const struct recorder_opts *opts;
	struct recorder_stats *stats;
	struct error *error;
	struct probes *probes;
	struct inline_probes *inl; /* NULL: none; its rings follow those of `probes` */
	unsigned int bpf_rings;
	struct drain *drain;
	struct sink *sink;
	struct served *served; /* NULL: none */
	struct resync *resync;
	uint64_t losses_seen; /* sequencer__losses() when the counters were last read */
	struct csymbols *csymbols;
	struct modules_symbols *plugin_symbols;
	struct symbolizer symbolizer;
	struct raw_header facts;
	struct private_meta meta;
	int sigfd;
	uint64_t begins;    /* earliest start of the window, once the probes are attached */
	uint64_t length;    /* of the window, ns; 0: unlimited */
	uint64_t ends;	    /* of the window; 0: never */
	uint64_t attach_ns; /* what the attach took */
	uint64_t t0, t1, watermark, next_check;
	struct snapshot snap[2];
	bool has[2];
	int drain_error; /* of a drain while a snapshot was read */
	bool checked,
		handed_over;	/* the layout passed the live checks; the sink has the snapshots */
	bool runtime_up;	/* a goroutine has run */
	uint64_t plugin_mapped; /* when the first plugin was that has no probes yet; 0: none */
	uint64_t plugins_read;	/* when that was last looked for */
	uint64_t libraries_due; /* when other Go runtimes may be looked for again */
	uint64_t mapped_code;	/* of the process when they were last looked for, KiB */
	uint64_t exec_time;	/* of the GT_EXEC record that ends the recording; 0: none yet */
	bool stopped, target_gone;
	bool has_begun;
	bool over; /* the window has reached its end */
	bool late; /* it or a signal was so long ago that no more is read */
	uint64_t late_at,
		signal_at; /* when no more is to be read; when a signal was seen; 0: not yet */
	bool discards;	   /* records, between two windows */
	uint64_t housekeeping, records, last_records, last_heap;
	uint64_t clock_read; /* when the state of the host's clock was read; 0: not yet */
	uint64_t target_cpu; /* at t0, ns */
	struct hits *trap;   /* NULL: unavailable */
	uint64_t trap_ns;    /* measured once, for recorder__status(); 0: not yet */
	struct recorder_samples samples;
	struct gt_counters counters;
	uint64_t lost; /* sum of counters.lost */
	struct {       /* recorder_budget.c */
		struct budget budget;
		unsigned int recorded; /* sets that are attached */
		double trap_ns;	       /* of a hit in the target, without what its program does */
		double stepped_ns;     /* the same of a single-stepped one, in a loop; 0: unknown */
		uint64_t cpu_read;     /* when the target's CPU time was read */
		uint64_t paused_at;    /* when the pause began; 0: there is none */
	} overhead;
};

/* Reads the CPU time of the target. Call it repeatedly, because the target may end. */
void recorder__note_cpu(struct recorder *r);

/* Passes the state of the host's clock to the sink: at T0 and once per second. 0 or a negative errno. */
int recorder__note_clock(struct recorder *r, uint64_t now);

/* recorder_budget.c: before the probes are attached; when the window begins. */
void recorder__measure_budget(struct recorder *r);
void recorder__begin_budget(struct recorder *r);
/* Once per iteration of the loop, after the drain. 0 or a negative errno, with or without a reason. */
int recorder__keep_budget(struct recorder *r, uint64_t now);
bool recorder__is_paused(const struct recorder *r);
/* The pause, if there is one, is over: the probes are attached again, or the recording ends. */
void recorder__end_pause(struct recorder *r, uint64_t now);

/*
 * Moves the records that have arrived to the sink and sets r->watermark: their number or a negative
 * errno.
 */
int recorder__drain(struct recorder *r);

/*
 * Whether the end of the window, or a signal, is so long ago that nothing more is to be read: the
 * program decides how many records there are, and how little CPU time the recorder gets. The trace
 * then ends where it is complete. Sets r->late.
 */
bool recorder__is_late(struct recorder *r);

/* recorder_begin.c. On failure probes may be attached: detach them. */
int recorder__begin(struct recorder *r);
/*
 * Looks for plugins that were loaded since the last call, and adds them to the probes: see
 * setup__plugins(). Returns the number of the first one.
 */
size_t recorder__find_plugins(struct recorder *r, bool now);
/* Writes what is known about the plugins from number `first` on, which were mapped at `since`. */
int recorder__note_plugins(struct recorder *r, size_t first, uint64_t since, uint64_t now);
/* If a record shows that a plugin was mapped: attaches its probes, soon. 0 or a negative errno. */
int recorder__plugins(struct recorder *r);
/* Names Go runtimes that the process has loaded since the last call, if it has mapped more code since. */
void recorder__libraries(struct recorder *r);
/* Passes to the sink how CPU samples are taken, if they are: at T0, and repeatedly. 0 or a negative errno. */
int recorder__note_samples(struct recorder *r);
/* What the rest of the recording needs. `modules`: a command's libraries are still to be opened. */
unsigned int recorder__privileges(const struct recorder *r, bool modules);

/*
 * recorder_initial.c: does the next step towards the initial state, if any is left: to be called in
 * each iteration of the loop, after the drain.
 */
int recorder__initial_state(struct recorder *r, uint64_t now);
void recorder__take_snapshot(struct recorder *r, int which); /* sets r->drain_error */
int recorder__hand_over_snapshots(struct recorder *r);
void recorder__drop_snapshots(struct recorder *r);

/*
 * Attaches the probes, records until the window is over or the recording ends, and detaches them.
 * The sink is finished, not committed. 0, or a negative errno with or without a reason.
 */
int recorder__window(struct recorder *r);
/* Reads the signals that have arrived. Returns whether one ends the recording. */
bool recorder__is_interrupted(struct recorder *r);
/* Records windows by opts->cycle until the recording ends. Returns as above. */
int recorder__windows(struct recorder *r);
/* Adds what the window has counted to the statistics: sums and maxima. Before sink__pause(). */
void recorder__count_window(struct recorder *r);
/* What was not counted before, and the costs. */
void recorder__fill_stats(struct recorder *r);
/* The events so far that cost the target time: as cost__of_recording(), while the recording continues. */
struct cost_events recorder__cost_events(const struct recorder *r);

/* recorder_status.c: at T0; after each drain; and the state at this moment, between two drains. */
void recorder__begin_samples(struct recorder *r);
void recorder__sample(struct recorder *r, uint64_t now);
void recorder__status(struct recorder *r, struct status *ret);
/* The same as the result of CHANNEL_STATS, which the caller frees: 0 or -ENOMEM. `ctx`: the recorder. */
int recorder__status_bytes(void *ctx, void **ret, size_t *size);

#endif
