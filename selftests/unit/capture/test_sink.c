// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the sink with a fake sequencer: how it handles the results of the sequencer and of the
 * files, and which failure it reports.
 */
#include <sys/stat.h>

#include "unit/test.h"
#include "capture/sink.h"
#include "unit/trace_bytes.h"
#include "unit/watched_sequencer.h"

static int answer;
static uint64_t clock_error, host_clock, sample_period;
static uint32_t max_names;
static unsigned int calls, no_kernel, calls_only; /* since the sequencer was created */

int sequencer__create(struct sequencer **ret, const struct sequencer_opts *opts)
{
	assert_non_null(opts->writer);
	assert_non_null(opts->intern);
	*ret = NULL;
	calls = no_kernel = calls_only = 0;
	return 0;
}

STUB_VOID(sequencer__destroy, (struct sequencer *))

static int answered(void)
{
	calls++;
	return answer;
}

int sequencer__start(struct sequencer *s, uint64_t t0, uint64_t wall_ns)
{
	assert_int_equal(t0, 5);
	assert_int_equal(wall_ns, 6);
	return answered();
}

void sequencer__no_kernel(struct sequencer *s)
{
	no_kernel++;
}

void sequencer__clock_error(struct sequencer *s, uint64_t ns)
{
	clock_error = ns;
}

void sequencer__host_clock(struct sequencer *s, const struct private_host_clock *clock)
{
	host_clock = clock->max_error;
}

void sequencer__cpu_samples(struct sequencer *s, const struct private_cpu_samples *taken)
{
	sample_period = taken->period_ns;
}

void sequencer__calls_only(struct sequencer *s)
{
	calls_only++;
}

void sequencer__max_names(struct sequencer *s, uint32_t max)
{
	max_names = max;
}

int sequencer__record(struct sequencer *s, unsigned int ring, const struct gt_record *rec,
		      size_t size)
{
	return answered();
}

int sequencer__watermark(struct sequencer *s, uint64_t time)
{
	return answered();
}

int sequencer__take_snapshots(struct sequencer *s, struct snapshot *first, struct snapshot *second)
{
	return answered();
}

int sequencer__take_resnapshots(struct sequencer *s, struct snapshot *first,
				struct snapshot *second)
{
	return answered();
}

int sequencer__lost(struct sequencer *s, unsigned int kind, uint64_t count)
{
	return answered();
}

/* Used by a flight recorder only. */
STUB(bool, sequencer__is_ready, (const struct sequencer *), true)
STUB(bool, sequencer__in_pause, (const struct sequencer *), false)

int sequencer__end_generation(struct sequencer *s)
{
	return answered();
}

int sequencer__finish(struct sequencer *s, uint64_t t1)
{
	return answered();
}

static struct sink *open_sink(const char *path)
{
	struct sink_opts opts = { .path = path, .version = 25, .tick_ns = 1 };
	struct symbolizer symbolizer = {};
	struct layout layout = {};
	struct error err = {};
	struct sink *s;

	assert_int_equal(sink__open(&s, &opts, &err), 0);
	assert_int_equal(sink__create_sequencer(s, &layout, &symbolizer, NULL), 0);
	return s;
}

/*
 * Each returns what the sequencer does, but for the two answers that are no failures of the
 * recording.
 */
TEST(answers)
{
	static const int codes[] = { 0, -EBADMSG, -EAGAIN, -ENOMEM, -ENOSPC };
	struct sink *s = open_sink(scratch("answers"));
	struct raw_header facts = { .t0 = 5, .wall_ns = 6 };
	struct snapshot first = {}, second = {};
	struct gt_record rec = {};

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		answer = codes[i];
		assert_int_equal(sink__record(s, 0, &rec, sizeof(rec)),
				 answer == -EBADMSG ? 0 : answer);
		assert_int_equal(sink__resnapshot(s, &first, &second),
				 answer == -EAGAIN ? 0 : answer);
		assert_int_equal(no_kernel, 0);
		assert_int_equal(sink__start(s, &facts), answer);
		assert_int_equal(sink__watermark(s, 7), answer);
		assert_int_equal(sink__snapshot(s, &first, &second), answer);
		assert_int_equal(sink__lost(s, 0, 1), answer);
		assert_int_equal(sink__finish(s, 8), answer);
		assert_int_equal(calls, 7 * (i + 1));
	}
	facts.flags = RAW_NO_KERNEL;
	sink__start(s, &facts);
	assert_int_equal(no_kernel, 1);
	assert_int_equal(calls_only, 0);
	facts.flags = RAW_CALLS_ONLY;
	sink__start(s, &facts);
	assert_int_equal(no_kernel, 1);
	assert_int_equal(calls_only, 1);
	assert_int_equal(max_names, 0);
	facts.flags = 7u << RAW_NAMES_SHIFT;
	sink__start(s, &facts);
	assert_int_equal(no_kernel + calls_only, 2);
	assert_int_equal(max_names, 7);
	assert_int_equal(sink__clock_error(s, 42), 0);
	assert_int_equal(clock_error, 42);
	assert_int_equal(sink__host_clock(s, &(struct private_host_clock){ .max_error = 43 }), 0);
	assert_int_equal(host_clock, 43);
	assert_int_equal(sink__cpu_samples(s, &(struct private_cpu_samples){ .period_ns = 44 }), 0);
	assert_int_equal(sample_period, 44);
	sink__destroy(s);
	sink__destroy(NULL);
}

/* Nothing was written yet: the failure is reported, and no file is left. */
TEST(a_failure)
{
	const char *path = scratch("failure");
	struct sink *s = open_sink(path);
	struct error err = {};
	struct stat st;
	char text[600];

	assert_int_equal(sink__commit(s, -ENOSPC, &err), -ENOSPC);
	snprintf(text, sizeof(text), "cannot write %s: %s", path, strerror(ENOSPC));
	assert_string_equal(err.text, text);
	sink__destroy(s);
	assert_int_equal(stat(path, &st), -1);

	s = open_sink(path);
	err.text[0] = 0;
	assert_int_equal(sink__commit(s, -EINTR, &err), -EINTR);
	assert_non_null(strstr(err.text, ": interrupted while no process was reading the output"));
	sink__destroy(s);
}

TEST(paths_that_cannot_be)
{
	struct sink_opts opts = { .path = "/nowhere/at/all" };
	struct error err = {};
	struct sink *s;
	char text[600];

	assert_int_equal(sink__open(&s, &opts, &err), -ENOENT);
	assert_string_equal(err.text, "cannot write /nowhere/at/all: No such file or directory");
	err.text[0] = 0;
	opts.path = scratch("trace");
	opts.raw_path = "/nowhere/raw";
	assert_int_equal(sink__open(&s, &opts, &err), -ENOENT);
	assert_string_equal(err.text, "cannot write /nowhere/raw: No such file or directory");
	err.text[0] = 0;
	opts.raw_path = NULL;
	s = open_sink(opts.path);
	snprintf(text, sizeof(text), "cannot write %s: another gotrace-bpf is writing it",
		 opts.path);
	{
		struct sink *other;

		assert_int_equal(sink__open(&other, &opts, &err), -EBUSY);
	}
	assert_string_equal(err.text, text);
	sink__destroy(s);
}
