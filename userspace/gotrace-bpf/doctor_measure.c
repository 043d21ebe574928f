// SPDX-License-Identifier: GPL-2.0
/*
 * doctor -p PID --measure TIME: what a recording would cost this process on this machine.
 *
 * For half of the time the process is only observed: its CPU time, and its reads and writes; for
 * the other half the hits of all probes are counted, by programs that do nothing else. From the CPU
 * time per read or write in both follows what a hit takes in this process: two or three times as
 * much as in a loop, because the trap disturbs its caches. cost.c has the rest of the model.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "capture/cost.h"
#include "capture/hits.h"
#include "capture/kernel_probes.h"
#include "lib/clock.h"
#include "lib/steps.h"
#include "doctor.h"

#define IO_MIN	   500 /* reads and writes that are enough to compare both halves */
#define FACTOR_MAX 4   /* a trap in a process, over one in a loop */
#define OWN_MIN	   10  /* at least a tenth of a process's CPU time is its own */

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

/* Waits, and returns what the process used meanwhile. */
static int observe(int pid, uint64_t ns, struct usage *ret)
{
	const struct timespec wait = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
	struct usage before, after;
	int err = read_usage(pid, &before);

	if (err)
		return err;
	clock_nanosleep(CLOCK_MONOTONIC, 0, &wait, NULL);
	err = read_usage(pid, &after);
	*ret = (struct usage){ after.time - before.time, after.cpu - before.cpu,
			       after.io - before.io };
	return err;
}

static int count(const struct probes_opts *opts, uint64_t ns, struct usage *used,
		 uint64_t hits[GT_HITS_COUNT], struct error *error)
{
	uint64_t before[GT_HITS_COUNT];
	struct hits *h;
	int err = hits__open(&h, opts, error);

	if (err)
		return err;
	err = hits__attach(h, error);
	if (!err)
		err = hits__read(h, before);
	if (!err)
		err = observe(opts->pid, ns, used);
	if (!err)
		err = hits__read(h, hits);
	hits__destroy(h);
	for (int i = 0; i < GT_HITS_COUNT && !err; i++)
		hits[i] -= before[i];
	return err;
}

/* What a trap takes in the process; its CPU time per read or write was that of `plain` before. */
static double trap_in_process(const struct usage *plain, const struct usage *counted,
			      const struct cost_events *events, double loop)
{
	double added, traps = cost__counting(events, 1) - cost__counting(events, 0);

	if (plain->io < IO_MIN || counted->io < IO_MIN || !traps)
		return loop;
	added = (double)counted->cpu - (double)plain->cpu * (double)counted->io / (double)plain->io;
	added = (added - cost__counting(events, 0)) / traps;
	if (added < loop)
		return loop;
	return added > loop * FACTOR_MAX ? loop * FACTOR_MAX : added;
}

static struct cost_events no_events(const struct measured *m)
{
	return (struct cost_events){ .step_ns = cost__step_ns(m->loop_ns, m->stepped_ns) };
}

static void evaluate(const struct usage *plain, const struct usage *counted, struct measured *ret)
{
	struct cost_events events = no_events(ret);
	double cpu = (double)counted->cpu;

	cost__add(&events, ret->hits, SITE_SETS);
	ret->trap_ns = trap_in_process(plain, counted, &events, ret->loop_ns);
	ret->seconds = (double)counted->time / 1e9;
	ret->cpus = (double)plain->cpu / (double)plain->time;
	ret->own_ns = cpu - cost__counting(&events, ret->trap_ns);
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
	struct usage plain, counted;
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
		err = count(&opts, d->measure_ns / 2, &counted, ret->hits, error);
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
