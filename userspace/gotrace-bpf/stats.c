// SPDX-License-Identifier: GPL-2.0
/*
 * The statistics of a recording: see stats.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/kinds.h"
#include "writer/output.h"
#include "stats.h"

/* Derived parks and ends have no hit of their own: they are sent with that of another kind. */
static bool is_hit(const struct recorder_stats *stats, enum gt_kind kind)
{
	return !stats->derives || (kind != GT_PARK && kind != GT_DESTROY && kind != GT_ENDED);
}

/*
 * Each hit results in one record or one counted loss, except those of casgstatus that are not an
 * unblock, which are not counted.
 */
static uint64_t hits(const struct recorder_stats *stats)
{
	uint64_t hits = 0;

#define ADD(number, NAME, ...)                                                                     \
	if (is_hit(stats, GT_##NAME))                                                              \
		hits += stats->records[GT_##NAME] + stats->counters.lost[GT_##NAME];
	GT_GO_KINDS(ADD)
	GT_PAIR_KINDS(ADD)
	GT_KERNEL_KINDS(ADD)
	return hits - stats->inlined - stats->inline_lost;
}

static void number(FILE *out, const char *name, uint64_t value)
{
	fprintf(out, "  \"%s\": %" PRIu64 ",\n", name, value);
}

static void milliseconds(FILE *out, const char *name, uint64_t ns)
{
	fprintf(out, "  \"%s\": %.1f,\n", name, (double)ns / 1e6);
}

static void by_kind(FILE *out, const char *name, const uint64_t *count, const char *end)
{
	const char *comma = "";
	unsigned int kind;

	fprintf(out, "  \"%s\": {", name);
	for (kind = 0; kind < GT_KIND_END; kind++) {
		if (!count[kind])
			continue;
		fprintf(out, "%s\"%s\": %" PRIu64, comma, kind__name(kind), count[kind]);
		comma = ", ";
	}
	fprintf(out, "}%s\n", end);
}

static void print(FILE *out, const struct recorder_stats *stats)
{
	const struct sequencer_stats *seq = &stats->sequencer;

	fprintf(out, "{\n");
	number(out, "events", stats->writer.events);
	number(out, "records", seq->records);
	number(out, "lost", seq->lost);
	number(out, "generations", stats->writer.generations);
	number(out, "bytes", stats->writer.bytes);
	milliseconds(out, "attach_ms", stats->attach_ns);
	milliseconds(out, "attach_analysis_ms", stats->analysis_ns);
	milliseconds(out, "attach_checks_ms", stats->checks_ns);
	milliseconds(out, "attach_load_ms", stats->load_ns);
	milliseconds(out, "attach_probes_ms",
		     stats->attach_ns - stats->analysis_ns - stats->checks_ns - stats->load_ns);
	milliseconds(out, "snapshot1_ms", stats->snapshot_ns[0]);
	milliseconds(out, "snapshot2_ms", stats->snapshot_ns[1]);
	milliseconds(out, "initial_state_ms", stats->initial_ns);
	milliseconds(out, "missed_ms", stats->missed_ns);
	number(out, "windows", stats->windows);
	number(out, "windows_missed", stats->windows_missed);
	milliseconds(out, "window_attach_min_ms", stats->window_attach_min_ns);
	milliseconds(out, "window_attach_median_ms", stats->window_attach_median_ns);
	milliseconds(out, "window_attach_max_ms", stats->window_attach_max_ns);
	number(out, "probe_hits", hits(stats));
	number(out, "daemon_cpu_ns", stats->cpu_ns);
	number(out, "peak_memory_bytes", stats->peak_memory);
	number(out, "ring_bytes", stats->ring_bytes);
	number(out, "window_ns", seq->window_ns);
	number(out, "goroutines", seq->goroutines);
	number(out, "goroutines_at_start", seq->at_start);
	number(out, "repairs", seq->repairs);
	number(out, "held", seq->held);
	number(out, "dropped", seq->dropped);
	number(out, "left_out_at_end", seq->left_out_at_end);
	number(out, "holes", seq->holes);
	number(out, "gaps", seq->gaps);
	number(out, "starved", stats->starvation.times);
	number(out, "starved_lost", stats->starvation.lost);
	number(out, "sample_throttles", stats->throttles);
	number(out, "sample_throttled_ns", stats->throttled_ns);
	milliseconds(out, "starved_longest_ms", stats->starvation.longest_ns);
	milliseconds(out, "starved_total_ms", stats->starvation.total_ns);
	number(out, "resnapshots", seq->resnapshots);
	number(out, "corrected", seq->corrected);
	number(out, "corrected_procs", seq->corrected_procs);
	number(out, "bad_records", seq->bad_records);
	number(out, "stack_misses", seq->stack_misses);
	number(out, "stack_displaced", seq->stack_displaced);
	number(out, "stacks_gone", stats->counters.stacks_gone + seq->stacks_gone);
	number(out, "parked", seq->parked);
	number(out, "parked_left_out", seq->parked_left_out);
	number(out, "text_misses", seq->text_misses);
	number(out, "read_errors", stats->counters.read_errors);
	number(out, "stepped_hits", stats->stepped);
	number(out, "overhead_ns", stats->overhead_ns);
	number(out, "overhead_changes", stats->overhead_changes);
	number(out, "overhead_pauses", stats->overhead_pauses);
	milliseconds(out, "overhead_paused_ms", stats->overhead_paused_ns);
	number(out, "foreign_hits", stats->counters.foreign);
	number(out, "inline_records", stats->inlined);
	number(out, "inline_lost", stats->inline_lost);
	number(out, "inline_ring_bytes", stats->inline_bytes);
	number(out, "inline_clock_error_ns", stats->inline_clock_ns);
	milliseconds(out, "inline_held_ms", stats->inline_held_ns);
	fprintf(out, "  \"uprobe_multi\": %s,\n", stats->multi ? "true" : "false");
	fprintf(out, "  \"unwinder\": \"%s\",\n", stats->kfuncs ? "module" : "bpf");
	by_kind(out, "lost_by_kind", seq->lost_by_kind, ",");
	by_kind(out, "records_by_kind", stats->records, "");
	fprintf(out, "}\n");
}

int stats__open(struct trace_file **ret, const char *path, struct error *error)
{
	return output__open(ret, path, FILE_STATS, error);
}

int stats__write(struct trace_file *file, const char *path, const struct recorder_stats *stats,
		 struct error *error)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	int err = -ENOMEM;

	if (out) {
		print(out, stats);
		if (!fclose(out))
			err = trace_file__append(file, text, len);
		if (!err)
			err = trace_file__commit(file);
	}
	free(text);
	return err ? error__set(error, err, "cannot write %s: %s", path, strerror(-err)) : 0;
}
