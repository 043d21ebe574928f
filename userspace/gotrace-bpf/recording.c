// SPDX-License-Identifier: GPL-2.0
/*
 * The recording of one process or command: see recording.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/fate.h"
#include "capture/pid_ns.h"
#include "lib/log.h"
#include "lib/steps.h"
#include "target/probe/call_copies.h"
#include "target/probe/presets.h"
#include "trigger/needs.h"
#include "writer/output.h"
#include "analysis.h"
#include "blackbox.h"
#include "command.h"
#include "interrupt.h"
#include "recording.h"
#include "recording_report.h"
#include "stats.h"
#include "trigger_functions.h"

struct names {
	char output[4200], raw[4200], stats[4200];
};

/* ---- the program ---- */

/*
 * A signal during the analysis ends this process: see interrupt.h. `child`: the command, or NULL.
 */
static int analyse_process(const struct recording *r, const struct launch *child, pid_t pid,
			   struct analysis *an, struct error *error)
{
	const struct interrupt how = {
		.held = child && child->held && child->execs == 1 ? pid : 0,
		.status = r->family ? RECORDING_NOTHING : EXIT_FAILED,
		.quiet = r->family,
	};
	int err;

	interrupt__allow(&how);
	err = child || r->exec_time ? analysis__of_new_program(an, pid, error) :
				      analysis__of_process(an, pid, error);
	interrupt__forbid();
	return err;
}

/* Runs the command until it executes a Go program, which is then held and analysed. */
static int launch(const struct recording *r, struct launch *child, struct analysis *an,
		  struct error *error)
{
	int err = launch__fork(child, r->args->command, r->signals, error);

	child->quiet = r->family;
	if (r->family)
		__atomic_store_n(&r->family->launched, child->pid, __ATOMIC_SEQ_CST);
	while (!err) {
		err = launch__next_exec(child, error);
		if (!err && !r->family) /* several recorders would overwrite each other's lines */
			steps__begin();
		if (!err)
			err = analyse_process(r, child, child->pid, an, error);
		if (!err || err == -ENOTSUP || !child->held || !analysis__is_not_go(an))
			break;
		log__debug("process %d executes %s: %s", child->pid, an->process.exe, error->text);
		analysis__deinit(an);
		steps__end();
		error->text[0] = '\0';
		err = 0;
	}
	if (err == -ENOEXEC) {
		if (!child->execs && strchr(r->args->command[0], '/'))
			analysis__of_file(an, r->args->command[0], error);
		error__set(error, err,
			   "cannot execute %s: it is neither a program for this machine nor a "
			   "script that begins with #!",
			   r->args->command[0]);
	}
	if (err == -ECHILD && !error->text[0] && !r->family)
		error__set(error, err,
			   "nothing was recorded: %s ended, and its process executed no Go "
			   "program; use --follow to record Go programs that it starts as children",
			   r->args->command[0]);
	return err;
}

/*
 * Releases a child that is still held after a failure. The command itself must not run unrecorded,
 * and is killed; a program that a script has executed continues.
 */
static void release_child(struct launch *child)
{
	if (child->held && child->execs == 1)
		launch__kill(child);
	else if (child->held)
		launch__release(child, NULL);
}

static int analyse(const struct recording *r, struct launch *child, struct analysis *an,
		   struct error *error)
{
	if (r->pid)
		return analyse_process(r, NULL, r->pid, an, error);
	if (r->args->pid && !r->family)
		steps__begin();
	if (r->args->pid)
		return analyse_process(r, NULL, r->args->pid, an, error);
	return launch(r, child, an, error);
}

/* ---- its files ---- */

static void name_file(char *ret, size_t size, const char *name, const char *suffix)
{
	snprintf(ret, size, "%s%s", name ? name : "", name ? suffix : "");
}

/*
 * FILE for the first recording, FILE.PID for others, FILE.PID.2 for the second program of a
 * process.
 */
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

/* Rounds up to a power of two, which the kernel requires. */
static uint32_t ring_size(const struct record_args *a)
{
	uint32_t size = 1;

	while (size < a->ring_size)
		size *= 2;
	return a->ring_size ? size : 0;
}

/* Finds the functions of --region and --task, and joins their sites with those of the analysis. */
static int find_calls(const struct record_args *a, const struct analysis *an, struct calls *calls,
		      struct site_list *sites, struct error *error)
{
	struct call_pattern pattern;
	char *funcs, *name;
	int err = 0;

	for (size_t i = 0; i < a->ncalls && !err; i++) {
		funcs = strdup(a->call[i].text);
		if (!funcs)
			return error__set(error, -ENOMEM, "out of memory");
		name = strrchr(funcs, '=');
		if (name)
			*name++ = '\0';
		pattern = (struct call_pattern){ funcs, name, GT_AS_REGION };
		if (a->call[i].is_task)
			pattern.as = a->inherit ? GT_AS_TASK_INHERITED : GT_AS_TASK;
		err = calls__add(calls, an->elf, an->pclntab, &pattern, error);
		free(funcs);
	}
	if (!err && a->ncalls)
		err = calls__add_recovery(calls, an->elf, an->pclntab, error);
	if (err)
		return err;
	calls__report_skipped(calls);
	calls__report_no_samples(calls, an->pclntab);
	call_copies__report(calls, an->pclntab);
	return calls__join(calls, &an->sites, sites);
}

/* Finds the functions of --requests, and appends their sites. */
static int find_requests(const struct record_args *a, const struct analysis *an,
			 struct presets *presets, struct site_list *sites, struct error *error)
{
	bool all = a->requests & REQUESTS_ALL;
	int err;

	for (enum gt_preset i = 0; i < GT_PRESETS; i++) {
		struct error why = {}; /* the first reason would stay */

		if (!all && !(a->requests >> i & 1))
			continue;
		err = presets__add(presets, i, an->elf, an->pclntab, &an->info.version, &why);
		if (err && (!all || err == -ENOMEM))
			return error__set(error, err,
					  "--requests=%s cannot record this program: %s",
					  preset_names[i], why.text);
		if (err && err != -ENOENT)
			log__msg("not recorded: requests of kind %s: %s", preset_names[i],
				 why.text);
	}
	if (all && !presets->n)
		return error__set(error, -ENOENT, "the program has no known kind of requests");
	for (size_t i = 0; i < presets->n; i++)
		presets->table[i].inherited = a->inherit;
	return presets__join(presets, sites);
}

/* What is recorded in addition to the sites of the analysis, by options. */
struct chosen {
	struct calls calls;
	struct presets presets;
	struct site_list sites; /* all */
	struct trigger_functions functions;
};

static unsigned int format_of(const struct record_args *a, const struct analysis *an)
{
	return a->version ?: spec__version_for(an->info.version.minor);
}

/* Without kernel events a condition of the flight recorder would never be met. */
static bool needs_kernel(const struct record_args *a)
{
	uint32_t sets = 0;

	for (size_t i = 0; i < a->triggers.n; i++)
		sets |= condition__sets(&a->condition[i]);
	return sets & SITE_SET(KERNEL);
}

/* The flight recorder keeps generations in memory, and writes those that a trigger selects. */
static void set_flight(struct sink_opts *sink, const struct record_args *a,
		       const struct analysis *an, const struct trigger_functions *functions)
{
	sink->path = a->output;
	sink->flight = a->flight;
	sink->flight.version = format_of(a, an);
	sink->flight.target = (struct file_target){ an->process.exe, an->process.pid };
	sink->triggers = a->triggers;
	sink->triggers.condition = a->condition;
	sink->triggers.func = functions->func;
	sink->triggers.nfuncs = functions->n;
	sink->triggers.pid = an->process.pid;
}

/* A continuous recording writes several files to a directory. */
static void set_rotation(struct sink_opts *sink, const struct recording *r,
			 const struct analysis *an)
{
	const struct record_args *a = r->args;

	sink->path = a->output;
	sink->rotate = (struct rotate_opts){
		.dir = a->output,
		.every_ns = a->rotate_ns ?: UINT64_MAX, /* a window: one file */
		.keep = a->keep,
		.version = format_of(a, an),
		.sharers = r->family ? &r->family->running : NULL,
		.target = { .program = an->process.exe, .pid = an->process.pid },
	};
}

/* Records with all options set, into `stats` and, if it is not NULL, the file of --stats. */
static int run_recorder(const struct recording *r, struct analysis *an, struct recorder_opts *opts,
			struct trace_file *file, const char *file_name,
			struct recorder_stats *stats, struct error *error)
{
	const struct record_args *a = r->args;
	struct fate *fate = NULL;
	int err, failed;

	opts->folder_of_other = file && trace_file__in_folder_of_other(file);
	err = fate__open(&fate, &opts->sink.triggers, an->process.pid, error);
	if (fate) {
		opts->sink.triggers.poll = fate__poll;
		opts->sink.triggers.poll_ctx = fate;
	}
	if (!err)
		err = recorder__run(opts, stats, error);
	fate__close(fate);
	if (stats->layout_checked)
		analysis__keep(an);
	if (!err)
		recording_report__result(r, an->process.pid, stats);
	if (!err && !r->family)
		recording_report__cost(stats, opts->stack_depth);
	if (!err && !a->rotate_ns && !a->sample.window_ns && !a->flight.dir && !a->serves)
		output__suggest(opts->sink.path);
	if (file && stats->attach_ns) {
		failed = stats__write(file, file_name, stats, error);
		err = err ? err : failed;
	}
	return err;
}

static int record_with(const struct recording *r, struct analysis *an, struct launch *child,
		       const struct chosen *chosen, struct recorder_stats *stats,
		       struct error *error)
{
	const struct record_args *a = r->args;
	struct trace_file *file = NULL;
	struct names names;
	struct recorder_opts opts = {
		.sink = {
			.path = names.output, .raw_path = a->raw ? names.raw : NULL,
			.version = format_of(a, an), .tick_ns = a->tick,
			.no_syscalls = !(a->sets & SITE_SET(SYSCALL)),
			.max_names = (uint32_t)a->max_names,
			.min_call_ns = a->min_call_ns,
		},
		.duration_ns = a->duration_ns, .cycle = a->sample, .budget = a->budget,
		.stack_depth = a->no_stacks ? 0 : (unsigned int)a->stack_depth,
		.sets = a->sets, .no_labels = a->no_labels,
		.kernel_optional = !a->sets_given && !needs_kernel(a),
		.heap_whole = a->sets_given,
		.sample_hz = a->sets & SITE_SET(CPU) ? (unsigned int)a->sample_hz : 0,
		.force_perf = a->force_perf, .is_inline = a->is_inline, .ring_size = ring_size(a),
		.started = r->started, .checks_ns = an->checks_ns,
		.elf = an->elf, .pclntab = an->pclntab, .layout = &an->layout,
		.sites = &chosen->sites, .modules = &an->modules,
		.libraries = &an->libraries, .calls = &chosen->calls,
		.requests = chosen->presets.n ? chosen->presets.table : NULL, .process = &an->process,
		.launch = child->pid ? child : NULL, .exec_time = r->exec_time,
	};
	int err;

	if (an->layout.warning[0])
		log__msg("%s", an->layout.warning);
	recording_report__missing(an, a->sets);
	recording_report__plugins(an);
	if (a->flight.dir)
		set_flight(&opts.sink, a, an, &chosen->functions);
	if (a->blackbox)
		return blackbox__run(a, &opts, error);
	name_files(r, an->process.pid, &names);
	opts.channel = r->channel;
	if (a->serves && !a->flight.dir)
		opts.sink.path = "memory";
	if (a->rotate_ns || a->sample.window_ns)
		set_rotation(&opts.sink, r, an);
	err = a->stats ? stats__open(&file, names.stats, error) : 0;
	if (err)
		return err;
	err = run_recorder(r, an, &opts, file, names.stats, stats, error);
	trace_file__destroy(file);
	return err;
}

static int record(const struct recording *r, struct analysis *an, struct launch *child,
		  struct recorder_stats *stats, struct error *error)
{
	struct chosen *chosen = calloc(1, sizeof(*chosen));
	int err;

	if (!chosen)
		return error__set(error, -ENOMEM, "out of memory");
	err = find_calls(r->args, an, &chosen->calls, &chosen->sites, error);
	if (!err)
		err = trigger_functions__find(&chosen->functions, r->args, &chosen->calls, error);
	if (!err)
		err = find_requests(r->args, an, &chosen->presets, &chosen->sites, error);
	if (err == -ENOENT)
		analysis__name_plugins(an, error);
	if (!err)
		err = record_with(r, an, child, chosen, stats, error);
	free(chosen->sites.site);
	calls__deinit(&chosen->calls);
	presets__deinit(&chosen->presets);
	free(chosen);
	return err;
}

static bool is_other(const struct recording *r, const struct analysis *an)
{
	return r->only_if_go && an->has_process && !an->info.version.text[0];
}

/* A followed program that ended too early, or is not a Go program, is not an error. */
static bool is_nothing(const struct recording *r, const struct analysis *an,
		       const struct launch *child, int err)
{
	if (!r->family)
		return false;
	if (is_other(r, an))
		return true;
	if (r->pid)
		return err == -ESRCH || (an->has_process && !process__is_same(&an->process));
	return (err == -ECHILD && !child->exec_error) || (r->args->pid && analysis__is_not_go(an));
}

static int exit_status(const struct launch *child, enum recording_end end)
{
	if (end == RECORDING_FAILED)
		return child->exec_error ? launch__exit_status(child) : EXIT_FAILED;
	return child->pid ? launch__exit_status(child) : EXIT_DONE;
}

enum recording_end recording__run(const struct recording *r, int *ret_status, struct error *error)
{
	struct recorder_stats own = {}, *stats = r->report ? &r->report->stats : &own;
	enum recording_end end = RECORDING_DONE;
	struct launch child = {};
	struct analysis an = {};
	int err = pid_ns__check(error);

	if (!err)
		err = analyse(r, &child, &an, error);
	if (!err)
		err = record(r, &an, &child, stats, error);
	steps__end();
	release_child(&child);
	if (err && !stats->writer.bytes && is_nothing(r, &an, &child, err)) {
		if (r->pid) {
			log__debug("process %d is not recorded: %s", r->pid, error->text);
			if (is_other(r, &an))
				r->report->not_go = an.process.program_ino;
			r->report->replaced = an.has_process && process__was_replaced(&an.process);
		}
		error->text[0] = '\0';
		end = RECORDING_NOTHING;
	} else if (err) {
		error__set(error, err, "%s", strerror(-err));
		end = RECORDING_FAILED;
	}
	if (err && error->text[0] && child.pid && !child.reaped) { /* before waiting for its end */
		log__msg("%s", error->text);
		error->text[0] = '\0';
	}
	launch__wait(&child);
	*ret_status = exit_status(&child, end);
	if (end != RECORDING_FAILED && child.pid)
		recording_report__status(&child);
	analysis__deinit(&an);
	return end;
}
