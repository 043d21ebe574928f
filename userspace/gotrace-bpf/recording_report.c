// SPDX-License-Identifier: GPL-2.0
/*
 * The messages about one recording: see recording_report.h.
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "capture/cost.h"
#include "lib/log.h"
#include "recording_report.h"

/* Reports the losses, and how to avoid them in the next recording. */
static void report_losses(const struct recorder_stats *stats)
{
	const struct sequencer_stats *seq = &stats->sequencer;
	uint64_t size = stats->rings ? stats->ring_bytes / stats->rings : 0;
	uint64_t bigger = size >= 1u << 20 ? 4 * size : 4u << 20;
	char larger[48] = "", starved[128] = "";

	if (bigger > RING_SIZE_MAX)
		bigger = RING_SIZE_MAX;
	if (bigger > size && stats->inline_lost < seq->lost) /* rings of inline probes are fixed */
		snprintf(larger, sizeof(larger), "--ring-size=%lluM, ",
			 (unsigned long long)bigger >> 20);
	if (stats->starvation.lost)
		snprintf(
			starved, sizeof(starved),
			"; the recorder was starved: %llu were lost because it got no CPU for up to %.0f ms",
			(unsigned long long)stats->starvation.lost,
			(double)stats->starvation.longest_ns / 1e6);
	log__msg("records were lost in %llu gaps ('gotrace stat' lists them), and the trace was "
		 "resynchronized %llu times%s; to avoid this, use %s%s",
		 (unsigned long long)seq->gaps, (unsigned long long)seq->resnapshots, starved,
		 larger,
		 starved[0] ? "a higher priority (nice -n -20), or a less busy machine" :
			      "--no-stacks, fewer --events, or more CPU time for gotrace-bpf");
}

static void report_throttling(const struct recorder_stats *stats)
{
	log__msg(
		"the kernel throttled the CPU samples for %.1f ms, so that up to %llu are missing; to "
		"avoid this, use a lower rate, or raise kernel.perf_event_max_sample_rate",
		(double)stats->throttled_ns / 1e6,
		(unsigned long long)(stats->throttled_ns / stats->sample_period_ns));
}

/* Of a duty cycle: the line before is the sum of its windows. */
static void report_windows(const struct recorder_stats *stats)
{
	char missed[64] = "";

	if (stats->windows_missed)
		snprintf(missed, sizeof(missed), ", %llu left out",
			 (unsigned long long)stats->windows_missed);
	log__msg("%llu window%s%s: attaching the probes took %.1f ms at least, %.1f ms in the "
		 "median, %.1f ms at most",
		 (unsigned long long)stats->windows, stats->windows == 1 ? "" : "s", missed,
		 (double)stats->window_attach_min_ns / 1e6,
		 (double)stats->window_attach_median_ns / 1e6,
		 (double)stats->window_attach_max_ns / 1e6);
}

void recording_report__plugins(const struct analysis *an)
{
	char others[768];

	if (an->libraries.nothers)
		log__msg("not recorded: the Go code of %s in process %d: see --library",
			 libraries__format(&an->libraries, 0, others, sizeof(others)),
			 an->process.pid);
	if (an->modules_why.text[0])
		log__msg("not recorded: what plugins of process %d execute, if it has any: %s",
			 an->process.pid, an->modules_why.text);
}

void recording_report__result(const struct recording *r, int pid,
			      const struct recorder_stats *stats)
{
	const struct sequencer_stats *seq = &stats->sequencer;
	char who[32] = "";

	/* A message of the duty cycle names both ends, which it cannot distinguish; the status of a command shows its end. */
	if (!r->family && !stats->windows && stats->target_executed)
		log__msg("process %d executed another program, which is not recorded: see --follow "
			 "of 'gotrace-bpf record'",
			 pid);
	else if (!r->family && !stats->windows && stats->target_ended && r->args->pid)
		log__msg("process %d ended", pid);
	if (r->family)
		snprintf(who, sizeof(who), "process %d for ", pid);
	log__msg("recorded %s%.3f s: %llu events, %llu goroutines, %llu bytes, %llu lost", who,
		 (double)seq->window_ns / 1e9, (unsigned long long)stats->writer.events,
		 (unsigned long long)seq->goroutines, (unsigned long long)stats->writer.bytes,
		 (unsigned long long)seq->lost);
	if (seq->lost || seq->holes)
		report_losses(stats);
	if (stats->throttles)
		report_throttling(stats);
	if (stats->windows)
		report_windows(stats);
	if (stats->missed_ns)
		log__debug("process %d: its first %.0f ms are missing", pid,
			   (double)stats->missed_ns / 1e6);
}

void recording_report__cost(const struct recorder_stats *stats, bool stacks)
{
	struct cost_events events = cost__of_recording(stats);
	double ns = cost__recording(&events, stats->trap_ns * COST_IN_PROCESS, stacks);
	uint64_t kernel = 2 * events.calls + events.switches + events.wakes;
	double percent = 100 * ns / (double)stats->target_cpu_ns;
	const bool long_time = stats->target_cpu_ns >= 1000000000;
	const double unit = long_time ? 1e9 : 1e6;
	const int digits = long_time ? 2 : 1;
	char stepped[80] = "";

	if (!stats->trap_ns || !stats->target_cpu_ns)
		return;
	if (events.stepped)
		snprintf(stepped, sizeof(stepped), " (%llu of them single-stepped, %.1f us each)",
			 (unsigned long long)events.stepped, stats->stepped_ns / 1e3);
	/* It is an estimate, and the last CPU time of a program that has ended is not known. */
	log__msg("cost: %llu hits of probes%s and %llu of tracepoints took about %.0f %% of the "
		 "program's CPU time, %.*f of %.*f %s",
		 (unsigned long long)(events.probes + events.stepped), stepped,
		 (unsigned long long)kernel, percent < 100 ? percent : 100, digits, ns / unit,
		 digits, (double)stats->target_cpu_ns / unit, long_time ? "s" : "ms");
}

void recording_report__missing(const struct analysis *an, uint32_t sets)
{
	for (size_t i = 0; i < an->sites.nmissing; i++) {
		const struct site_missing *m = &an->sites.missing[i];

		if (1u << site__set(m->probe) & sets)
			log__msg("not recorded: %s: %s", m->why, m->reason);
	}
}

void recording_report__status(const struct launch *child)
{
	if (WIFSIGNALED(child->status))
		log__msg("%s (process %d) was terminated by signal %d (%s)", child->name,
			 child->pid, WTERMSIG(child->status), strsignal(WTERMSIG(child->status)));
	else if (WEXITSTATUS(child->status))
		log__msg("%s (process %d) exited with status %d", child->name, child->pid,
			 WEXITSTATUS(child->status));
}
