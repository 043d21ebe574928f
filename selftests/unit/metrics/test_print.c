// SPDX-License-Identifier: GPL-2.0
/* The text of metrics: families, labels, numbers, targets without a valid snapshot. */
#include "unit/test.h"
#include "metrics/metrics.h"
#include "metrics/values.h"

static char *printed;

static void print(const struct metrics_target *targets, size_t n)
{
	struct error error = {};
	size_t size;
	FILE *f;

	free(printed);
	f = open_memstream(&printed, &size);
	assert_non_null(f);
	assert_int_equal(metrics__print(f, targets, n, &error), 0);
	fclose(f);
}

static void has(const char *line)
{
	const char *at = strstr(printed, line);

	if (!at || (at != printed && at[-1] != '\n'))
		fail_msg("no line \"%s\"", line);
}

static unsigned int count(const char *text)
{
	unsigned int n = 0;

	for (const char *at = printed; (at = strstr(at, text)); at++)
		n++;
	return n;
}

static struct outbuf snapshot(const char *function, uint64_t ns)
{
	struct metric_values v = {};
	struct outbuf o = {};
	struct series *s;

	assert_int_equal(metric_values__add(
				 &v, ROW_CPU,
				 (struct trace_string){ function, (uint32_t)strlen(function) }, ns),
			 0);
	assert_int_equal(metric_values__set(&v, ROW_WAIT_GO_BLOCKED, 1), 0);
	assert_int_equal(metric_values__set(&v, ROW_HEAP, 4096), 0);
	s = metric_values__series(&v, ROW_SCHED, (struct trace_string){});
	histogram__add(&s->histogram, 1000);
	histogram__add(&s->histogram, 70000);
	histogram__add(&s->histogram, INT64_MAX);
	assert_int_equal(metric_values__pack(&v, &o), 0);
	metric_values__deinit(&v);
	return o;
}

static void teardown(void)
{
	free(printed);
	printed = NULL;
}

FIXTURE(NULL, teardown)

TEST(prints_values)
{
	struct outbuf o = snapshot("main.main", 12000000034ull);
	struct metrics_target t = { .snapshot = o.data, .size = o.len };

	print(&t, 1);
	has("# TYPE gotrace_cpu_seconds counter\n# UNIT gotrace_cpu_seconds seconds\n"
	    "gotrace_cpu_seconds_total{function=\"main.main\"} 12.000000034\n");
	has("# TYPE gotrace_heap_bytes gauge\n# UNIT gotrace_heap_bytes bytes\n"
	    "gotrace_heap_bytes 4096\n");
	has("gotrace_wait_seconds_total{state=\"go-blocked\",reason=\"\"} 0.000000001\n");
	has("# TYPE gotrace_sched_latency_seconds histogram\n");
	has("gotrace_sched_latency_seconds_bucket{le=\"1.023e-06\"} 1\n"
	    "gotrace_sched_latency_seconds_bucket{le=\"2.047e-06\"} 1\n");
	has("gotrace_sched_latency_seconds_bucket{le=\"6.5535e-05\"} 1\n"
	    "gotrace_sched_latency_seconds_bucket{le=\"0.000131071\"} 2\n");
	has("gotrace_sched_latency_seconds_bucket{le=\"17.179869183\"} 2\n"
	    "gotrace_sched_latency_seconds_bucket{le=\"+Inf\"} 3\n"
	    "gotrace_sched_latency_seconds_count 3\n"
	    "gotrace_sched_latency_seconds_sum 9223372036.854846807\n");
	assert_string_equal(printed + strlen(printed) - 6, "# EOF\n");
	outbuf__deinit(&o);
}

TEST(escapes_names)
{
	struct outbuf o = snapshot("a\"b\\c\nd\xff", 1);
	struct metrics_target t = { 7, "p\"\n\x01", o.data, o.len };

	print(&t, 1);
	has("gotrace_cpu_seconds_total{pid=\"7\",program=\"p\\\"\\n\xef\xbf\xbd\","
	    "function=\"a\\\"b\\\\c\\nd\xef\xbf\xbd\"} 0.000000001\n");
	has("gotrace_up{pid=\"7\",program=\"p\\\"\\n\xef\xbf\xbd\"} 1\n");
	outbuf__deinit(&o);
}

/* Samples of all targets are in their family; one without a valid snapshot has none. */
TEST(prints_targets)
{
	struct outbuf a = snapshot("main.a", 1), b = snapshot("main.b", 2);
	const struct metrics_target targets[] = {
		{ 1, "x", a.data, a.len },
		{ 2, "x", b.data, b.len },
		{ 3, "x", b.data, b.len - 1 },
		{ 4, NULL, NULL, 0 },
	};

	print(targets, 4);
	has("gotrace_up{pid=\"1\",program=\"x\"} 1\ngotrace_up{pid=\"2\",program=\"x\"} 1\n"
	    "gotrace_up{pid=\"3\",program=\"x\"} 0\ngotrace_up{pid=\"4\"} 0\n");
	has("gotrace_cpu_seconds_total{pid=\"1\",program=\"x\",function=\"main.a\"} 0.000000001\n"
	    "gotrace_cpu_seconds_total{pid=\"2\",program=\"x\",function=\"main.b\"} 0.000000002\n");
	assert_int_equal(count("pid=\"3\""), 1);
	assert_int_equal(count("# TYPE gotrace_wait_seconds "), 1);
	assert_int_equal(count("# EOF"), 1);
	print(NULL, 0);
	has("# TYPE gotrace_up gauge\n");
	outbuf__deinit(&a);
	outbuf__deinit(&b);
}

/* Buckets that a snapshot makes up never fall. */
TEST(limits_sums)
{
	struct metric_values v = {};
	struct outbuf o = {};
	struct metrics_target t = {};
	struct series *s = metric_values__series(&v, ROW_GC, (struct trace_string){});

	s->histogram.bucket[0] = s->histogram.bucket[1] = UINT64_MAX;
	assert_int_equal(metric_values__pack(&v, &o), 0);
	t.snapshot = o.data;
	t.size = o.len;
	print(&t, 1);
	has("gotrace_gc_cycle_seconds_bucket{le=\"2.047e-06\"} 18446744073709551615\n");
	has("gotrace_gc_cycle_seconds_count 18446744073709551615\n");
	metric_values__deinit(&v);
	outbuf__deinit(&o);
}

TEST_WITH(reports_a_full_disk, NULL, NULL)
{
	FILE *f = fopen("/dev/full", "w");
	struct error error = {};

	assert_non_null(f);
	setvbuf(f, NULL, _IONBF, 0);
	assert_int_equal(metrics__print(f, NULL, 0, &error), -EIO);
	assert_string_equal(error.text, "cannot write the metrics");
	fclose(f);
}

/* Each family is complete or is not there; which ones fit is computed from the text without a limit. */
TEST(leaves_out_families)
{
	struct outbuf o = snapshot("main.a", 1);
	struct metrics_target t = { .pid = 7, .snapshot = o.data, .size = o.len };
	char *whole, *limited, *at, *next, line[64];
	size_t size, len, room = 500;
	unsigned int omitted = 0;
	struct error error = {};
	FILE *f;

	print(&t, 1);
	whole = strdup(printed);
	f = open_memstream(&limited, &size);
	assert_int_equal(metrics__print_limited(f, &t, 1, room, &error), 0);
	fclose(f);
	at = strstr(strstr(whole, "# HELP") + 1, "# HELP"); /* after gotrace_up */
	for (; at; at = next) {
		next = strstr(at + 1, "# HELP");
		len = next ? (size_t)(next - at) : strlen(at) - strlen("# EOF\n");
		assert_int_equal(memmem(limited, size, at, len) != NULL, len <= room);
		if (len <= room)
			room -= len;
		else
			omitted++;
	}
	assert_true(omitted > 0 && room < 500);
	/* The metric families_omitted has the number of those that did not fit. */
	snprintf(line, sizeof(line), "\ngotrace_families_omitted %u\n# EOF\n", omitted);
	assert_string_equal(limited + size - strlen(line), line);
	assert_null(strstr(whole, "omitted"));
	free(limited);
	free(whole);
	outbuf__deinit(&o);
}
