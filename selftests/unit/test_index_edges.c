// SPDX-License-Identifier: GPL-2.0
/*
 * The index of a trace at its edges: traces and folders that cannot have one, reads that fail or are
 * interrupted, descriptor 0 that is free, the shortest file and the longest names.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <zlib.h>

#include "trace/index.h"
#include "trace/index_impl.h"
#include "trace/order_save.h"

#include "rewrite_fixture.h"

static struct index *ix;
static struct error err;
static int
	reads[4]; /* what the next reads do: an errno, or how many bytes they give; 0: as they do */

/* In the place of the C library's. */
ssize_t pread(int fd, void *to, size_t len, off_t offset)
{
	int next = reads[0];

	memmove(reads, reads + 1, sizeof(reads) - sizeof(*reads));
	reads[3] = 0;
	if (next < 0) {
		errno = -next;
		return -1;
	}
	if (next && (size_t)next < len)
		len = (size_t)next;
	return syscall(SYS_pread64, fd, to, len, offset);
}

static int close_index(void **state)
{
	index__destroy(ix);
	ix = NULL;
	err = (struct error){};
	return stop(state);
}

static const char *example_with_index(void)
{
	static char path[256];
	struct index_totals totals;
	char *name;

	strcpy(path, write_example(25));
	name = index__name(path);
	if (index__write(path, name, &totals, &err))
		fail_msg("%s", err.text);
	free(name);
	return path;
}

static int read_state(int64_t time)
{
	struct reader_place place;
	struct origins origins;
	struct order order;
	int code = index__place(ix, time, &place, &order, &origins, &err);

	if (!code) {
		order__deinit(&order);
		origins__deinit(&origins);
	}
	return code;
}

/* Where its generations lie is of no use in a compressed one. */
static void a_compressed_trace(void **state)
{
	struct bytes b = bytes__read(write_example(25));
	const char *path = scratch("x.gz"), *out = scratch("x.gz.idx");
	struct index_totals totals;
	gzFile f = gzopen(path, "wb");

	assert_int_equal(gzwrite(f, b.data, (unsigned int)b.len), b.len);
	assert_int_equal(gzclose(f), Z_OK);
	assert_int_equal(index__write(path, out, &totals, &err), -ESPIPE);
	assert_true(access(out, F_OK) < 0);
	free(b.data);
}

static void no_place_for_it(void **state)
{
	struct index_totals totals;
	char path[256];

	strcpy(path, write_example(25));
	assert_int_equal(index__write(path, scratch("no/folder.idx"), &totals, &err), -ENOENT);
	assert_true(err.text[0]);
	err = (struct error){};
	assert_int_equal(index__write(path, "/dev/full", &totals, &err), -ENOSPC);
}

/* Without stdin, the index or the trace is descriptor 0. */
static void descriptor_0(void **state)
{
	int saved = fcntl(0, F_DUPFD_CLOEXEC, 100), null;
	const char *path = example_with_index();
	struct index_trace trace;

	close(0);
	ok(index__open(&ix, path, &err));
	ok(read_state(2000));
	close_index(NULL);
	ok(index_trace__look(&trace, path, &err));
	assert_int_equal(fcntl(0, F_GETFD), -1); /* nothing is left open */
	null = open("/dev/null", O_RDONLY);
	assert_int_equal(null, 0);
	assert_int_equal(index__parse(&ix, "", 1, false, &err), -EBADMSG);
	assert_true(fcntl(0, F_GETFD) >= 0); /* bytes in memory have no descriptor */
	close(null);
	if (saved >= 0)
		dup2(saved, 0);
	close(saved);
}

/* A read that was interrupted or gave less is gone on with; another error is one of the index. */
static void reads_that_fail(void **state)
{
	static const char begins[] = "the index cannot be read: ";
	const char *path = example_with_index();

	memcpy(reads, (int[]){ -EINTR, 3, 1 }, 3 * sizeof(int));
	ok(index__open(&ix, path, &err));
	memcpy(reads, (int[]){ 1, -EINTR, 5 }, 3 * sizeof(int));
	ok(read_state(2000));
	reads[0] = -EIO;
	assert_int_equal(read_state(2000), -EIO);
	assert_memory_equal(err.text, begins, strlen(begins));
	close_index(NULL);
	reads[0] = -EIO;
	assert_int_equal(index__open(&ix, path, &err), -EIO);
	assert_null(ix);
}

/* Names as long as a trace can have them are in the states as well. */
static void the_longest_names(void **state)
{
	char path[256], name[TRACE_STRING_MAX + 1] = "", *index_path;
	struct index_totals totals;
	struct reader_place place;
	struct origins origins;
	struct order order;

	memset(name, 'f', TRACE_STRING_MAX);
	strcpy(path, scratch("long"));
	start_at(path, 25, 1);
	for (uint64_t gen = 1; gen <= 2; gen++) {
		ok(writer__open(x.w, 1000 * gen, 0));
		ok(writer__proc_status(x.w, 10, 0, PROC_RUNNING));
		ok(writer__go_status(x.w, 10, 1, GO_RUNNING, 0));
		if (gen == 2)
			ok(writer__go_status(x.w, NOM, 5, GO_RUNNABLE, 0));
		else
			put(10, 1010, EV_GO_CREATE, 5, stack(name, name), 0);
		ok(writer__close(x.w));
	}
	ok(trace_file__commit(x.file));
	stop(NULL);
	index_path = index__name(path);
	ok(index__write(path, index_path, &totals, &err));
	free(index_path);
	ok(index__open(&ix, path, &err));
	ok(index__place(ix, 2000, &place, &order, &origins, &err));
	assert_int_equal(place.generation, 2);
	assert_true(origins__of(&origins, 5));
	order__deinit(&order);
	origins__deinit(&origins);
}

/* An index of one generation without a sum, in which an event of that type was seen once. */
static int parse_with_type(uint64_t type)
{
	const uint64_t numbers[] = {
		1000, 1, 16, 1, 1, 0, 1000, 1001, 1002, 1, 1, type, 1, 16, 1, 0
	};
	struct outbuf out = {};
	uint8_t end[INDEX_END_LEN] = {};
	uint64_t place[2];
	int code;

	ok(outbuf__put(&out, INDEX_MAGIC, INDEX_MAGIC_LEN, NULL));
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		ok(save__number(&out, numbers[i]));
	place[0] = INDEX_MAGIC_LEN;
	place[1] = out.len - INDEX_MAGIC_LEN;
	memcpy(end, place, sizeof(place));
	ok(outbuf__put(&out, end, sizeof(end), NULL));
	code = index__parse(&ix, out.data, out.len, false, &err);
	if (!code) {
		assert_int_equal(index__generation(ix, 0)->counts, 1);
		assert_int_equal(index__generation(ix, 0)->count[0].type, type);
		assert_int_equal(index__generation(ix, 0)->count[0].n, 1);
	}
	outbuf__deinit(&out);
	index__destroy(ix);
	ix = NULL;
	return code;
}

static void types_that_are_none(void **state)
{
	for (uint64_t type = 0; type < 300; type++)
		assert_int_equal(parse_with_type(type),
				 type < EV_END && spec__event((unsigned int)type) ? 0 : -EBADMSG);
	assert_int_equal(parse_with_type(UINT64_MAX), -EBADMSG);
}

/* A start function that has no name, or no file, has none after reading, either. */
static void functions_without_names(void **state)
{
	struct intern_frame frame = { .pc = 0x10, .line = 3 };
	struct index_totals totals;
	struct reader_place place;
	struct origins origins;
	struct order order;
	size_t n;
	char *index_path = index__name(scratch("nameless"));

	start_at(scratch("nameless"), 25, 1);
	for (uint64_t gen = 1; gen <= 2; gen++) {
		ok(writer__open(x.w, 1000 * gen, 0));
		ok(writer__proc_status(x.w, 10, 0, PROC_RUNNING));
		ok(writer__go_status(x.w, 10, 1, GO_RUNNING, 0));
		if (gen == 2)
			ok(writer__go_status(x.w, NOM, 5, GO_RUNNABLE, 0));
		else
			put(10, 1010, EV_GO_CREATE, 5, intern__stack(x.in, &frame, 1), 0);
		ok(writer__close(x.w));
	}
	ok(trace_file__commit(x.file));
	stop(NULL);
	ok(index__write(scratch("nameless"), index_path, &totals, &err));
	free(index_path);
	ok(index__open(&ix, scratch("nameless"), &err));
	ok(index__place(ix, 2000, &place, &order, &origins, &err));
	frame = *intern__stack_at(origins.in, origins__of(&origins, 5), &n);
	assert_true(frame.pc == 0x10 && frame.line == 3 && !frame.func && !frame.file);
	order__deinit(&order);
	origins__deinit(&origins);
}

/* A magic and an end with nothing in between, and a byte less. */
static void the_shortest(void **state)
{
	uint8_t bytes[INDEX_MAGIC_LEN + INDEX_END_LEN] = INDEX_MAGIC;

	assert_int_equal(index__parse(&ix, bytes, sizeof(bytes) - 1, false, &err), -EBADMSG);
	assert_string_equal(err.text, "the index is broken: it is too short");
	close_index(NULL);
	assert_int_equal(index__parse(&ix, bytes, sizeof(bytes), false, &err), -EBADMSG);
	assert_string_equal(err.text, "the index is broken: its directory makes no sense");
	close_index(NULL);
	bytes[0] = 'G';
	assert_int_equal(index__parse(&ix, bytes, sizeof(bytes), false, &err), -EBADMSG);
	assert_string_equal(err.text, "the index is broken: it is none, or of another version");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_teardown(f, close_index)
	const struct CMUnitTest tests[] = {
		TEST(a_compressed_trace),  TEST(no_place_for_it),	  TEST(descriptor_0),
		TEST(reads_that_fail),	   TEST(the_longest_names),	  TEST(the_shortest),
		TEST(types_that_are_none), TEST(functions_without_names),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, scratch_remove);
}
