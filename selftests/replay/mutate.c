// SPDX-License-Identifier: GPL-2.0
/*
 * mutate: writes trace files from mutated records, which Go's reader then checks. Upstream:
 * simulate.c or raw.c, and mutations.c. Downstream: selftests/reference.
 *
 *	mutate [-n N] [-first K] [-seed S] [-records R] [-from RAWFILE] [-rings N]
 *	       [-clean [-layouts]|-losses] [-min NS] [-raw] [-broken] [-v] [-dump] -o DIR
 *
 * Writes variants K to K+N-1 of seed S, one file each (DIR/KKKKKK.trace), with the real sequencer,
 * writer and output file; trace formats and ticks alternate. Records are the simulator's, or the
 * first of a raw file. A variant depends on its seed and number only: `-n 1 -first K` repeats it.
 *
 * -clean: no mutations; compares with the simulator's counts: no repair, nothing dropped, each event
 *	as often as expected. From a raw file: all records, no repair, nothing dropped or held.
 * -losses: loses records and swaps neighbours, except in the last part; the pairs of snapshots must
 *	correct the state: at the end at most one goroutine or P in 1000 may be wrong, because of
 *	records swapped during the last pair. One variant in four lacks the system call probes.
 * -raw: also writes a raw file and replays it; the trace must be identical. -broken: mutates the
 *	bytes of that file instead of the records; the trace is that of its replay.
 * -rings: distributes the records over N rings, which are drained one after the other. -layouts:
 *	does so with 1, 8 and 64; the traces must be identical. There each watermark comes late, by
 *	what a derived record may be earlier than its hit: up to the first one the sequencer takes
 *	no account of that, and which one is the first depends on the rings.
 * -min: leaves out system calls that are shorter; the counts are those of all others.
 * -v: prints the mutations; -dump: prints the records.
 *
 * Exit status: 0; 1 if the sequencer failed, used too much memory, or a count was wrong; 2: usage.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "gotrace/config.h"
#include "rawfile/rawfile.h"
#include "sequence/sequencer_impl.h"
#include "sequence/sequencer.h"
#include "writer/output_file.h"
#include "../copied_snapshots.h"
#include "mutations.h"
#include "raw.h"
#include "rings.h"
#include "rng.h"
#include "simulate.h"

#define SECONDS_MAX    20	    /* for one variant: more is a hang */
#define MEMORY_MAX_KIB (384 * 1024) /* of all variants together; ASan quarantines memory */

struct settings {
	uint64_t seed, first, n, min_ns;
	unsigned int records, rings;
	bool clean, losses, layouts, raw, broken, verbose, dump;
	const char *folder, *from;
};

struct variant {
	uint64_t number, rng;
	unsigned int version, tick;
	uint64_t min_ns; /* struct sequencer_opts */
	uint32_t late;	 /* ns from a time to its watermark */
	struct sim_opts sim;
	struct sim_run run;
	char mutations[320];
	struct trace_file *file;
	struct intern *intern;
	struct writer *writer;
	struct sequencer *seq;
	struct layout layout;
	struct rawfile *raw; /* NULL: none is written */
};

static const uint64_t wall_ns = 1700000000000000000ull;
static const char *const releases[] = { "go1.24.9", "go1.26.0" }; /* by sim.tentative */

/* Per entry, the earliest true time of all later entries: the watermark of a drain there. */
static uint64_t *safe_times(const struct sim_run *run)
{
	uint64_t *safe = malloc((run->n + 1) * sizeof(*safe));

	if (!safe)
		return NULL;
	safe[run->n] = run->t1;
	for (size_t i = run->n; i-- > 0;)
		safe[i] = run->entry[i].at < safe[i + 1] ? run->entry[i].at : safe[i + 1];
	return safe;
}

/* Progress of the later pairs of snapshots. */
struct feeding {
	unsigned int pair;
	bool decided, wanted;
	uint64_t covered; /* sequencer__go_losses() at the pair before */
	uint64_t begun;	  /* time of that */
};

/* Each call also goes to the raw file, as in capture/sink.c. */
static int give_record(struct variant *v, const struct sim_entry *e)
{
	sequencer__record(v->seq, e->ring, &e->rec, e->size);
	return v->raw ? rawfile__record(v->raw, e->ring, &e->rec, e->size) : 0;
}

static int give_snapshots(struct variant *v)
{
	const struct snapshot *first = v->run.first.time_end ? &v->run.first : NULL;
	const struct snapshot *second = v->run.second.time_end ? &v->run.second : NULL;
	int err = v->raw ? rawfile__snapshot(v->raw, first, second) : 0;

	return err ?: sequencer__snapshot(v->seq, first, second);
}

/* The probes' counters at a time, as the recorder reads them now and then. */
static int give_counters(struct variant *v, uint64_t time)
{
	uint64_t count[GT_KIND_END] = {};
	int err = 0;

	for (size_t i = 0; i < v->run.nlost; i++)
		if (v->run.lost[i].at <= time && v->run.lost[i].kind < GT_KIND_END)
			count[v->run.lost[i].kind]++;
	for (unsigned int kind = 0; !err && kind < GT_KIND_END; kind++) {
		if (!count[kind])
			continue;
		sequencer__lost(v->seq, kind, count[kind]);
		err = v->raw ? rawfile__lost(v->raw, kind, count[kind]) : 0;
	}
	return err;
}

static bool lost_between(const struct variant *v, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < v->run.nlost; i++)
		if (v->run.lost[i].at > from && v->run.lost[i].at <= to)
			return true;
	return false;
}

/* Passes a pair that was begun because of a loss, once the stream has passed it. */
static int give_pairs(struct variant *v, struct feeding *f, uint64_t safe)
{
	const struct snapshot *two = f->pair < SIM_PAIRS ? v->run.again[f->pair] : NULL;
	int err;

	if (!two || !two[1].time_end)
		return 0;
	if (!f->decided && safe > two[0].time) {
		f->decided = true;
		/* it may have become known later: what the recorder knew then is unknown */
		f->wanted = sequencer__go_losses(v->seq) > f->covered ||
			    lost_between(v, f->begun, two[0].time);
		f->begun = two[0].time;
		f->covered = sequencer__go_losses(v->seq);
	}
	if (!f->decided || safe <= two[1].time_end)
		return 0;
	err = f->wanted ? sequencer__resnapshot(v->seq, &two[0], &two[1]) : 0;
	if (err)
		return err == -EAGAIN ? 0 : err;
	if (f->wanted && v->raw)
		err = rawfile__resnapshot(v->raw, &two[0], &two[1]);
	f->pair++;
	f->decided = false;
	return err;
}

static int give_watermark(struct variant *v, uint64_t time)
{
	int err;

	if (time <= v->late)
		return 0;
	time -= v->late;
	err = v->raw ? rawfile__watermark(v->raw, time) : 0;
	return err ?: sequencer__watermark(v->seq, time);
}

static int finish(struct variant *v)
{
	int err = v->raw ? rawfile__finish(v->raw, v->run.t1, &sim_symbolizer) : 0;

	return err ?: sequencer__finish(v->seq, v->run.t1);
}

/* Passes all records in the rings, and a watermark. */
static int drain(struct variant *v, struct feeding *f, size_t from, size_t to, uint64_t watermark,
		 bool *given)
{
	int err = 0;

	for (size_t i = rings__next(&v->run, from, to, SIZE_MAX); i < to && !err;
	     i = rings__next(&v->run, from, to, i))
		err = give_record(v, &v->run.entry[i]);
	if (!*given && watermark >= v->run.second.time_end) {
		err = err ?: give_snapshots(v);
		*given = true;
	} else if (*given) {
		err = err ?: give_counters(v, watermark);
		err = err ?: give_pairs(v, f, watermark);
	}
	return err ?: give_watermark(v, watermark);
}

/* Passes records and watermarks, as the recorder's main loop does. */
static int feed(struct variant *v)
{
	uint64_t *safe = safe_times(&v->run);
	bool given = false;
	struct feeding f = {};
	int err = safe ? sequencer__start(v->seq, v->run.t0, wall_ns) : -ENOMEM;

	for (size_t i = 0, next; !err && i < v->run.n; i = next) {
		next = i + 1 + rng__below(&v->rng, v->run.nlost ? 8 : 200);
		if (next > v->run.n)
			next = v->run.n;
		err = drain(v, &f, i, next, safe[next] - 1, &given);
	}
	if (!err && !given)
		err = give_snapshots(v);
	for (unsigned int i = 0; i < SIM_PAIRS && !err; i++) {
		err = give_counters(v, v->run.t1);
		err = err ?: give_pairs(v, &f, v->run.t1);
		err = err ?: give_watermark(v, v->run.t1 - SIM_PAIRS + i);
	}
	free(safe);
	return err ?: finish(v);
}

/* DIR/KKKKKK.trace, and the variant's other files. */
static const char *path_of(const struct variant *v, const char *folder, const char *suffix,
			   char path[4096])
{
	snprintf(path, 4096, "%s/%06llu.%s", folder, (unsigned long long)v->number, suffix);
	return path;
}

static int open_trace(struct variant *v, const char *path, struct symbolizer symbolizer)
{
	struct sequencer_opts opts = { .symbolizer = symbolizer };
	struct go_version release;
	struct error error = {};
	int err;

	if (!go_version__parse(releases[v->sim.tentative], &release) ||
	    layout__for_version(&release, &v->layout, &error))
		return -EINVAL;
	err = trace_file__open(&v->file, path, FILE_ANY);
	if (err)
		return err;
	v->intern = intern__create();
	v->writer =
		writer__create(v->file, v->intern, &(struct writer_opts){ v->version, v->tick });
	opts.writer = v->writer;
	opts.intern = v->intern;
	opts.layout = &v->layout;
	opts.version = v->version;
	opts.tick_ns = v->tick;
	opts.no_syscalls = v->sim.no_syscalls;
	opts.min_call_ns = v->min_ns;
	return v->intern && v->writer ? sequencer__create(&v->seq, &opts) : -ENOMEM;
}

static int open_raw(struct variant *v, const char *path)
{
	struct raw_header facts = { .t0 = v->run.t0, .wall_ns = wall_ns, .flags = RAW_STACKS };
	int err = rawfile__create(&v->raw, path, &(struct error){});

	snprintf(facts.go_version, sizeof(facts.go_version), "%s", releases[v->sim.tentative]);
	return err ?: rawfile__start(v->raw, &facts);
}

static void close_all(struct variant *v)
{
	sequencer__destroy(v->seq);
	writer__destroy(v->writer);
	intern__destroy(v->intern);
	trace_file__destroy(v->file);
	rawfile__destroy(v->raw);
	sim_run__deinit(&v->run);
}

static int wrong(const struct variant *v, const char *what, uint64_t have, uint64_t want)
{
	printf("variant %llu: %s: %llu, must be %llu\n", (unsigned long long)v->number, what,
	       (unsigned long long)have, (unsigned long long)want);
	return 1;
}

/*
 * Checks a complete recording. No counts for one that began in the middle of the program, or for a
 * raw file, where they are unknown.
 */
static int check_clean(const struct variant *v, bool simulated)
{
	const struct sequencer_stats *stats = sequencer__stats(v->seq);
	const struct writer_stats *written = writer__stats(v->writer);
	int bad = 0;

	if (stats->repairs)
		bad |= wrong(v, "repairs", stats->repairs, 0);
	if (stats->dropped)
		bad |= wrong(v, "dropped", stats->dropped, 0);
	if (stats->holes || stats->bad_records || stats->stack_misses)
		bad |= wrong(v, "holes and bad records", stats->holes + stats->bad_records, 0);
	if (stats->text_misses)
		bad |= wrong(v, "text misses", stats->text_misses, 0);
	if (simulated && written->by_type[EV_CPU_SAMPLE] != v->run.expect[EV_CPU_SAMPLE])
		bad |= wrong(v, "CPU samples", written->by_type[EV_CPU_SAMPLE],
			     v->run.expect[EV_CPU_SAMPLE]);
	for (unsigned int type = 1; type < EV_END && simulated && !v->sim.cut; type++) {
		const struct ev_spec *spec = spec__event(type);
		uint64_t want = v->run.expect[type] + (type == EV_PROCS_CHANGE);

		if (!spec || !spec->timed || type == EV_PROC_STATUS || type == EV_GO_STATUS ||
		    type == EV_GO_STATUS_STACK || type == EV_CLOCK_SNAPSHOT ||
		    type == EV_GC_ACTIVE) /* like statuses, once per generation */
			continue;
		if (type == EV_GO_SYSCALL_BEGIN || type == EV_GO_SYSCALL_END)
			want -= stats->short_calls;
		if (written->by_type[type] != want)
			bad |= wrong(v, spec->name, written->by_type[type], want);
	}
	return bad;
}

static struct {
	uint64_t all, wrong;
} truth_count; /* goroutines and Ps of all variants */

static void compare_one(const struct settings *set, const struct variant *v, const char *what,
			uint64_t which, uint64_t have, uint64_t want)
{
	truth_count.all++;
	if (have == want)
		return;
	truth_count.wrong++;
	if (set->verbose)
		printf("variant %llu: %s %llu: %llu, must be %llu\n", (unsigned long long)v->number,
		       what, (unsigned long long)which, (unsigned long long)have,
		       (unsigned long long)want);
}

/* State and thread in one number. */
static uint64_t state_and_thread(uint32_t state, uint32_t tid)
{
	return (uint64_t)state << 32 | tid;
}

static uint32_t tid_of(const struct snapshot *snap, uint64_t m)
{
	for (size_t i = 0; m && i < snap->nm; i++)
		if (snap->m[i].addr == m)
			return snap->m[i].tid;
	return 0;
}

/* A pair followed the last loss: all live goroutines and Ps must be known again. */
static void check_final_state(const struct settings *set, const struct variant *v)
{
	const struct snapshot *truth = &v->run.truth;
	struct map alive = {};
	void *value;

	for (size_t i = 0; i < truth->ng; i++) {
		const struct snapshot_g *want = &truth->g[i];
		const struct goroutine *g = map__get(&v->seq->model.by_id, want->goid);

		map__put(&alive, want->goid, (void *)want);
		compare_one(set, v, "goroutine", want->goid,
			    g ? state_and_thread(g->state, g->m ? g->m->tid : 0) : 0,
			    state_and_thread(want->status, tid_of(truth, want->m)));
	}
	for (size_t i = 0; map__next(&v->seq->model.by_id, &i, &value);) {
		const struct goroutine *g = value;

		if (!map__get(&alive, g->id))
			compare_one(set, v, "ended goroutine", g->id, g->state, 0);
	}
	map__deinit(&alive);
	for (size_t i = 0; i < truth->nm; i++) {
		const struct snapshot_m *want = &truth->m[i];
		const struct thread *t = map__get(&v->seq->model.threads, want->tid);

		if (want->p && !(t && t->g && t->g->state == GO_SYSCALL))
			compare_one(set, v, "the P of thread", want->tid,
				    t && t->p ? t->p->addr : 0, want->p);
	}
}

static void describe(const struct variant *v)
{
	const struct sequencer_stats *s = sequencer__stats(v->seq);

	printf("variant %llu: go %s, version 1.%u, tick %u%s: %s; %llu records, %llu repairs, "
	       "%llu dropped, %llu held, %llu generations\n",
	       (unsigned long long)v->number, v->sim.tentative ? "1.26" : "1.24", v->version,
	       v->tick, v->sim.cut ? ", from the middle" : "", v->mutations,
	       (unsigned long long)s->records, (unsigned long long)s->repairs,
	       (unsigned long long)s->dropped, (unsigned long long)s->held,
	       (unsigned long long)writer__stats(v->writer)->generations);
}

/* Prints the records that the sequencer gets, with times from the window's start. */
static void dump(const struct variant *v)
{
	printf("snapshots at %lld and %lld, end %lld\n", (long long)(v->run.first.time - v->run.t0),
	       (long long)(v->run.second.time - v->run.t0), (long long)(v->run.t1 - v->run.t0));
	for (size_t i = 0; i < v->run.n; i++) {
		const struct sim_entry *e = &v->run.entry[i];
		const uint64_t *arg = (const uint64_t *)e->payload;

		printf("%zu ring %u size %u: %lld tid %u kind %u object %llx: %llx %llx %llx\n", i,
		       e->ring, e->size, (long long)(e->rec.time - v->run.t0), e->rec.tid,
		       e->rec.kind, (unsigned long long)e->rec.object, (unsigned long long)arg[0],
		       (unsigned long long)arg[1], (unsigned long long)arg[2]);
	}
}

/* Replays the variant's raw file into another trace. *error: the reason if it cannot be opened. */
static int replay(const struct variant *v, const char *raw, const char *trace, struct error *error)
{
	struct variant again = {
		.number = v->number,
		.version = v->version,
		.tick = v->tick,
		.min_ns = v->min_ns,
		.sim = v->sim,
	};
	struct symbolizer symbolizer;
	struct replay *r = NULL;
	int err = replay__open(&r, raw, error);

	if (err)
		return err;
	replay__symbolizer(r, &symbolizer);
	err = open_trace(&again, trace, symbolizer);
	err = err ?: replay__run(r, again.seq);
	err = err ?: trace_file__commit(again.file);
	close_all(&again);
	replay__destroy(r);
	return err;
}

/* A complete raw file must make the same trace. */
static int replay_whole(const struct variant *v, const char *folder)
{
	char raw[4096], trace[4096], second[4096];
	struct error error = {};
	int err = replay(v, path_of(v, folder, "raw", raw), path_of(v, folder, "replay", second),
			 &error);

	if (!err && !raw__same_bytes(path_of(v, folder, "trace", trace), second)) {
		printf("variant %llu: %s is not %s\n", (unsigned long long)v->number, second,
		       trace);
		return 1;
	}
	unlink(raw);
	unlink(second);
	return err;
}

/* Repeats the variant with another number of rings: the trace must be the same. */
static int same_in_layout(const struct variant *v, const char *folder, uint64_t rng,
			  unsigned int rings)
{
	struct variant again = *v;
	char trace[4096], other[4096];
	int err;

	again.rng = rng;
	again.seq = NULL;
	again.raw = NULL;
	rings__assign(&again.run, rings);
	path_of(v, folder, "layout", other);
	err = open_trace(&again, other, sim_symbolizer);
	err = err ?: feed(&again);
	err = err ?: trace_file__commit(again.file);
	again.run = (struct sim_run){}; /* owned by v */
	close_all(&again);
	if (!err && !raw__same_bytes(path_of(v, folder, "trace", trace), other)) {
		printf("variant %llu: with %u rings, %s is not %s\n", (unsigned long long)v->number,
		       rings, other, trace);
		return 1;
	}
	unlink(other);
	return err;
}

static int same_in_layouts(struct variant *v, const char *folder, uint64_t rng)
{
	static const unsigned int rings[] = { 1, 8, GT_RINGS_MAX };
	int err = 0;

	for (unsigned int i = 0; i < 3 && !err; i++)
		err = same_in_layout(v, folder, rng, rings[i]);
	return err;
}

/* A corrupt raw file is rejected with a reason, or makes another trace. */
static int replay_broken(struct variant *v, const char *folder)
{
	char raw[4096], trace[4096];
	struct error error = {};
	int err;

	path_of(v, folder, "raw", raw);
	err = raw__break(raw, rng__next(&v->rng), v->mutations, sizeof(v->mutations));
	err = err ?: replay(v, raw, path_of(v, folder, "trace", trace), &error);
	if (err == -EINVAL && error.text[0])
		err = 0;
	if (!err)
		unlink(raw);
	return err;
}

static int make_run(const struct settings *set, struct variant *v)
{
	size_t records = set->clean ? SIZE_MAX : v->sim.records;
	int err = set->from ? raw__load(&v->run, set->from, records, &v->sim.tentative) :
			      simulate(&v->run, &v->sim);

	if (!err && set->rings)
		rings__assign(&v->run, set->rings);
	if (err || set->clean || (set->broken && !set->losses))
		return err;
	if (set->losses)
		return lose_run(&v->run, v->run.again[SIM_PAIRS - 1][0].time - 150000000,
				rng__next(&v->rng), v->mutations, sizeof(v->mutations));
	return mutate_run(&v->run, rng__next(&v->rng), v->mutations, sizeof(v->mutations));
}

static int make_files(const struct settings *set, struct variant *v)
{
	uint64_t rng = v->rng;
	char path[4096];
	int err = open_trace(v, path_of(v, set->folder, "trace", path), sim_symbolizer);

	if (!err && (set->raw || set->broken))
		err = open_raw(v, path_of(v, set->folder, "raw", path));
	err = err ?: feed(v);
	err = err ?: trace_file__commit(v->file);
	if (!err && set->raw)
		err = replay_whole(v, set->folder);
	if (!err && set->layouts)
		err = same_in_layouts(v, set->folder, rng);
	if (!err && set->broken)
		err = replay_broken(v, set->folder);
	return err;
}

static int run_variant(const struct settings *set, uint64_t number)
{
	static const unsigned int versions[] = { 22, 23, 25, 26 };
	struct variant v = { .number = number, .rng = set->seed ^ number << 32 };
	int err;

	rng__next(&v.rng);
	v.version = versions[number % 4];
	v.tick = number / 4 % 2 ? 64 : 1;
	v.min_ns = set->min_ns;
	v.late = set->layouts ? GT_DERIVED_NS_MAX : 0;
	v.sim = (struct sim_opts){
		.seed = rng__next(&v.rng),
		.version = v.version,
		.tentative = number / 8 % 2,
		.cut = number / 16 % 2,
		.derives = number / 32 % 2,
		.records = set->records / 4 + rng__below(&v.rng, set->records),
		.no_syscalls = set->losses && rng__below(&v.rng, 4) == 0,
	};
	alarm(SECONDS_MAX);
	err = make_run(set, &v);
	if (set->dump)
		dump(&v);
	err = err ?: make_files(set, &v);
	if (err)
		fprintf(stderr, "variant %llu: %s (%s)\n", (unsigned long long)number,
			err < 0 ? strerror(-err) : "wrong", v.mutations);
	else if (set->clean)
		err = check_clean(&v, !set->from);
	else if (set->losses && !set->broken &&
		 !v.sim.no_syscalls) /* else much is guessed even without a loss */
		check_final_state(set, &v);
	if (v.seq && (set->verbose || err))
		describe(&v);
	close_all(&v);
	return err;
}

static int usage(void)
{
	fputs("usage: mutate [-n N] [-first K] [-seed S] [-records R] [-from RAWFILE] "
	      "[-rings N] [-clean [-layouts]|-losses] [-min NS] [-raw] [-broken] [-v] [-dump] -o DIR\n",
	      stderr);
	return 2;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "n", required_argument, NULL, 'n' },
		{ "first", required_argument, NULL, 'f' },
		{ "seed", required_argument, NULL, 's' },
		{ "records", required_argument, NULL, 'r' },
		{ "min", required_argument, NULL, 'm' },
		{ "rings", required_argument, NULL, 'g' },
		{ "clean", no_argument, NULL, 'c' },
		{ "losses", no_argument, NULL, 'l' },
		{ "layouts", no_argument, NULL, 'y' },
		{ "raw", no_argument, NULL, 'R' },
		{ "broken", no_argument, NULL, 'b' },
		{ "v", no_argument, NULL, 'v' },
		{ "from", required_argument, NULL, 'F' },
		{ "dump", no_argument, NULL, 'd' },
		{ "o", required_argument, NULL, 'o' },
		{},
	};
	struct settings set = { .seed = 1, .n = 100, .records = 1200 };
	struct rusage use;
	bool failed = false;
	int c;

	while ((c = getopt_long_only(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'n':
			set.n = strtoull(optarg, NULL, 0);
			break;
		case 'f':
			set.first = strtoull(optarg, NULL, 0);
			break;
		case 's':
			set.seed = strtoull(optarg, NULL, 0);
			break;
		case 'r':
			set.records = strtoul(optarg, NULL, 0);
			break;
		case 'm':
			set.min_ns = strtoull(optarg, NULL, 0);
			break;
		case 'g':
			set.rings = strtoul(optarg, NULL, 0);
			break;
		case 'c':
			set.clean = true;
			break;
		case 'l':
			set.losses = true;
			break;
		case 'y':
			set.layouts = true;
			break;
		case 'R':
			set.raw = true;
			break;
		case 'b':
			set.broken = true;
			break;
		case 'v':
			set.verbose = true;
			break;
		case 'F':
			set.from = optarg;
			break;
		case 'd':
			set.dump = true;
			break;
		case 'o':
			set.folder = optarg;
			break;
		default:
			return usage();
		}
	}
	if (!set.folder || optind != argc || !set.records || set.rings > GT_RINGS_MAX ||
	    (set.broken && (set.raw || set.clean || set.layouts)) ||
	    (set.losses && (set.from || set.clean || set.layouts)))
		return usage();
	for (uint64_t i = 0; i < set.n; i++)
		failed |= run_variant(&set, set.first + i) != 0;
	if (set.losses) {
		printf("after losses: %llu of %llu goroutines and Ps are not as they should be\n",
		       (unsigned long long)truth_count.wrong, (unsigned long long)truth_count.all);
		/* with few variants the share of wrong ones has no meaning */
		failed |= truth_count.wrong > truth_count.all / 1000 + 8;
	}
	getrusage(RUSAGE_SELF, &use);
	printf("%llu variants, peak memory %ld KiB\n", (unsigned long long)set.n, use.ru_maxrss);
	return failed || use.ru_maxrss > MEMORY_MAX_KIB;
}
