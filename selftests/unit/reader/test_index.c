// SPDX-License-Identifier: GPL-2.0
/*
 * The index of a trace: writing, reading, resuming with it, and stale, corrupt or crafted indexes.
 * Also the saved state of the scheduler.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "unit/test.h"
#include "reader/index.h"
#include "reader/order_save.h"

#include "unit/rewrite_fixture.h"

static struct index *ix;
static struct error err;

static int close_index(void **state)
{
	index__destroy(ix);
	ix = NULL;
	err.text[0] = '\0';
	return stop(state);
}

FIXTURE(NULL, close_index)

static void make_index(const char *path, struct index_totals *totals)
{
	char *name = index__name(path);

	if (index__write(path, name, totals, &err))
		fail_msg("%s", err.text);
	free(name);
}

/* states */

static void save(const struct order *o, struct outbuf *out)
{
	*out = (struct outbuf){};
	ok(order__save(o, out));
}

static int load(const struct outbuf *bytes, size_t len, struct order *ret)
{
	struct buf in = buf__make(bytes->data, len);

	order__init(ret);
	return order__load(ret, &in);
}

/* Saves, loads and saves again with equal results; a truncated state is rejected. */
static void check_state(const struct order *o)
{
	struct outbuf first, second;
	struct order loaded;

	save(o, &first);
	ok(load(&first, first.len, &loaded));
	assert_int_equal(loaded.g.n, o->g.n);
	assert_int_equal(loaded.m.n, o->m.n);
	save(&loaded, &second);
	order__deinit(&loaded);
	assert_int_equal(first.len, second.len);
	assert_memory_equal(first.data, second.data, first.len);
	for (size_t len = 0; len < first.len; len++) {
		assert_int_equal(load(&first, len, &loaded), -EBADMSG);
		order__deinit(&loaded);
	}
	outbuf__deinit(&first);
	outbuf__deinit(&second);
}

TEST(states_round_trip)
{
	struct reader *r = open_path(write_example(25));
	struct trace_event ev;

	while (reader__next(r, &ev, &err) > 0)
		check_state(reader__order(r));
	assert_string_equal(err.text, "");
	assert_true(reader__order(r)->g.n > 5);
	reader__destroy(r);
}

static int load_numbers(const uint64_t *numbers, size_t n)
{
	struct outbuf out = {};
	struct order o;
	int code;

	for (size_t i = 0; i < n; i++)
		ok(save__number(&out, numbers[i]));
	code = load(&out, out.len, &o);
	order__deinit(&o);
	outbuf__deinit(&out);
	return code;
}

#define LOAD(...)                                                                                  \
	load_numbers((const uint64_t[]){ __VA_ARGS__ },                                            \
		     sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))
#define HEAD 1, ORDER_GC_OFF, 7

TEST(invalid_states_are_rejected)
{
	ok(LOAD(HEAD, 0, 0, 0, 0));
	assert_int_equal(LOAD(1, 3, 7, 0, 0, 0, 0), -EBADMSG); /* invalid GC state */
	/* Ps: id, status, sequence, ranges */
	ok(LOAD(HEAD, 1, 0, PROC_IDLE, 1, 0, 0, 0, 0, 0));
	assert_int_equal(LOAD(HEAD, 1, 0, 5, 1, 0, 0, 0, 0, 0), -EBADMSG);
	assert_int_equal(LOAD(HEAD, 1, 0, 1, 1, 0, 1, EV_STW_BEGIN, 0, 0, 0, 0), -EBADMSG);
	assert_int_equal(LOAD(HEAD, 2, 4, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0), -EBADMSG);
	assert_int_equal(LOAD(HEAD, UINT64_MAX, 0, 0, 0), -EBADMSG);
	/* goroutines: id, status, sequence, ranges, regions */
	ok(LOAD(HEAD, 0, 1, 9, GO_WAITING, 1, 0, 1, EV_STW_BEGIN, 8, 0, 0, 0));
	assert_int_equal(LOAD(HEAD, 0, 1, 9, 5, 1, 0, 0, 0, 0, 0), -EBADMSG);
	assert_int_equal(LOAD(HEAD, 0, 1, 9, 1, 1, 0, 1, EV_GC_SWEEP_BEGIN, 0, 0, 0, 0), -EBADMSG);
	assert_int_equal(LOAD(HEAD, 0, 1, 9, 1, 1, 0, 0, 1, 3, 2000), -EBADMSG);
	/* threads: id, P + 1, goroutine + 1; a goroutine may be unknown, a P may not */
	ok(LOAD(HEAD, 0, 0, 1, 4, 0, 10, 0));
	assert_int_equal(LOAD(HEAD, 0, 0, 1, 4, 1, 0, 0), -EBADMSG);
	assert_int_equal(LOAD(HEAD, 0, 0, 1, UINT64_MAX, 0, 0, 0), -EBADMSG);
	/* tasks: both have id 5 */
	assert_int_equal(LOAD(HEAD, 0, 0, 0, 2, 5, 0, 0, 0, 0, 0), -EBADMSG);
}

/* the index */

TEST(index_contents)
{
	const struct index_generation *g;
	struct index_totals totals;
	char path[256];

	strcpy(path, write_example(25));
	make_index(path, &totals);
	ok(index__open(&ix, path, &err));
	assert_int_equal(index__start(ix), 1000);
	assert_int_equal(index__generations(ix), 2);
	assert_int_equal(totals.generations, 2);
	assert_int_equal(totals.states, 2);
	g = index__generation(ix, 0);
	assert_int_equal(g->place.offset, 16);
	assert_int_equal(g->place.generation, 1);
	assert_int_equal(g->sync, 1000);
	assert_int_equal(g->first, 1001);
	assert_int_equal(g->last, 1175);
	g = index__generation(ix, 1);
	assert_int_equal(g->place.generation, 2);
	assert_int_equal(g->place.last_time, 1175);
	assert_int_equal(g->place.syncs, 1);
	assert_int_equal(g->sync, 2000);
	assert_int_equal(g->last, 2180);
	/* Counts events of the file, not derived ones. */
	assert_int_equal(g->count[g->counts - 1].type, EV_GO_CREATE_BLOCKED);
	assert_int_equal(g->count[g->counts - 1].n, 1);
	assert_int_equal(g->events, 5 + 19); /* statuses first */
	assert_int_equal(totals.events, 8 + 26 + g->events);
}

/* A reader that resumes with the index delivers the rest of the trace, with start functions. */
TEST(resume_delivers_the_rest)
{
	static struct seen_list all, rest;
	struct index_totals totals;
	struct reader_place place;
	struct start_functions functions;
	struct order order;
	struct reader *r;
	char path[256];
	size_t skip = 0;

	strcpy(path, write_example(26));
	read_all(path, &all);
	make_index(path, &totals);
	ok(index__open(&ix, path, &err));
	ok(index__place(ix, 1999, &place, &order, &functions, &err));
	assert_int_equal(place.generation, 1);
	assert_int_equal(order.g.n, 0);
	order__deinit(&order);
	start_functions__deinit(&functions);
	ok(index__place(ix, 2000, &place, &order, &functions, &err));
	assert_int_equal(place.generation, 2);
	assert_int_equal(order.g.n, 6);
	r = open_path(path);
	ok(reader__resume(r, &place, &order, &err));
	read_rest(r, &rest);
	while (all.at[skip].time < 2000)
		skip++;
	assert_int_equal(rest.n, all.n - skip);
	assert_memory_equal(rest.at, &all.at[skip], rest.n * sizeof(*rest.at));
	assert_int_equal(rest.sync[0], 2000);
	order__deinit(&order);

	assert_int_equal(start_functions__of(&functions, 7), 0);
	assert_true(start_functions__of(&functions, 5));
	assert_true(start_functions__of(&functions, 1) != start_functions__of(&functions, 5));
	start_functions__deinit(&functions);
}

TEST(times_outside_the_trace)
{
	static const int64_t times[] = { INT64_MIN, 0, INT64_MAX };
	struct index_totals totals;
	struct reader_place place;
	struct start_functions functions;
	struct order order;
	char path[256];

	strcpy(path, write_example(25));
	make_index(path, &totals);
	ok(index__open(&ix, path, &err));
	for (size_t i = 0; i < 3; i++) {
		ok(index__place(ix, times[i], &place, &order, &functions, &err));
		assert_int_equal(place.generation, i == 2 ? 2 : 1);
		order__deinit(&order);
		start_functions__deinit(&functions);
	}
}

/* A trace with very many goroutines and little else. */
TEST(large_states_are_limited)
{
	struct index_totals totals;
	struct reader_place place;
	struct start_functions functions;
	struct order order;
	char path[256];
	unsigned int gen;
	uint64_t g;

	strcpy(path, scratch("many"));
	start_at(path, 25, 1);
	for (gen = 0; gen < 30; gen++) {
		ok(writer__open(x.w, 1000 + gen * 1000, 0));
		ok(writer__proc_status(x.w, 1, 0, PROC_RUNNING));
		for (g = 1; g <= 3000; g++)
			ok(writer__go_status(x.w, NOM, g, GO_WAITING, 0));
		ok(writer__close(x.w));
	}
	ok(trace_file__commit(x.file));
	stop(NULL);
	make_index(path, &totals);
	assert_in_range(totals.states, 2, 8);
	assert_true(totals.bytes < totals.trace_bytes / 16 + 20000);
	ok(index__open(&ix, path, &err));
	ok(index__place(ix, INT64_MAX, &place, &order, &functions, &err));
	assert_in_range(place.generation, 10, 30);
	assert_int_equal(order.g.n, 3000);
	order__deinit(&order);
	start_functions__deinit(&functions);
}

static void append_byte(const char *path)
{
	FILE *f = fopen(path, "ab");

	assert_non_null(f);
	fputc(0, f);
	fclose(f);
}

TEST(stale_and_missing_indexes)
{
	const struct timespec times[2] = { { 1, 0 }, { 1, 1 } };
	struct index_totals totals;
	char path[256], *name;

	strcpy(path, write_example(25));
	name = index__name(path);
	unlink(name);
	assert_int_equal(index__open(&ix, path, &err), -ENOENT);
	make_index(path, &totals);
	ok(index__open(&ix, path, &err));
	close_index(NULL);
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	assert_int_equal(index__open(&ix, path, &err), -ESTALE);
	make_index(path, &totals);
	append_byte(path);
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	assert_int_equal(index__open(&ix, path, &err), -ESTALE);
	assert_int_equal(unlink(name), 0);
	assert_int_equal(mkdir(name, 0700), 0);
	err.text[0] = '\0';
	assert_int_equal(index__open(&ix, path, &err), -EBADMSG);
	rmdir(name);
	free(name);
}

/* Same size and time, different bytes. */
TEST(changed_ends_are_detected)
{
	struct index_totals totals;
	struct timespec times[2];
	struct stat st;
	char path[256];
	int fd;

	strcpy(path, write_example(25));
	make_index(path, &totals);
	assert_int_equal(stat(path, &st), 0);
	times[0] = times[1] = st.st_mtim;
	fd = open(path, O_WRONLY);
	assert_int_equal(pwrite(fd, "x", 1, 100), 1);
	assert_int_equal(futimens(fd, times), 0);
	close(fd);
	assert_int_equal(index__open(&ix, path, &err), -ESTALE);
}

TEST(traces_that_cannot_be_indexed)
{
	static const char v1_start[] = "go 1.21 trace\0\0\0";
	struct index_totals totals;
	const char *path = scratch("x"), *out = scratch("x.idx");
	FILE *f;

	assert_int_equal(index__write(path, out, &totals, &err), -ENOENT);
	f = fopen(path, "wb");
	fwrite(v1_start, 1, 16, f);
	fclose(f);
	err.text[0] = '\0';
	assert_true(index__write(path, out, &totals, &err) < 0);
	f = fopen(path, "wb");
	fwrite("go 1.26 trace\0\0\0", 1, 16, f);
	fclose(f);
	err.text[0] = '\0';
	assert_int_equal(index__write(path, out, &totals, &err), -ENODATA);
	assert_true(access(out, F_OK) < 0);
	err.text[0] = '\0';
	assert_int_equal(index__write(scratch_dir(), out, &totals, &err), -ESPIPE);
}

/* Whether all states of the present index can be loaded. */
static bool all_states_good(void)
{
	struct reader_place place;
	struct start_functions functions;
	struct order order;
	int64_t time;

	for (size_t i = 0; i < index__generations(ix); i++) {
		time = index__generation(ix, i)->sync;
		err.text[0] = '\0';
		if (index__place(ix, time, &place, &order, &functions, &err)) {
			assert_true(err.text[0]);
			return false;
		}
		order__deinit(&order);
		start_functions__deinit(&functions);
	}
	return true;
}

static struct bytes index_bytes(void)
{
	struct index_totals totals;
	struct bytes bytes;
	char path[256], *name;

	strcpy(path, write_example(25));
	make_index(path, &totals);
	name = index__name(path);
	bytes = bytes__read(name);
	assert_int_equal(bytes.len, totals.bytes);
	free(name);
	return bytes;
}

/* Any changed or missing byte is detected. */
TEST(every_changed_byte_is_detected)
{
	struct bytes b = index_bytes();

	ok(index__parse(&ix, b.data, b.len, true, &err));
	assert_true(all_states_good());
	close_index(NULL);
	for (size_t i = 0; i < b.len; i++) {
		b.data[i] ^= 0x10;
		err.text[0] = '\0';
		assert_true(index__parse(&ix, b.data, b.len, true, &err) || !all_states_good());
		assert_true(err.text[0]);
		close_index(NULL);
		b.data[i] ^= 0x10;
		assert_true(index__parse(&ix, b.data, i, true, &err));
	}
	free(b.data);
}

/* Without checksums, any bytes are harmless. */
TEST(crafted_indexes_are_harmless)
{
	struct bytes b = index_bytes();
	uint8_t *copy = malloc(b.len);
	uint64_t n = 1;

	for (int i = 0; i < 20000; i++) {
		memcpy(copy, b.data, b.len);
		for (int j = 0; j <= i % 3; j++) {
			n = n * 6364136223846793005 + 1442695040888963407;
			copy[(n >> 33) % b.len] = (uint8_t)(n >> 20);
		}
		err.text[0] = '\0';
		if (!index__parse(&ix, copy, b.len, false, &err))
			all_states_good();
		close_index(NULL);
	}
	free(copy);
	free(b.data);
}
