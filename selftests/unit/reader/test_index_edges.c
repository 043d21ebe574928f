// SPDX-License-Identifier: GPL-2.0
/*
 * Edge cases of the index: traces and directories that cannot have one, failing or interrupted
 * reads, descriptor 0, the shortest file and the longest names.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <zlib.h>

#include "unit/test.h"
#include "reader/index.h"
#include "reader/index_impl.h"
#include "reader/order_save.h"

#include "unit/rewrite_fixture.h"

static struct index *ix;
static struct error err;
static int reads[4]; /* results of the next reads: an errno, or a number of bytes; 0: normal */

/* Replaces the function of the C library. */
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

FIXTURE(NULL, close_index)

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
	struct start_functions functions;
	struct order order;
	int code = index__place(ix, time, &place, &order, &functions, &err);

	if (!code) {
		order__deinit(&order);
		start_functions__deinit(&functions);
	}
	return code;
}

/* Positions in a compressed trace cannot be used. */
TEST(compressed_trace)
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

TEST(failing_output)
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
TEST(descriptor_0)
{
	int saved = fcntl(0, F_DUPFD_CLOEXEC, 100), null;
	const char *path = example_with_index();
	struct index_trace trace;

	close(0);
	ok(index__open(&ix, path, &err));
	ok(read_state(2000));
	close_index(NULL);
	ok(index_trace__read(&trace, path, &err));
	assert_int_equal(fcntl(0, F_GETFD), -1); /* no descriptor is leaked */
	null = open("/dev/null", O_RDONLY);
	assert_int_equal(null, 0);
	assert_int_equal(index__parse(&ix, "", 1, false, &err), -EBADMSG);
	assert_true(fcntl(0, F_GETFD) >= 0); /* an index in memory has no descriptor */
	close(null);
	if (saved >= 0)
		dup2(saved, 0);
	close(saved);
}

/* An interrupted or short read is continued; another error is an error of the index. */
TEST(failing_reads)
{
	static const char begins[] = "cannot read the index: ";
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

/* States contain names of the maximal length of a trace. */
TEST(longest_names)
{
	char path[256], name[TRACE_STRING_MAX + 1] = "", *index_path;
	struct index_totals totals;
	struct reader_place place;
	struct start_functions functions;
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
	ok(index__place(ix, 2000, &place, &order, &functions, &err));
	assert_int_equal(place.generation, 2);
	assert_true(start_functions__of(&functions, 5));
	order__deinit(&order);
	start_functions__deinit(&functions);
}

/* Parses an index of one generation without checksums that counts one event of this type. */
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

TEST(invalid_event_types)
{
	for (uint64_t type = 0; type < 300; type++)
		assert_int_equal(parse_with_type(type),
				 type < EV_END && spec__event((unsigned int)type) ? 0 : -EBADMSG);
	assert_int_equal(parse_with_type(UINT64_MAX), -EBADMSG);
}

/* A start function without a name or file has none after reading, either. */
TEST(functions_without_names)
{
	struct intern_frame frame = { .pc = 0x10, .line = 3 };
	struct index_totals totals;
	struct reader_place place;
	struct start_functions functions;
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
	ok(index__place(ix, 2000, &place, &order, &functions, &err));
	frame = *intern__stack_at(functions.in, start_functions__of(&functions, 5), &n);
	assert_true(frame.pc == 0x10 && frame.line == 3 && !frame.func && !frame.file);
	order__deinit(&order);
	start_functions__deinit(&functions);
}

/* Only a magic and an end, and one byte less. */
TEST(shortest_file)
{
	uint8_t bytes[INDEX_MAGIC_LEN + INDEX_END_LEN] = INDEX_MAGIC;

	assert_int_equal(index__parse(&ix, bytes, sizeof(bytes) - 1, false, &err), -EBADMSG);
	assert_string_equal(err.text, "the index is corrupt: the file is too short");
	close_index(NULL);
	assert_int_equal(index__parse(&ix, bytes, sizeof(bytes), false, &err), -EBADMSG);
	assert_string_equal(err.text, "the index is corrupt: invalid directory");
	close_index(NULL);
	bytes[0] = 'G';
	assert_int_equal(index__parse(&ix, bytes, sizeof(bytes), false, &err), -EBADMSG);
	assert_string_equal(err.text, "the index is corrupt: not an index, or one of another "
				      "version");
}
