// SPDX-License-Identifier: GPL-2.0
/*
 * The setup that both recorders share: see setup.h.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>

#include "capture/hits.h"
#include "capture/probes_impl.h"
#include "capture/setup.h"
#include "inline/inline_probes.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/steps.h"
#include "target/process/csymbols.h"
#include "target/process/slots.h"
#include "target/process/text.h"

static bool has_inlined_plugins(const struct go_modules *modules)
{
	for (size_t i = 0; i < modules->n; i++)
		if (probes__has_inlined_sites(&modules->module[i]->sites))
			return true;
	return false;
}

struct probes_opts setup__probes(const struct recorder_opts *opts, uint64_t is_inline)
{
	return (struct probes_opts){
		.pid = opts->process->pid,
		.path = opts->process->attach_path,
		.bias = opts->process->bias,
		.config = &opts->layout->config,
		.sites = opts->sites,
		.stack_depth = opts->stack_depth,
		.sets = opts->sets,
		.derives = opts->layout->derives_parks && !is_inline,
		.is_inline = is_inline,
		.kernel_optional = opts->kernel_optional,
		.sample_hz = opts->sample_hz,
		.heap_whole = opts->heap_whole,
		.no_labels = opts->no_labels,
		.force_perf = opts->force_perf,
		.ring_size = opts->ring_size,
		.requests = opts->requests,
		.plugins_inlined = has_inlined_plugins(opts->modules),
	};
}

void setup__measure(struct probes_opts *opts, struct hits **ret)
{
	struct error why = {};
	double trap_ns;

	*ret = NULL;
	opts->derived_ns = GT_DERIVED_NS;
	if (hits__open_trap(ret, &why)) {
		log__debug("%s", why.text);
		return;
	}
	if (!opts->derives)
		return;
	trap_ns = hits__trap_ns();
	if (trap_ns >= 1 && trap_ns < GT_DERIVED_NS_MAX)
		opts->derived_ns = GT_DERIVED_OF((uint32_t)trap_ns);
	log__debug("a trap takes %.0f ns", trap_ns);
}

int setup__replaced(const struct recorder_opts *opts, struct error *error)
{
	return error__set(error, -ESRCH,
			  "process %d executed another program while probes were being attached",
			  opts->process->pid);
}

/* The process may have executed another program since it was analysed. */
static int still_the_program(const struct recorder_opts *opts, struct error *error)
{
	struct process *proc = opts->process;
	uint64_t bias = proc->bias;

	if (!process__is_same(proc))
		return process__was_replaced(proc) ?
			       setup__replaced(opts, error) :
			       error__set(error, -ESRCH,
					  "process %d ended while probes were being attached",
					  proc->pid);
	/*
	 * The same program may have been executed again at another address: process__is_same() does
	 * not notice that if the addresses of stacks are not randomized.
	 */
	if (process__find_bias(proc, opts->elf, error))
		return -ESRCH;
	return proc->bias == bias ? 0 : setup__replaced(opts, error);
}

/* What the threads run that have had no hit yet. A program that just started may have no Ms. */
static void fill_slots(const struct recorder_opts *opts, struct probes *probes)
{
	struct thread_slot *slot = NULL;
	size_t n = 0;
	int err = process__read_slots(opts->process, opts->layout, &slot, &n);

	if (err)
		log__debug("the goroutines of the threads: %s", strerror(-err));
	for (size_t i = 0; i < n; i++)
		probes__set_slot(probes, slot[i].tid, &slot[i].slot);
	free(slot);
}

static int add_plugin(const struct recorder_opts *opts, struct probes *probes, struct go_module *m,
		      bool now)
{
	struct process view =
		*opts->process; /* borrowed: the same process, with the plugin's bias */
	int err;

	view.bias = m->bias;
	err = text__check(&view, m->elf, &m->sites, &m->why);
	if (!err)
		err = probes__add_plugin(probes, m, now, &m->why);
	return err ? error__set(&m->why, err, "%s", strerror(-err)) : 0;
}

void setup__plugins(const struct recorder_opts *opts, struct probes *probes, size_t first, bool now,
		    const char *why)
{
	for (size_t i = first; i < opts->modules->n; i++) {
		struct go_module *m = opts->modules->module[i];

		if (why)
			error__set(&m->why, -ENOTSUP, "%s", why);
		else if (m->has_sites)
			m->is_recorded = !add_plugin(opts, probes, m, now);
		if (!m->is_recorded)
			log__msg("not recorded: what the plugin %s executes: %s",
				 go_module__name(m), m->why.text);
	}
}

void setup__libraries(const struct recorder_opts *opts)
{
	size_t known = opts->libraries->nothers;
	char names[768];

	libraries__read(opts->libraries, opts->process, opts->modules);
	if (opts->libraries->nothers > known && process__is_same(opts->process))
		log__msg("not recorded: the Go code of %s in process %d, loaded during "
			 "the recording: see --library",
			 libraries__format(opts->libraries, known, names, sizeof(names)),
			 opts->process->pid);
}

int setup__attach(const struct recorder_opts *opts, struct probes *probes,
		  struct inline_probes *inl, struct error *error)
{
	int err = 0;

	steps__say("comparing the code of process %d with its file", opts->process->pid);
	if (!opts->launch) /* a command has been under our ptrace since its exec */
		err = text__check(opts->process, opts->elf, opts->sites, error);
	if (!err && inl)
		err = inline_probes__install(inl, error);
	if (!err)
		err = probes__attach(probes, error);
	if (!err && opts->layout->derives_parks) {
		probes__start_slots(probes);
		if (!opts->launch)
			fill_slots(opts, probes);
	}
	if (!err && inl)
		err = inline_probes__start(inl, error);
	steps__end(); /* its thread must not keep the privileges that the caller drops next */
	return err || opts->launch ? err : still_the_program(opts, error);
}

/* Truncates to the size; the destination must be zeroed. */
static void copy_text(char *to, size_t size, const char *from)
{
	memcpy(to, from, strnlen(from, size - 1));
}

void setup__facts(const struct recorder_opts *opts, const struct probes *probes, uint64_t t0,
		  struct raw_header *ret)
{
	const struct process *proc = opts->process;
	const char *build_id = elf_image__any_build_id(opts->elf);

	*ret = (struct raw_header){
		.t0 = t0,
		.wall_ns = clock__wall_at(t0),
		.bias = proc->bias,
		.flags = (opts->stack_depth ? RAW_STACKS : 0) |
			 (probes__has_kernel(probes) ? 0 : RAW_NO_KERNEL) |
			 (probes__calls_only(probes) ? RAW_CALLS_ONLY : 0) |
			 opts->sink.max_names << RAW_NAMES_SHIFT,
		.no_syscalls = opts->sink.no_syscalls,
	};
	copy_text(ret->go_version, sizeof(ret->go_version), opts->layout->version.text);
	copy_text(ret->build_id, sizeof(ret->build_id), build_id ? build_id : "");
	copy_text(ret->exe, sizeof(ret->exe), proc->exe);
	copy_text(ret->command, sizeof(ret->command), proc->cmdline);
}

struct csymbols *setup__symbols(const struct recorder_opts *opts, struct symbolizer *ret,
				struct modules_symbols **ret_plugins)
{
	struct symbolizer program;
	struct csymbols *csymbols;

	pclntab__symbolizer(opts->pclntab, opts->process->bias, &program);
	*ret = program;
	*ret_plugins = modules__symbolizer(opts->modules, &program, ret);
	csymbols = csymbols__create(ret);
	if (!csymbols)
		return NULL;
	if (!opts->launch)
		csymbols__add_modules(csymbols, opts->process);
	csymbols__symbolizer(csymbols, ret);
	return csymbols;
}

static void fill_signals(sigset_t *ret)
{
	sigemptyset(ret);
	sigaddset(ret, SIGINT);
	sigaddset(ret, SIGTERM);
	sigaddset(ret, SIGHUP);
}

int setup__snapshot_signal(int fd, struct error *error)
{
	sigset_t signals;

	fill_signals(&signals);
	sigaddset(&signals, SIGUSR1);
	if (signalfd(fd, &signals, SFD_CLOEXEC | SFD_NONBLOCK) < 0)
		return error__set(error, -errno, "signalfd: %s", strerror(errno));
	return 0;
}

int setup__signals(struct error *error)
{
	sigset_t signals;
	int fd;

	fill_signals(&signals);
	fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? error__set(error, -errno, "signalfd: %s", strerror(errno)) : fd;
}
