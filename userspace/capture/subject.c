// SPDX-License-Identifier: GPL-2.0
/*
 * What is recorded: see subject.h.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>

#include "capture/clock.h"
#include "capture/subject.h"
#include "lib/steps.h"
#include "target/csymbols.h"
#include "target/text.h"

struct session_opts subject__session(const struct recorder_opts *opts)
{
	return (struct session_opts){
		.pid = opts->process->pid,
		.path = opts->process->attach_path,
		.config = &opts->layout->config,
		.sites = opts->sites,
		.stack_depth = opts->stack_depth,
		.sets = opts->sets,
		.kernel_optional = opts->kernel_optional,
		.sample_hz = opts->sample_hz,
		.force_perf = opts->force_perf,
		.ring_size = opts->ring_size,
	};
}

int subject__replaced(const struct recorder_opts *opts, struct error *err)
{
	return error__set(err, -ESRCH,
			  "process %d executed another program while probes were attached",
			  opts->process->pid);
}

/* Between the analysis and now it may have become another program, with nothing of the old one. */
static int still_the_program(const struct recorder_opts *opts, struct error *err)
{
	struct process *proc = opts->process;
	uint64_t bias = proc->bias;
	struct stat st;

	/* Not by access(), which looks without our capabilities. */
	if (!process__alive(proc) || stat(proc->exe_path, &st))
		return error__set(err, -ESRCH, "process %d ended while probes were attached",
				  proc->pid);
	if (!process__is_same(proc))
		return subject__replaced(opts, err);
	/* Where addresses of stacks are not random, those of programs may be. */
	if (process__find_bias(proc, opts->elf, err))
		return -ESRCH;
	return proc->bias == bias ? 0 : subject__replaced(opts, err);
}

int subject__attach(const struct recorder_opts *opts, struct session *session, struct error *err)
{
	int code = 0;

	steps__say("comparing the code of process %d with its file", opts->process->pid);
	if (!opts->launch) /* which has been traced by us from its exec on */
		code = text__check(opts->process, opts->elf, opts->sites, err);
	if (!code)
		code = session__attach(session, err);
	steps__end(); /* its thread must not keep the privileges that are dropped now */
	return code || opts->launch ? code : still_the_program(opts, err);
}

/* Cut to what fits; the destination is zeroed. */
static void copy_text(char *to, size_t size, const char *from)
{
	memcpy(to, from, strnlen(from, size - 1));
}

void subject__facts(const struct recorder_opts *opts, uint64_t t0, struct raw_header *ret)
{
	const struct process *proc = opts->process;
	const char *build_id = elf_image__any_build_id(opts->elf);

	*ret = (struct raw_header){
		.t0 = t0,
		.wall_ns = clock__wall_at(t0),
		.bias = proc->bias,
		.stacks = opts->sink.stacks,
		.no_syscalls = opts->sink.no_syscalls,
	};
	copy_text(ret->go_version, sizeof(ret->go_version), opts->layout->version.text);
	copy_text(ret->build_id, sizeof(ret->build_id), build_id ? build_id : "");
	copy_text(ret->exe, sizeof(ret->exe), proc->exe);
	copy_text(ret->command, sizeof(ret->command), proc->cmdline);
}

struct csymbols *subject__symbols(const struct recorder_opts *opts, struct symbolizer *ret)
{
	struct csymbols *csymbols;

	pclntab__symbolizer(opts->pclntab, opts->process->bias, ret);
	csymbols = csymbols__create(ret);
	if (!csymbols)
		return NULL;
	if (!opts->launch)
		csymbols__add_modules(csymbols, opts->process);
	csymbols__symbolizer(csymbols, ret);
	return csymbols;
}

int subject__signals(struct error *err)
{
	sigset_t signals;
	int fd;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? error__set(err, -errno, "signalfd: %s", strerror(errno)) : fd;
}
