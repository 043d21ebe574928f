// SPDX-License-Identifier: GPL-2.0
/*
 * One process, or one command: see recording.h.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "analysis.h"
#include "blackbox.h"
#include "command.h"
#include "interrupt.h"
#include "lib/log.h"
#include "lib/steps.h"
#include "recording.h"
#include "stats.h"
#include "trace/file.h"

struct names {
	char output[4200], raw[4200], stats[4200];
};

/* ---- the program ---- */

/* Analyses the program of a process, unless a signal ends us. `child`: NULL, or a command. */
static int analyse_process(const struct recording *r, const struct launch *child, pid_t pid,
			   struct analysis *an, struct error *err)
{
	const struct interrupt how = {
		.held = child && child->held && child->execs == 1 ? pid : 0,
		.status = r->family ? RECORDING_NOTHING : EXIT_FAILED,
		.quiet = r->family,
	};
	int code;

	interrupt__allow(&how);
	code = child || r->pid ? analysis__of_beginning(an, pid, err) :
				 analysis__of_process(an, pid, err);
	interrupt__forbid();
	return code;
}

/* Runs the command until it executes a Go program, which is held then, and analysed. */
static int launch(const struct recording *r, struct launch *child, struct analysis *an,
		  struct error *err)
{
	int code = launch__fork(child, r->args->command, r->signals, err);

	child->quiet = r->family;
	if (r->family)
		__atomic_store_n(&r->family->launched, child->pid, __ATOMIC_SEQ_CST);
	while (!code) {
		code = launch__next_exec(child, err);
		if (!code && !r->family) /* whose recorders would write over each other */
			steps__begin();
		if (!code)
			code = analyse_process(r, child, child->pid, an, err);
		if (!code || code == -ENOTSUP || !child->held || !analysis__is_not_go(an))
			break;
		log__debug("process %d executes %s: %s", child->pid, an->process.exe, err->text);
		analysis__deinit(an);
		steps__end();
		err->text[0] = '\0';
		code = 0;
	}
	if (code == -ENOEXEC) {
		if (!child->execs && strchr(r->args->command[0], '/'))
			analysis__of_file(an, r->args->command[0], err);
		error__set(err, code,
			   "%s can't be executed here: it is no program for this machine, "
			   "and no script that begins with #!",
			   r->args->command[0]);
	}
	if (code == -ECHILD && !err->text[0] && !r->family)
		error__set(err, code,
			   "%s ended, and its process had executed no Go program; one that it "
			   "starts as a child is recorded with --follow",
			   r->args->command[0]);
	return code;
}

/*
 * What was held must not stay so. The command itself has not begun, and is not to run unrecorded;
 * what a script executes goes on.
 */
static void let_go(struct launch *child)
{
	if (child->held && child->execs == 1)
		launch__kill(child);
	else if (child->held)
		launch__release(child, NULL);
}

static int analyse(const struct recording *r, struct launch *child, struct analysis *an,
		   struct error *err)
{
	if (r->pid)
		return analyse_process(r, NULL, r->pid, an, err);
	if (r->args->pid && !r->family)
		steps__begin();
	if (r->args->pid)
		return analyse_process(r, NULL, r->args->pid, an, err);
	return launch(r, child, an, err);
}

/* ---- its files ---- */

static void name_file(char *ret, size_t size, const char *name, const char *suffix)
{
	snprintf(ret, size, "%s%s", name ? name : "", name ? suffix : "");
}

/* FILE for the first, FILE.PID for others, FILE.PID.2 for the second program of such a one. */
static void name_files(const struct recording *r, int pid, struct names *ret)
{
	const struct record_args *a = r->args;
	char fallback[48], suffix[48] = "";
	bool first =
		!r->family || !__atomic_exchange_n(&r->family->first_taken, true, __ATOMIC_SEQ_CST);

	snprintf(fallback, sizeof(fallback), "gotrace-%d.trace", pid);
	if (r->serial > 1)
		snprintf(suffix, sizeof(suffix), ".%d.%u", pid, r->serial);
	else if (!first)
		snprintf(suffix, sizeof(suffix), ".%d", pid);
	name_file(ret->raw, sizeof(ret->raw), a->raw, first ? "" : suffix);
	name_file(ret->stats, sizeof(ret->stats), a->stats, first ? "" : suffix);
	if (a->output) {
		name_file(ret->output, sizeof(ret->output), a->output, first ? "" : suffix);
		return;
	}
	snprintf(suffix, sizeof(suffix), ".%u", r->serial);
	name_file(ret->output, sizeof(ret->output), fallback, r->serial > 1 ? suffix : "");
}

/* What was lost is lost; how to lose nothing the next time. */
static void tell_remedy(const struct recorder_stats *stats)
{
	const struct sequencer_stats *seq = &stats->sequencer;
	uint64_t size = stats->rings ? stats->ring_bytes / stats->rings : 0;
	uint64_t bigger = size >= 1u << 20 ? 4 * size : 4u << 20;
	char larger[48] = "";

	if (bigger > RING_SIZE_MAX)
		bigger = RING_SIZE_MAX;
	if (bigger > size)
		snprintf(larger, sizeof(larger), "--ring-size=%lluM, ",
			 (unsigned long long)bigger >> 20);
	if (stats->starvation.lost) {
		log__msg(
			"records were lost in %llu places (`gotrace stat` shows when), states put right %llu "
			"times; the recorder was starved: %llu were lost because it got no CPU for up to %.0f "
			"ms; to lose none: %sa higher priority for gotrace-bpf (nice -n -20), or less load on "
			"the machine",
			(unsigned long long)seq->gaps, (unsigned long long)seq->resnapshots,
			(unsigned long long)stats->starvation.lost,
			(double)stats->starvation.longest_ns / 1e6, larger);
		return;
	}
	log__msg(
		"records were lost in %llu places (`gotrace stat` shows when), states put right %llu "
		"times; to lose none: %s--no-stacks, fewer --events, or more CPU time for "
		"gotrace-bpf",
		(unsigned long long)seq->gaps, (unsigned long long)seq->resnapshots, larger);
}

static void tell(const struct recording *r, int pid, const struct recorder_stats *stats)
{
	const struct sequencer_stats *seq = &stats->sequencer;
	char who[32] = "";

	if (r->family)
		snprintf(who, sizeof(who), "process %d ", pid);
	log__msg("recorded %s%.3f s: %llu events, %llu goroutines, %llu bytes, %llu lost", who,
		 (double)seq->window_ns / 1e9, (unsigned long long)stats->writer.events,
		 (unsigned long long)seq->goroutines, (unsigned long long)stats->writer.bytes,
		 (unsigned long long)seq->lost);
	if (seq->lost || seq->holes)
		tell_remedy(stats);
	if (stats->missed_ns)
		log__debug("process %d: its first %.0f ms are missing", pid,
			   (double)stats->missed_ns / 1e6);
}

/* The kernel wants a power of two. */
static uint32_t ring_size(const struct record_args *a)
{
	uint32_t size = 1;

	while (size < a->ring_size)
		size *= 2;
	return a->ring_size ? size : 0;
}

/* Of the sets that are recorded; what a program can't be recorded without has been refused by now. */
static void name_missing(const struct analysis *an, uint32_t sets)
{
	for (size_t i = 0; i < an->sites.nmissing; i++) {
		const struct site_missing *m = &an->sites.missing[i];

		if (1u << site__set(m->probe) & sets)
			log__msg("not recorded: %s: %s", m->why, m->reason);
	}
}

static int record(const struct recording *r, struct analysis *an, struct launch *child,
		  struct recorder_stats *stats, struct error *err)
{
	const struct record_args *a = r->args;
	struct trace_file *file = NULL;
	struct names names;
	struct recorder_opts opts = {
		.sink = {
			.path = names.output, .raw_path = a->raw ? names.raw : NULL,
			.version = a->version, .tick_ns = a->tick, .stacks = !a->no_stacks,
			.no_syscalls = !(a->sets & SITE_SET(SYSCALL)),
		},
		.duration_ns = a->duration_ns,
		.stack_depth = a->no_stacks ? 0 : (unsigned int)a->stack_depth,
		.sets = a->sets,
		.kernel_optional = !a->sets_given,
		.sample_hz = a->sets & SITE_SET(CPU) ? (unsigned int)a->sample_hz : 0,
		.force_perf = a->force_perf, .ring_size = ring_size(a),
		.started = r->started, .checks_ns = an->checks_ns,
		.elf = an->elf, .pclntab = an->pclntab, .layout = &an->layout, .sites = &an->sites,
		.process = &an->process,
		.launch = child->pid ? child : NULL, .exec_time = r->exec_time,
	};
	int code, failed;

	if (an->layout.warning[0])
		log__msg("%s", an->layout.warning);
	name_missing(an, a->sets);
	if (a->blackbox)
		return blackbox__run(a, &opts, err);
	name_files(r, an->process.pid, &names);
	code = a->stats ? stats__open(&file, names.stats, err) : 0;
	if (code)
		return code;
	opts.folder_of_other = file && trace_file__in_folder_of_other(file);
	code = recorder__run(&opts, stats, err);
	if (stats->layout_checked)
		analysis__keep(an);
	if (!code)
		tell(r, an->process.pid, stats);
	if (file && stats->attach_ns) {
		failed = stats__write(file, names.stats, stats, err);
		code = code ? code : failed;
	}
	trace_file__destroy(file);
	return code;
}

/* A followed program that was over too soon, or is none of Go's, is nothing to complain about. */
static bool is_nothing(const struct recording *r, const struct analysis *an,
		       const struct launch *child, int code)
{
	if (!r->family)
		return false;
	if (r->pid)
		return code == -ESRCH || (an->has_process && !process__is_same(&an->process));
	return (code == -ECHILD && !child->exec_error) || (r->args->pid && analysis__is_not_go(an));
}

/* A status that is not 0 has a line that says whose it is. */
static void report_status(const struct launch *child)
{
	if (WIFSIGNALED(child->status))
		log__msg("%s (process %d) was ended by signal %d (%s)", child->name, child->pid,
			 WTERMSIG(child->status), strsignal(WTERMSIG(child->status)));
	else if (WEXITSTATUS(child->status))
		log__msg("%s (process %d) exited with status %d", child->name, child->pid,
			 WEXITSTATUS(child->status));
}

static int exit_status(const struct launch *child, enum recording_end end)
{
	if (end == RECORDING_FAILED)
		return child->exec_error ? launch__exit_status(child) : EXIT_FAILED;
	return child->pid ? launch__exit_status(child) : EXIT_DONE;
}

enum recording_end recording__run(const struct recording *r, int *ret_status, struct error *err)
{
	struct recorder_stats own = {}, *stats = r->report ? &r->report->stats : &own;
	enum recording_end end = RECORDING_DONE;
	struct launch child = {};
	struct analysis an = {};
	int code = analyse(r, &child, &an, err);

	if (!code)
		code = record(r, &an, &child, stats, err);
	steps__end();
	let_go(&child);
	if (code && !stats->writer.bytes && is_nothing(r, &an, &child, code)) {
		if (r->pid) {
			log__debug("process %d is not recorded: %s", r->pid, err->text);
			r->report->replaced = an.has_process && process__alive(&an.process);
		}
		err->text[0] = '\0';
		end = RECORDING_NOTHING;
	} else if (code) {
		error__set(err, code, "%s", strerror(-code));
		end = RECORDING_FAILED;
	}
	if (code && err->text[0] && child.pid && !child.reaped) { /* now, not when it ends */
		log__msg("%s", err->text);
		err->text[0] = '\0';
	}
	launch__wait(&child);
	*ret_status = exit_status(&child, end);
	if (end != RECORDING_FAILED && child.pid)
		report_status(&child);
	analysis__deinit(&an);
	return end;
}
