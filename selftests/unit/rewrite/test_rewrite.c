// SPDX-License-Identifier: GPL-2.0
/*
 * Rewritten traces: whole ones, parts, other versions. test_rewrite_v1.c tests v1 events.
 */
#include "unit/test.h"
#include "format/private_read.h"
#include "reader/semantics.h"
#include "reader/start_functions.h"
#include "rewrite/rewrite.h"

#include "unit/rewrite_fixture.h"

FIXTURE(NULL, stop)
static void assert_same(const struct seen *a, const struct seen *b)
{
	if (memcmp(a, b, sizeof(*a)))
		fail_msg("%s at %ld is not %s at %ld", spec__event(b->type)->name, b->time,
			 spec__event(a->type)->name, a->time);
}

TEST(whole_traces_are_unchanged)
{
	static const unsigned int versions[] = { 22, 23, 25, 26 };
	static struct seen_list a, b;

	for (size_t i = 0; i < 4; i++) {
		const char *path = write_example(versions[i]);

		read_all(path, &a);
		read_all(part(path, versions[i], INT64_MIN, 0), &b);
		assert_int_equal(a.n, b.n);
		for (size_t j = 0; j < a.n; j++)
			assert_same(&a.at[j], &b.at[j]);
		assert_int_equal(a.syncs, b.syncs);
		assert_memory_equal(a.sync, b.sync, sizeof(a.sync));
		assert_memory_equal(a.clock, b.clock, sizeof(a.clock));
		assert_int_equal(stats.left_out, 0);
		assert_int_equal(stats.inserted, 0);
	}
}

/* Events that a part may lack: the prologue reports them or cannot, or they are half in it. */
static bool may_lack(const struct seen *s)
{
	return s->type == EV_GC_ACTIVE || s->type == EV_GC_MARK_ASSIST_ACTIVE ||
	       s->type == EV_GC_SWEEP_ACTIVE || s->type == EV_STW_END || s->extra ||
	       s->type == EV_GO_DESTROY_SYSCALL;
}

static void keep_certain(struct seen_list *list, int64_t from, int64_t to)
{
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++)
		if (list->at[i].time >= from && list->at[i].time < to && !may_lack(&list->at[i]))
			list->at[n++] = list->at[i];
	list->n = n;
}

static void compare_part(const struct seen_list *all, struct seen_list *cut, int64_t from,
			 int64_t to)
{
	static struct seen_list want;

	want = *all;
	keep_certain(&want, from, to);
	keep_certain(cut, from, INT64_MAX);
	assert_int_equal(want.n, cut->n);
	for (size_t i = 0; i < want.n; i++)
		assert_same(&want.at[i], &cut->at[i]);
}

TEST(every_part_is_a_valid_trace)
{
	static struct seen_list all, cut;
	char path[256];
	size_t i, j;

	strcpy(path, write_example(25));
	read_all(path, &all);
	for (i = 0; i < all.n; i++) {
		for (j = i + 1; j < all.n; j += 23) {
			int64_t from = all.at[i].time, to = all.at[j].time;

			read_all(part(path, 25, from, to), &cut);
			assert_int_equal(stats.left_out, 0);
			assert_true(from < 1020 || cut.n >= 8); /* goroutines and Ps */
			compare_part(&all, &cut, from, to);
		}
	}
}

static const struct seen *find(const struct seen_list *list, enum ev type, uint64_t arg0)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->at[i].type == type && list->at[i].arg[0] == arg0)
			return &list->at[i];
	return NULL;
}

static uint64_t sum_of_frame(const char *name, const char *file, uint64_t line)
{
	uint64_t pc = sum_of(1, name, strlen(name)), sum = sum_of(1, &pc, sizeof(pc));

	sum = sum_of(sum, &line, sizeof(line));
	sum = sum_of(sum, name, strlen(name));
	return sum_of(sum, file, strlen(file));
}

/* A part that begins within a stop-the-world pause, a sweep, an assist and a GC cycle. */
TEST(prologue_reports_open_state)
{
	static struct seen_list cut;
	const struct seen *g;

	read_all(part(write_example(25), 25, 1070, 1085), &cut);
	assert_non_null(find(&cut, EV_GC_ACTIVE, 0));
	assert_non_null(find(&cut, EV_GC_MARK_ASSIST_ACTIVE, 2));
	assert_null(find(&cut, EV_GC_SWEEP_ACTIVE, 0));
	assert_null(find(&cut, EV_STW_END, 0));
	assert_non_null(find(&cut, EV_USER_TASK_BEGIN, 77));
	assert_int_equal(cut.syncs, 2);
	/* Everything before 1070, so that later events keep their times. */
	assert_true(cut.sync[0] < 1070 - 11);
	assert_true(cut.sync[0] > 1070 - 20);
	/* Goroutines keep the start functions that the trace contains. */
	g = find(&cut, EV_GO_STATUS_STACK, 4);
	assert_non_null(g);
	assert_true(g->arg[3] == sum_of_frame("four", "b.go", 9));
	assert_int_equal(g->arg[2], GO_RUNNING);
	g = find(&cut, EV_GO_STATUS_STACK, 5);
	assert_true(g && g->arg[3] == sum_of_frame("five", "b.go", 9));
	assert_non_null(find(&cut, EV_GO_STATUS, 2));
	read_all(part(write_example(25), 25, 1160, 0), &cut);
	assert_non_null(find(&cut, EV_GC_SWEEP_ACTIVE, 2));
}

/* ... and its clocks are those of its start. */
TEST(clocks_are_those_of_the_start)
{
	static struct seen_list cut;

	read_all(part(write_example(25), 25, 1070, 1085), &cut);
	assert_true(cut.clock[0].known);
	assert_int_equal(cut.clock[0].time, cut.sync[0]);
	assert_int_equal(cut.clock[0].mono, cut.sync[0]);
	assert_int_equal(cut.clock[0].sec, 5000);
	assert_int_equal(cut.clock[0].nsec, cut.sync[0]);
}

/* A part that begins in a later second of the wall clock than its trace. */
TEST(clock_in_a_later_second)
{
	const char *path = scratch("second");
	static struct seen_list cut;

	start_at(path, 25, 1);
	ok(writer__open(x.w, 1000, 5999999999900)); /* 100 ns before the next second */
	ok(writer__proc_status(x.w, 10, 0, PROC_RUNNING));
	put(10, 1050, EV_HEAP_ALLOC, 1, 0, 0);
	put(10, 1500, EV_HEAP_ALLOC, 2, 0, 0);
	ok(writer__close(x.w));
	assert_int_equal(trace_file__commit(x.file), 0);
	stop(NULL);
	read_all(part(path, 25, 1400, 1600), &cut);
	assert_true(cut.sync[0] > 1100);
	assert_int_equal(cut.clock[0].time, cut.sync[0]);
	assert_int_equal(cut.clock[0].mono, cut.sync[0]);
	assert_int_equal(cut.clock[0].sec, 6000);
	assert_int_equal(cut.clock[0].nsec, cut.sync[0] - 1100);
}

/* A generation from 1000 on, at `wall`, with three events. */
static const char *write_clock(uint64_t wall)
{
	const char *path = scratch("clock");

	start_at(path, 25, 1);
	ok(writer__open(x.w, 1000, wall));
	ok(writer__proc_status(x.w, 10, 0, PROC_RUNNING));
	ok(writer__go_status(x.w, 10, 1, GO_RUNNING, 0));
	put(10, 1100, EV_GO_SYSCALL_BEGIN, 1, 0, 0);
	put(10, 1200, EV_GO_SYSCALL_END, 0, 0, 0);
	put(10, 1300, EV_GO_SYSCALL_BEGIN, 2, 0, 0);
	ok(writer__close(x.w));
	assert_int_equal(trace_file__commit(x.file), 0);
	stop(NULL);
	return path;
}

/* The wall clock of a part that begins in the next second, exactly at its start or before it. */
TEST(wall_clock_crosses_a_second)
{
	static struct seen_list cut;
	uint64_t late, wall;

	read_all(part(write_clock(5000000000000), 25, 1250, 0), &cut);
	late = (uint64_t)cut.sync[0] - 1000;
	assert_true(late > 1 && late < 250);
	for (uint64_t past = 0; past < 4; past++) { /* ns after the start of the second, minus 1 */
		wall = 5001000000000 - late + past - 1;
		read_all(part(write_clock(wall), 25, 1250, 0), &cut);
		assert_int_equal(cut.clock[0].time, 1000 + late);
		assert_int_equal(cut.clock[0].mono, 1000 + late);
		assert_int_equal(cut.clock[0].sec, past ? 5001 : 5000);
		assert_int_equal(cut.clock[0].nsec, past ? past - 1 : 999999999);
	}
}

/* Goroutines that end in system calls: 20 with a P, which is stolen; 7 without. */
static const char *write_ends(void)
{
	const char *path = scratch("ends");

	start_at(path, 25, 1);
	ok(writer__open(x.w, 1000, 5000000001000));
	ok(writer__proc_status(x.w, 10, 0, PROC_RUNNING));
	ok(writer__go_status(x.w, 10, 1, GO_RUNNING, 0));
	ok(writer__proc_status(x.w, 14, 1, PROC_SYSCALL));
	ok(writer__go_status(x.w, 14, 20, GO_SYSCALL, 0));
	ok(writer__go_status(x.w, 13, 7, GO_SYSCALL, 0));
	put(14, 1200, EV_GO_DESTROY_SYSCALL, 0, 0, 0);
	put(10, 1300, EV_PROC_STEAL, 1, 1, 14);
	put(13, 1500, EV_GO_DESTROY_SYSCALL, 0, 0, 0);
	put(10, 1600, EV_GO_SYSCALL_BEGIN, 1, 0, 0);
	ok(writer__close(x.w));
	assert_int_equal(trace_file__commit(x.file), 0);
	stop(NULL);
	return path;
}

/* The i-th end in a system call. */
static const struct seen *nth_end(const struct seen_list *list, unsigned int i)
{
	for (size_t k = 0; k < list->n; k++)
		if (list->at[k].type == EV_GO_DESTROY_SYSCALL && !i--)
			return &list->at[k];
	fail_msg("no such end");
	return NULL;
}

/*
 * The steal derived from an end precedes it, at its time in the file. A part that begins just there
 * has both at their times; one that begins between them has nothing before its start.
 */
TEST(derived_steals_keep_their_times)
{
	static struct seen_list all, cut;
	const struct seen *with_p, *without;

	read_all(write_ends(), &all);
	with_p = nth_end(&all, 0);
	without = nth_end(&all, 1);
	assert_true(with_p[-1].extra && with_p[-1].time < with_p->time);
	assert_int_equal(with_p[-1].time, 1200);
	assert_int_equal(without->time, 1500);
	read_all(part(write_ends(), 25, INT64_MIN, 0), &cut);
	assert_int_equal(nth_end(&cut, 0)->time, with_p->time);
	assert_int_equal(nth_end(&cut, 1)->time,
			 1500); /* and not the time of the event derived from the first */
	read_all(part(write_ends(), 25, with_p[-1].time, 0), &cut);
	assert_int_equal(nth_end(&cut, 0)->time, with_p->time);
	read_all(part(write_ends(), 25, with_p->time, 0), &cut);
	assert_true(nth_end(&cut, 0)->time > with_p->time);
}

/* Without coroutines, which 1.22 cannot contain. */
static const char *write_plain(unsigned int version)
{
	const char *path = scratch("plain");

	start_at(path, version, 1);
	first_generation();
	second_generation(22);
	ok(trace_file__commit(x.file));
	stop(NULL);
	return path;
}

static void expect_equal(const struct seen_list *list, const struct seen_list *want)
{
	assert_int_equal(list->n, want->n);
	for (size_t i = 0; i < list->n; i++)
		assert_memory_equal(&list->at[i], &want->at[i], sizeof(list->at[i]));
	assert_int_equal(list->syncs, want->syncs);
	for (size_t i = 0; i < list->syncs; i++) {
		assert_int_equal(list->clock[i].known, want->clock[i].known);
		assert_int_equal(list->clock[i].time, want->clock[i].time);
		assert_int_equal(list->clock[i].mono, want->clock[i].mono);
		assert_int_equal(list->clock[i].sec, want->clock[i].sec);
		assert_int_equal(list->clock[i].nsec, want->clock[i].nsec);
	}
}

/* Clocks and the stacks of statuses are in the private data of versions that have no event for them. */
TEST(older_versions_keep_clocks_and_stacks)
{
	static struct seen_list want, list;
	char path[64];

	read_all(write_plain(25), &want);
	assert_int_equal(want.clock[1].nsec, 2000);
	for (unsigned int version = 22; version <= 23; version++) {
		read_all(part(write_plain(version), 25, INT64_MIN, 0), &list);
		expect_equal(&list, &want);
		snprintf(path, sizeof(path), "%s", part(write_plain(25), version, INT64_MIN, 0));
		read_all(part(path, 25, INT64_MIN, 0), &list);
		expect_equal(&list, &want);
		snprintf(path, sizeof(path), "%s",
			 part(write_plain(version), version, INT64_MIN, 0));
		read_all(part(path, 25, INT64_MIN, 0), &list);
		expect_equal(&list, &want);
	}
}

/* As Go's reader delivers them: without what is in private data */
TEST(older_versions_as_go)
{
	struct error err = {};
	struct trace_event ev;
	struct semantics m;
	struct reader *r;
	struct input *in;

	for (unsigned int as_go = 0; as_go < 2; as_go++) {
		unsigned int clocks = 0, stacks = 0;

		ok(input__open(&in, write_plain(22), &err));
		ok(reader__open(&r, in, &(struct reader_opts){ .as_go = as_go }, &err));
		while (reader__next(r, &ev, &err) > 0) {
			semantics__of(&ev, &m);
			clocks += ev.type == EV_SYNC && ev.sync->clock.known;
			if (ev.type == EV_GO_STATUS && m.stack) {
				stacks++;
				assert_int_equal(m.transition_stack, m.stack);
				assert_true(dictionary__frames(ev.dictionary, m.stack) == 2);
				assert_true(ev.arg[0] == 1 || ev.arg[0] == 4);
			}
		}
		reader__destroy(r);
		assert_int_equal(clocks, as_go ? 0 : 2);
		assert_int_equal(stacks, as_go ? 0 : 2);
	}
}

/* Traces of older recorders have no snapshot, but the time base of each generation. */
TEST(clocks_from_ticks)
{
	static struct seen_list list;
	const char *path = scratch("ticks");

	start_at(path, 22, 1);
	ok(writer__open(x.w, 1000, 0));
	ok(private__ticks(x.w, 64, 1000, 5000000001000));
	ok(writer__proc_status(x.w, 10, 0, PROC_RUNNING));
	ok(writer__close(x.w));
	ok(writer__open(x.w, 2000, 0));
	ok(writer__close(x.w));
	ok(trace_file__commit(x.file));
	stop(NULL);
	read_all(part(path, 25, INT64_MIN, 0), &list);
	assert_int_equal(list.clock[0].mono, 1000);
	assert_int_equal(list.clock[0].sec, 5000);
	assert_int_equal(list.clock[0].nsec, 1000);
	assert_int_equal(list.clock[1].mono, 2000); /* the second generation has none */
	assert_int_equal(list.clock[1].sec, 0);
}

TEST(part_before_the_trace)
{
	static struct seen_list cut;

	x.bytes = bytes__read(part(write_example(25), 25, 10, 20));
	assert_int_equal(x.bytes.len, 0);
	stop(NULL);
	/* The whole trace, from before its start. */
	read_all(part(write_example(25), 25, 10, 0), &cut);
	assert_int_equal(cut.sync[0], 1000);
}

TEST(part_without_events)
{
	static struct seen_list cut;

	read_all(part(write_example(25), 25, 1131, 1139), &cut);
	assert_int_equal(cut.n, 3 + 6 + 2); /* Ps, goroutines, ranges */
	read_all(part(write_example(25), 25, 99999, 100000), &cut);
	assert_true(cut.n > 0);
}

/*
 * A switch becomes the events derived from it; a goroutine created blocked is runnable until it is
 * switched to.
 */
TEST(switches_in_version_1_22)
{
	static const enum ev want[] = { EV_GO_CREATE,  EV_GO_BLOCK, EV_GO_START,     EV_GO_UNBLOCK,
					EV_GO_DESTROY, EV_GO_START, EV_USER_TASK_END };
	static struct seen_list list;
	size_t i = 0, j;

	read_all(part(write_example(23), 22, INT64_MIN, 0), &list);
	while (list.at[i].type != EV_GO_CREATE || list.at[i].arg[0] != 8)
		i++;
	for (j = 0; j < sizeof(want) / sizeof(*want); j++)
		assert_int_equal(list.at[i + j].type, want[j]);
	assert_int_equal(list.at[i + 1].time, 2021);
	assert_int_equal(stats.left_out, 0);
	for (i = 0; i < list.n; i++)
		assert_true(spec__in_version(spec__event(list.at[i].type), 22));
}

TEST(experimental_events)
{
	static struct seen_list list;
	const char *path = scratch("example");

	start_at(path, 23, 1);
	ok(writer__open(x.w, 100, 0));
	ok(writer__proc_status(x.w, 1, 0, PROC_RUNNING));
	put(1, 110, EV_HEAP_OBJECT_FREE, 7, 0, 0);
	ok(writer__close(x.w));
	ok(trace_file__commit(x.file));
	stop(NULL);
	read_all(part(path, 23, INT64_MIN, 0), &list);
	assert_int_equal(list.n, 2);
	assert_int_equal(stats.experimental, 1);
	read_all(part(path, 22, INT64_MIN, 0), &list);
	assert_int_equal(list.n, 1);
	assert_int_equal(stats.experimental, 1);
	assert_int_equal(stats.left_out, 0);
}

/* Whether a trace has these batches of experiment AllocFree in its generation `n`, and no others. */
static bool has_batches(const char *path, unsigned int n, const char *first, const char *second)
{
	const char *const want[] = { first, second };
	struct reader *r = open_path(path);
	const struct dictionary *d;
	struct error err = {};
	struct trace_event ev;
	size_t i = 0;

	while (reader__next(r, &ev, &err) > 0 && (ev.type != EV_SYNC || ev.sync->n != n))
		;
	d = ev.dictionary;
	for (; i < 2 && want[i]; i++)
		if (i >= d->nexperiments || d->experiments[i].len != strlen(want[i]) + 1 ||
		    memcmp(d->experiments[i].data, want[i], d->experiments[i].len))
			break;
	n = i == d->nexperiments && (i == 2 || !want[i]);
	reader__destroy(r);
	return n;
}

/* The units are in the first generation of a part, too; the types in that of their events. */
TEST(batches_of_alloc_free)
{
	static const char units[] = "\x01units", types[] = "\0", other[] = "\x02other";
	char path[256];

	strcpy(path, scratch("example"));
	start_at(path, 23, 1);
	for (int i = 0; i < 3; i++) {
		ok(writer__open(x.w, (uint64_t)(100 + 100 * i), 0));
		ok(writer__proc_status(x.w, 1, 0, PROC_RUNNING));
		put(1, (uint64_t)(110 + 100 * i), EV_HEAP_OBJECT_FREE, 7, 0, 0);
		if (!i)
			ok(writer__experiment(x.w, EXPERIMENT_ALLOC_FREE, units, sizeof(units)));
		ok(writer__experiment(x.w, EXPERIMENT_ALLOC_FREE, i ? other : types,
				      i ? sizeof(other) : 1));
		ok(writer__close(x.w));
	}
	assert_int_equal(writer__experiment(x.w, EXPERIMENT_ALLOC_FREE, units, 1), -EINVAL);
	ok(trace_file__commit(x.file));
	stop(NULL);
	assert_true(has_batches(part(path, 26, INT64_MIN, 0), 1, units, ""));
	assert_true(has_batches(part(path, 26, INT64_MIN, 0), 2, other, NULL));
	assert_true(has_batches(part(path, 23, 205, 0), 1, units, other));
	assert_true(has_batches(part(path, 23, 205, 0), 2, other, NULL));
	assert_true(has_batches(part(path, 22, INT64_MIN, 0), 1, NULL, NULL));
}

/* Reads the private records of a generation: their kinds, and the contents of some. */
static void read_private(const char *path, unsigned int gen, unsigned int kinds[PRIVATE_KIND_END],
			 struct private_ticks *ticks, uint64_t *losses)
{
	struct reader *r = open_path(path);
	struct private_record record;
	struct private_reader in;
	struct private_loss loss;
	struct error err = {};
	struct trace_event ev;

	memset(kinds, 0, PRIVATE_KIND_END * sizeof(*kinds));
	while (reader__next(r, &ev, &err) > 0) {
		if (ev.type != EV_SYNC || ev.sync->n != gen)
			continue;
		private_reader__init(&in, ev.dictionary);
		while (private_reader__next(&in, &record) > 0) {
			kinds[record.kind]++;
			if (record.kind == PRIVATE_TICKS)
				assert_true(private_read__ticks(&record.data, ticks));
			else if (record.kind == PRIVATE_LOSSES &&
				 private_read__loss(&record.data, &loss))
				*losses = loss.count;
		}
		assert_int_equal(in.bad, 0);
		private_reader__deinit(&in);
	}
	reader__destroy(r);
}

/* Data about the file is kept, about a generation if that is in the part; a tick is now 1 ns. */
TEST(private_data)
{
	unsigned int kinds[PRIVATE_KIND_END];
	struct private_ticks ticks = {};
	uint64_t losses = 0;
	const char *out = part(write_example(25), 25, 1100, 0);

	read_private(out, 1, kinds, &ticks, &losses);
	assert_int_equal(kinds[PRIVATE_META], 1);
	assert_int_equal(kinds[PRIVATE_TICKS], 1);
	assert_int_equal(ticks.tick_ns, 1);
	assert_int_equal(ticks.wall_ns, 5000000001000);
	assert_int_equal(kinds[PRIVATE_LOSSES], 1);
	assert_int_equal(losses, 5);
	read_private(out, 2, kinds, &ticks, &losses);
	assert_int_equal(kinds[PRIVATE_META], 0);
	assert_int_equal(kinds[PRIVATE_LOSSES], 1);
	assert_int_equal(losses, 6);
	out = part(write_example(25), 25, 2030, 0);
	read_private(out, 1, kinds, &ticks, &losses);
	assert_int_equal(kinds[PRIVATE_META], 1);
	assert_int_equal(kinds[PRIVATE_TICKS], 0);
	assert_int_equal(losses, 6);
}

/* Times without room for a prologue are shifted; times that no format can hold are rejected. */
TEST(extreme_times)
{
	static struct seen_list cut;
	const char *path = scratch("example");
	struct trace_event ev = { .type = EV_SYNC, .time = INT64_MAX };
	struct dictionary dictionary;
	struct rewrite *rw;

	start_at(path, 25, 1);
	ok(writer__open(x.w, 1, 0));
	ok(writer__proc_status(x.w, 1, 0, PROC_RUNNING));
	ok(writer__go_status(x.w, 1, 1, GO_RUNNING, 0));
	put(1, 5, EV_HEAP_ALLOC, 1, 0, 0);
	put(1, 8, EV_HEAP_ALLOC, 2, 0, 0);
	ok(writer__close(x.w));
	ok(trace_file__commit(x.file));
	stop(NULL);
	read_all(part(path, 25, 5, 0), &cut);
	assert_int_equal(cut.n, 4);
	assert_int_equal(cut.sync[0], 1);
	assert_int_equal(cut.at[3].time - cut.at[2].time, 3);

	start(25, 1);
	dictionary__init(&dictionary);
	ev.dictionary = &dictionary;
	ev.sync = &(struct trace_sync){ .n = 1 };
	ok(rewrite__create(&rw, x.file, &(struct rewrite_opts){ 25, false, INT64_MIN }));
	assert_int_equal(rewrite__event(rw, &ev), -ERANGE);
	rewrite__destroy(rw);
	dictionary__deinit(&dictionary);
}

/* Like part(), but the events before the n-th generation are not passed on, as with an index. */
static const char *resumed_part(const char *path, unsigned int n, int64_t from)
{
	const char *out = scratch("rest");
	struct reader *r = open_path(path);
	struct trace_file *file;
	struct start_functions functions;
	struct error err = {};
	struct trace_event ev;
	struct rewrite *rw;

	ok(start_functions__init(&functions));
	ok(trace_file__open(&file, out, FILE_ANY));
	ok(rewrite__create(&rw, file, &(struct rewrite_opts){ .version = 25, .from = from }));
	while (reader__next(r, &ev, &err) > 0) {
		if (ev.type == EV_SYNC && ev.sync->n == 1)
			ok(rewrite__keep_private(rw, ev.dictionary));
		if (ev.type == EV_SYNC && ev.sync->n == n)
			break;
		ok(start_functions__event(&functions, &ev));
	}
	ok(rewrite__begin_at(rw, reader__order(r), &functions));
	do
		ok(rewrite__event(rw, &ev));
	while (reader__next(r, &ev, &err) > 0);
	assert_string_equal(err.text, "");
	ok(rewrite__end(rw));
	ok(trace_file__commit(file));
	rewrite__destroy(rw);
	trace_file__destroy(file);
	start_functions__deinit(&functions);
	reader__destroy(r);
	return out;
}

/* With the state at the start of either generation the file is the same as if all were read. */
TEST(begin_with_a_saved_state)
{
	static const struct {
		unsigned int n;
		int64_t from;
	} parts[] = { { 1, 10 }, { 1, 1000 }, { 1, 1100 }, { 2, 2000 }, { 2, 2030 } };
	struct bytes want, have;
	const char *path;

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		path = write_example(25);
		want = bytes__read(part(path, 25, parts[i].from, 0));
		have = bytes__read(resumed_part(path, parts[i].n, parts[i].from));
		assert_int_equal(have.len, want.len);
		assert_memory_equal(have.data, want.data, want.len);
		free(want.data);
		free(have.data);
	}
}
