// SPDX-License-Identifier: GPL-2.0
/*
 * The begin of a window: attaches the probes, takes T0, gives up the privileges that the rest does not
 * need, and starts the sink. recorder.c calls it for each window.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/launch.h"
#include "budget/memory.h"
#include "capture/priority.h"
#include "capture/privilege.h"
#include "capture/probes.h"
#include "capture/recorder_impl.h"
#include "capture/sampler.h"
#include "capture/setup.h"
#include "gotrace/version.h"
#include "lib/clock.h"
#include "lib/log.h"

/* To attach the probes for further windows, after a pause, or to plugins that are loaded later. */
static unsigned int privileges_of_cycle(const struct recorder *r)
{
	bool events = r->opts->sample_hz || r->opts->sets & SITE_SET(FAULT);

	if (!r->opts->cycle.window_ns && !r->opts->budget.share &&
	    !r->opts->sites->has[GT_PROBE_PLUGIN_MAPPED])
		return 0;
	return (events ? PRIVILEGE_EVENTS : 0) | (probes__multi(r->probes) ? 0 : PRIVILEGE_UPROBES);
}

unsigned int recorder__privileges(const struct recorder *r, bool modules)
{
	bool folder = r->opts->folder_of_other || sink__in_folder_of_other(r->sink);

	modules |= r->opts->sites->has[GT_PROBE_PLUGIN_MAPPED];
	return PRIVILEGE_READ | (folder ? PRIVILEGE_FOLDER : 0) | privileges_of_cycle(r) |
	       (sink__gives_files(r->sink) ? PRIVILEGE_OWNER : 0) |
	       (r->opts->launch ? PRIVILEGE_COMMAND : 0) | (modules ? PRIVILEGE_MODULES : 0) |
	       (r->opts->is_inline ? PRIVILEGE_INLINE : 0);
}

static void fill_meta(struct recorder *r)
{
	const struct process *proc = r->opts->process;

	setup__facts(r->opts, r->probes, r->t0, &r->facts);
	r->meta = (struct private_meta){
		.tool = "gotrace-bpf " GOTRACE_VERSION,
		.command = proc->cmdline,
		.command_len = strlen(proc->cmdline),
		.build_id = r->facts.build_id[0] ? r->facts.build_id : NULL,
		.clock = "CLOCK_MONOTONIC",
		.go_version = r->opts->layout->version.text,
	};
}

static int attach(struct recorder *r)
{
	uint64_t now = clock__now();
	int err;

	recorder__find_plugins(r, false);
	err = setup__attach(r->opts, r->probes, r->inl, r->error);

	r->attach_ns = clock__now() - now;
	return err;
}

/* The probes are attached. */
static void begin_window(struct recorder *r)
{
	uint64_t now = clock__now();

	/* the sum of several windows; with the time since the attach, whose hits count, too */
	r->target_cpu = clock__cpu_of(r->opts->process->pid) - r->stats->target_cpu_ns;
	for (; now < r->begins; now = clock__now())
		usleep((useconds_t)((r->begins - now) / 1000 + 1));
	r->t0 = r->housekeeping = now;
	r->t1 = 0;
	r->ends = r->length ? r->t0 + r->length : 0;
	recorder__begin_samples(r);
	recorder__begin_budget(r);
	if (r->has_begun)
		return;
	r->stats->attach_ns = r->t0 - r->opts->started;
	r->stats->missed_ns = r->opts->exec_time ? r->t0 - r->opts->exec_time : 0;
	r->stats->t0 = r->t0;
}

int recorder__note_samples(struct recorder *r)
{
	struct private_cpu_samples taken = { .period_ns = sampler__period(r->opts->sample_hz) };

	if (!taken.period_ns)
		return 0;
	probes__throttled(r->probes, &taken);
	r->stats->sample_period_ns = taken.period_ns;
	r->stats->throttles += taken.throttles;
	r->stats->throttled_ns += taken.throttled_ns;
	return sink__cpu_samples(r->sink, &taken);
}

/* ---- plugins ---- */

size_t recorder__find_plugins(struct recorder *r, bool now)
{
	const struct recorder_opts *o = r->opts;
	const struct go_program program = { o->process, o->pclntab, o->layout, o->sites };
	size_t first = o->modules->n;
	struct error why = {};
	int n;

	if (o->launch && !r->runtime_up) /* it has not begun to execute */
		return first;
	n = modules__read(o->modules, &program, &why);
	if (n < 0)
		log__debug("plugins: %s", why.text[0] ? why.text : strerror(-n));
	setup__plugins(r->opts, r->probes, first, now,
		       r->inl ? "inline probes are not supported in plugins" : NULL);
	return first;
}

int recorder__note_plugins(struct recorder *r, size_t first, uint64_t since, uint64_t now)
{
	int err = 0;

	for (size_t i = first; i < r->opts->modules->n && !err; i++) {
		const struct go_module *m = r->opts->modules->module[i];
		struct gt_plugin plugin = { .since = since, .recorded = m->is_recorded };
		const char *path = go_module__path(m);
		char *text = NULL;

		plugin.until = m->is_recorded ? now : 0;
		if (asprintf(&text, "%s%s%s", path, m->is_recorded ? "" : "\n",
			     m->is_recorded ? "" : m->why.text) < 0)
			return -ENOMEM;
		err = sink__plugin(r->sink, now, &plugin, text);
		free(text);
	}
	return err;
}

/* Each reading of the list ends a generation, and a target can hit the probe at any rate. */
#define PLUGINS_PAUSE_NS 100000000ull

static int probe_plugins(struct recorder *r, uint64_t since)
{
	uint64_t known = clock__now(), now;
	bool attach = !recorder__is_paused(r);
	size_t first = recorder__find_plugins(r, attach);
	int err;

	now = clock__now();
	log__debug("%zu plugins were loaded; the probes were attached after %.1f ms",
		   r->opts->modules->n - first, (double)(now - since) / 1e6);
	err = recorder__note_plugins(r, first, since, now);
	err = err ?: sink__plugins_probed(r->sink, now, known);
	return err || !attach ? err : probes__present(r->probes);
}

int recorder__plugins(struct recorder *r)
{
	uint64_t mapped = r->plugin_mapped, now = clock__now();

	if (!mapped || now < r->plugins_read + PLUGINS_PAUSE_NS)
		return 0;
	r->plugin_mapped = 0;
	r->plugins_read = now;
	return probe_plugins(r, mapped);
}

/* Some may have been loaded while the probes were being attached. */
static int begin_plugins(struct recorder *r)
{
	int err = recorder__note_plugins(r, 0, r->t0, r->t0);
	size_t known = recorder__find_plugins(r, true);

	if (err || r->opts->modules->n == known)
		return err;
	err = sink__plugin_mapped(r->sink, r->t0);
	err = err ?: recorder__note_plugins(r, known, r->t0, clock__now());
	return err ?: sink__plugins_probed(r->sink, clock__now(), r->t0);
}

#define LIBRARIES_SHARE 100 /* the list of mappings is read for at most 1/100 of the time */

/* The size of all mapped code but the program's, KiB, which the kernel counts: 0: unknown. */
static uint64_t mapped_code(const struct recorder *r)
{
	char text[32];

	return process__status(r->opts->process->pid, "status", "VmLib", text, sizeof(text)) ?
		       strtoull(text, NULL, 10) :
		       0;
}

void recorder__libraries(struct recorder *r)
{
	uint64_t begin = clock__now(), code;

	if (begin < r->libraries_due)
		return;
	code = mapped_code(r);
	if (code == r->mapped_code)
		return;
	r->mapped_code = code;
	setup__libraries(r->opts);
	r->libraries_due = begin + LIBRARIES_SHARE * (clock__now() - begin);
}

int recorder__begin(struct recorder *r)
{
	unsigned int privileges;
	int err = attach(r);

	if (err)
		return err;
	if (!r->has_begun) {
		memory__begin();
		priority__guarantee();
	}
	begin_window(r);
	r->checked = !r->opts->launch && !r->opts->exec_time;
	fill_meta(r);
	if (!r->has_begun) {
		r->csymbols = setup__symbols(r->opts, &r->symbolizer, &r->plugin_symbols);
		privileges = recorder__privileges(r, r->opts->launch);
		privilege__drop(privileges);
		privilege__forbid_calls(privileges);
	}
	err = sink__create_sequencer(r->sink, r->opts->layout, &r->symbolizer, &r->meta);
	if (!err)
		err = sink__start(r->sink, &r->facts);
	r->clock_read = 0;
	err = err ?: begin_plugins(r);
	err = err ?: recorder__note_clock(r, r->t0);
	err = err ?: recorder__note_samples(r);
	for (size_t i = 0; !err && r->opts->calls && i < r->opts->calls->n; i++)
		err = sink__name(r->sink, i, r->opts->calls->func[i].name);
	if (!err && r->opts->launch)
		err = launch__release(r->opts->launch, r->error);
	if (!err && !r->has_begun)
		log__msg("recording process %d to %s", r->opts->process->pid, r->opts->sink.path);
	return err;
}
