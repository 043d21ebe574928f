// SPDX-License-Identifier: GPL-2.0
/*
 * doctor -p PID --measure TIME: what a recording would cost this process on this machine.
 *
 * For half of the time the process is only observed: its CPU time, and its reads and writes; for
 * the other half the hits of all probes are counted, by programs that do nothing else. From the CPU
 * time per read or write in both, or per second, follows what a hit takes in this process: up to
 * three times as much as in a loop, because the trap disturbs its caches. The estimate is a weighted
 * mean of what was measured and what is usual: what was measured has less weight if the CPU time
 * varies between the windows of a half. cost.c has the rest of the model.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "capture/cost.h"
#include "capture/hits.h"
#include "capture/kernel_probes.h"
#include "lib/clock.h"
#include "lib/steps.h"
#include "doctor.h"

#define WINDOWS	      8	  /* of each half */
#define IO_MIN	      500 /* reads and writes that are enough to compare both halves */
#define OWN_MIN	      10  /* at least a tenth of a process's CPU time is its own */

/* What a trap takes in a process relative to one in a loop: mean, standard deviation, and limit. */
#define FACTOR	      1.5
#define FACTOR_SPREAD 0.4
#define FACTOR_MAX    4

/* What a process has used so far. */
struct usage {
	uint64_t time, cpu; /* ns */
	uint64_t io;	    /* read and write system calls; 0: unknown */
};

static uint64_t read_io(int pid)
{
	unsigned long long reads = 0, writes = 0;
	char path[48], line[128];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/io", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "syscr: %llu", &reads) != 1)
			sscanf(line, "syscw: %llu", &writes);
	if (f)
		fclose(f);
	return reads + writes;
}

static int read_usage(int pid, struct usage *ret)
{
	*ret = (struct usage){ clock__now(), clock__cpu_of(pid), read_io(pid) };
	return ret->cpu ? 0 : -ESRCH;
}

static struct usage usage__since(const struct usage *after, const struct usage *before)
{
	return (struct usage){ after->time - before->time, after->cpu - before->cpu,
			       after->io - before->io };
}

/* What the process used in half of the time: in each window, and in all of them. */
struct half {
	struct usage all, window[WINDOWS];
};

static int observe(int pid, uint64_t ns, struct half *ret)
{
	const struct timespec wait = { (time_t)(ns / WINDOWS / 1000000000),
				       (long)(ns / WINDOWS % 1000000000) };
	struct usage first, before, after;
	int err = read_usage(pid, &first);

	before = first;
	for (unsigned int i = 0; !err && i < WINDOWS; i++) {
		clock_nanosleep(CLOCK_MONOTONIC, 0, &wait, NULL);
		err = read_usage(pid, &after);
		ret->window[i] = usage__since(&after, &before);
		before = after;
	}
	ret->all = usage__since(&before, &first);
	return err;
}

/* Counters of the program, or of a plugin. */
struct counting {
	struct probes_opts opts;
	struct site_list sites;
	struct hits *hits;
};

static int read_all(const struct counting *c, size_t n, uint64_t ret[GT_HITS_COUNT])
{
	uint64_t one[GT_HITS_COUNT];
	int err = 0;

	memset(ret, 0, GT_HITS_COUNT * sizeof(*ret));
	for (size_t k = 0; k < n && !err; k++) {
		err = hits__read(c[k].hits, one);
		for (int i = 0; i < GT_HITS_COUNT && !err; i++)
			ret[i] += one[i];
	}
	return err;
}

/* Kernel events are counted once. */
static void choose_plugin(struct counting *c, const struct probes_opts *opts,
			  const struct go_module *plugin)
{
	c->opts = probes__opts_of_plugin(opts, plugin, &c->sites);
	c->opts.sets &= ~SITE_SET(KERNEL);
}

static int count(const struct probes_opts *opts, const struct go_modules *modules, uint64_t ns,
		 struct half *used, uint64_t hits[GT_HITS_COUNT], struct error *error)
{
	struct counting *c = calloc(1 + modules->n, sizeof(*c));
	uint64_t before[GT_HITS_COUNT];
	size_t n = 1, opened = 0;
	int err = 0;

	if (!c)
		return -ENOMEM;
	c[0].opts = *opts;
	for (size_t i = 0; i < modules->n; i++)
		if (modules->module[i]->has_sites)
			choose_plugin(&c[n++], opts, modules->module[i]);
	for (; opened < n && !err; opened += !err)
		err = hits__open(&c[opened].hits, &c[opened].opts, error);
	for (size_t i = 0; i < n && !err; i++)
		err = hits__attach(c[i].hits, error);
	if (!err)
		err = read_all(c, n, before);
	if (!err)
		err = observe(opts->pid, ns, used);
	if (!err)
		err = read_all(c, n, hits);
	for (size_t i = 0; i < opened; i++)
		hits__destroy(c[i].hits);
	free(c);
	for (int i = 0; i < GT_HITS_COUNT && !err; i++)
		hits[i] -= before[i];
	return err;
}

/* The CPU time per unit, and the variance of this mean by the windows. */
struct rate {
	double mean, variance;
};

static double units(const struct usage *u, bool by_io)
{
	return (double)(by_io ? u->io : u->time);
}

static struct rate rate_of(const struct half *h, bool by_io)
{
	struct rate ret = { .mean = (double)h->all.cpu / units(&h->all, by_io) };
	double off, sum = 0;

	for (unsigned int i = 0; i < WINDOWS; i++) {
		off = (double)h->window[i].cpu - ret.mean * units(&h->window[i], by_io);
		sum += off * off;
	}
	off = units(&h->all, by_io) / WINDOWS;
	ret.variance = sum / (off * off) / (WINDOWS * (WINDOWS - 1));
	return ret;
}

/* Whether both halves are compared by reads and writes, or else by time. */
static bool has_io(const struct half *plain, const struct half *counted)
{
	return plain->all.io >= IO_MIN && counted->all.io >= IO_MIN;
}

/* What a trap takes in the process, ns; `loop`: in a loop. */
static double trap_in_process(const struct half *plain, const struct half *counted,
			      const struct cost_events *events, double loop)
{
	bool by_io = has_io(plain, counted);
	struct rate before = rate_of(plain, by_io), with = rate_of(counted, by_io);
	double n = units(&counted->all, by_io), prior = loop * FACTOR, spread, variance, trap;
	double traps = cost__counting(events, 1) - cost__counting(events, 0);

	if (!(traps > 0))
		return prior;
	trap = ((with.mean - before.mean) * n - cost__counting(events, 0)) / traps;
	variance = (with.variance + before.variance) * n / traps * n / traps;
	spread = loop * FACTOR_SPREAD;
	trap = prior + (trap - prior) * spread * spread / (spread * spread + variance);
	return fmin(fmax(trap, loop), loop * FACTOR_MAX);
}

static struct cost_events no_events(const struct measured *m)
{
	return (struct cost_events){ .step_ns = cost__step_ns(m->loop_ns, m->stepped_ns) };
}

/* Its own CPU time is the mean of what both halves show. */
static void evaluate(const struct half *plain, const struct half *counted, struct measured *ret)
{
	struct cost_events events = no_events(ret);
	double cpu = (double)counted->all.cpu, own;
	bool by_io = has_io(plain, counted);

	cost__add(&events, ret->hits, SITE_SETS);
	ret->trap_ns = trap_in_process(plain, counted, &events, ret->loop_ns);
	ret->seconds = (double)counted->all.time / 1e9;
	ret->cpus = (double)plain->all.cpu / (double)plain->all.time;
	own = cpu - cost__counting(&events, ret->trap_ns);
	own += rate_of(plain, by_io).mean * units(&counted->all, by_io);
	ret->own_ns = own / 2;
	if (ret->own_ns < cpu / OWN_MIN)
		ret->own_ns = cpu / OWN_MIN;
}

static int measure_loop(struct measured *ret, struct error *error)
{
	struct hits *trap;
	int err = hits__open_trap(&trap, error);

	if (err)
		return err;
	ret->loop_ns = hits__trap_ns();
	ret->stepped_ns = hits__stepped_ns();
	hits__destroy(trap);
	return 0;
}

int doctor__measure(const struct doctor *d, const struct analysis *a, struct measured *ret,
		    struct error *error)
{
	struct probes_opts opts = {
		.pid = a->process.pid,
		.path = a->process.attach_path,
		.sites = &a->sites,
		.sets = SITE_SETS_DEFAULT | SITE_SET(SWEEP),
		.derives = a->layout.derives_parks,
	};
	struct half plain, counted;
	struct error why = {};
	int err = measure_loop(ret, error);

	if (err)
		return err;
	if (kernel_probes__possible(SITE_SET(KERNEL), &why)) {
		opts.sets &= ~SITE_SET(KERNEL);
		opts.no_tracepoints = true;
	}
	steps__say("observing process %d", opts.pid);
	err = observe(opts.pid, d->measure_ns / 2, &plain);
	steps__say("counting hits in process %d", opts.pid);
	if (!err)
		err = count(&opts, &a->modules, d->measure_ns / 2, &counted, ret->hits, error);
	if (!err && !process__is_same(&a->process))
		err = -ESRCH;
	if (err == -ESRCH)
		return error__set(error, err, "process %d ended during the measurement", opts.pid);
	if (err)
		return error__set(error, err, "%s", strerror(-err));
	ret->sets = opts.sets;
	evaluate(&plain, &counted, ret);
	return 0;
}

/* The recorder samples the heap's size if its probe is hit too often. */
static bool is_sampled(const struct measured *m, unsigned int set)
{
	return set == SITE_HEAP && (double)m->hits[GT_HITS_OF(GT_PROBE_HEAP_ALLOC, false)] >
					   m->seconds * PROBES_HEAP_MAX;
}

double measured__ratio(const struct measured *m, unsigned int sets, bool stacks)
{
	struct cost_events events = no_events(m);

	for (unsigned int set = 0; set < SITE_SETS; set++) {
		if (!(sets & 1u << set) || is_sampled(m, set))
			continue;
		cost__add(&events, m->hits, set);
	}
	return 1 + cost__recording(&events, m->trap_ns, stacks) / m->own_ns;
}

double measured__rate(const struct measured *m, unsigned int set)
{
	struct cost_events events = {};

	cost__add(&events, m->hits, set);
	return (double)(events.probes + events.stepped) / m->seconds;
}

static unsigned int default_sets(const struct measured *m)
{
	return SITE_SETS_DEFAULT & m->sets;
}

/* What a set adds to the CPU time, as a percentage. */
static double added(const struct measured *m, unsigned int set)
{
	return (measured__ratio(m, 1u << set, true) - 1) * 100;
}

void measured__report(struct doctor *d, const struct measured *m)
{
	double ratio = measured__ratio(m, default_sets(m), true);
	char text[400] = "";

	if (m->seconds <= 0)
		return;
	for (unsigned int set = 0, len = 0; set < SITE_SETS && len < sizeof(text); set++)
		if (m->sets & 1u << set && (measured__rate(m, set) > 0 || set == SITE_KERNEL))
			len += (unsigned int)snprintf(
				text + len, sizeof(text) - len, "%s%s %.1f %%", len ? ", " : "",
				site_set__name((enum site_set)set), added(m, set));
	doctor__report(d, GOOD, "measured",
		       "for %.1f s: the process uses %.3f CPUs; then %.0f hits per second, %.2f us "
		       "each (%.2f us in a loop)",
		       m->seconds, m->cpus, measured__rate(m, SITE_SETS), m->trap_ns / 1e3,
		       m->loop_ns / 1e3);
	doctor__report(d, GOOD, "predicted",
		       "a recording takes %.2f times the CPU time (%.3f CPUs more), %.2f with "
		       "--no-stacks, %.2f with --events sched --no-stacks; the sets add: %s",
		       ratio, (ratio - 1) * m->cpus, measured__ratio(m, default_sets(m), false),
		       measured__ratio(m, SITE_SET(SCHED), false), text);
}

static void rates_json(struct json *j, const struct measured *m)
{
	json__open(j, "hits_per_second", '{');
	for (unsigned int probe = 0; probe < GT_PROBE_COUNT; probe++) {
		uint64_t n = m->hits[GT_HITS_OF(probe, false)] + m->hits[GT_HITS_OF(probe, true)];

		if (n)
			json__double(j, site__probe_name((enum gt_probe)probe),
				     (double)n / m->seconds);
	}
	json__double(j, "system_calls", (double)m->hits[GT_HITS_CALLS] / m->seconds);
	json__double(j, "cpu_off", (double)m->hits[GT_HITS_LEAVES] / m->seconds);
	json__double(j, "cpu_on", (double)m->hits[GT_HITS_GETS] / m->seconds);
	json__double(j, "waking", (double)m->hits[GT_HITS_WAKES] / m->seconds);
	json__close(j, '}');
}

void measured__json(struct json *j, const struct measured *m)
{
	if (m->seconds <= 0)
		return;
	json__open(j, "measured", '{');
	json__double(j, "seconds", m->seconds);
	json__double(j, "cpus", m->cpus);
	json__double(j, "hit_us", m->trap_ns / 1e3);
	json__double(j, "loop_hit_us", m->loop_ns / 1e3);
	json__double(j, "loop_stepped_us", m->stepped_ns / 1e3);
	rates_json(j, m);
	json__open(j, "added_percent", '{');
	for (unsigned int set = 0; set < SITE_SETS; set++)
		if (m->sets & 1u << set)
			json__double(j, site_set__name((enum site_set)set), added(m, set));
	json__close(j, '}');
	json__open(j, "cpu_ratio", '{');
	json__double(j, "default", measured__ratio(m, default_sets(m), true));
	json__double(j, "no_stacks", measured__ratio(m, default_sets(m), false));
	json__double(j, "sched_no_stacks", measured__ratio(m, SITE_SET(SCHED), false));
	json__close(j, '}');
	json__close(j, '}');
}
