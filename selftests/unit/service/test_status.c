// SPDX-License-Identifier: GPL-2.0
/*
 * The state of a recording: what is accepted from a recorder, and the JSON of it, whose figures are
 * computed here by hand.
 */
#include "unit/test.h"
#include "service/channel.h"
#include "service/status.h"

#define SECOND 1000000000ull

static struct status made(void)
{
	struct status s = {
		.magic = STATUS_MAGIC,
		.pid = 7,
		.recorder = 8,
		.name = "caddy",
		.started = SECOND,
		.trap_ns = 500,
		.memory = 1,
		.ring_bytes = 2,
		.kernel_memory = 3,
		.window_bytes = 4,
		.window_events = 5,
		.window_from = 2 * SECOND,
		.window_to = 5 * SECOND / 2,
		.causes = 6,
		.snapshots = 7,
		.is_flight = 1,
	};

	s.first = (struct status_counts){ 2 * SECOND, 100, 1000, 1, 10, 1, 9, 5, 6, 7, 0, 0, 0 };
	s.last = (struct status_counts){ 4 * SECOND, 300, 5000, 2,	30,	2,	   9,
					 6,	     8,	  10,	SECOND, SECOND, SECOND / 2 };
	s.now = s.last;
	s.now.time = 5 * SECOND;
	s.now.events = 301;
	return s;
}

static int read_back(const void *data, size_t size, struct status *ret)
{
	int memory = channel__memory(), err;
	struct status *s;
	size_t n = 0;

	assert_int_equal(channel__put(memory, data, size), 0);
	err = status__read(memory, &s, &n);
	close(memory);
	assert_int_equal(status__parse(data, size, ret), !err && n == 1);
	if (err)
		return err;
	if (n)
		assert_memory_equal(s, ret, sizeof(*ret));
	free(s);
	return n == 1 ? 0 : -EBADMSG;
}

static int check(const struct status *s)
{
	struct status ret;

	return read_back(s, sizeof(*s), &ret);
}

TEST(accepted)
{
	struct status s = made(), ret;

	assert_int_equal(read_back(&s, sizeof(s), &ret), 0);
	assert_memory_equal(&s, &ret, sizeof(s));
	s.state = STATUS_ATTACHING;
	s.recorder = 0;
	assert_int_equal(read_back(&s, sizeof(s), &ret), 0);
	memset(s.name, '\033', sizeof(s.name) - 1);
	assert_int_equal(read_back(&s, sizeof(s), &ret), 0);
	assert_int_equal(strspn(ret.name, "?"), sizeof(s.name) - 1);
}

#define REFUSED(change)                                                                            \
	do {                                                                                       \
		struct status s = made();                                                          \
                                                                                                   \
		change;                                                                            \
		assert_int_equal(check(&s), -EBADMSG);                                             \
	} while (0)

TEST(refused)
{
	struct status many[STATUS_TARGETS + 1], *ret, one = made();
	int memory = channel__memory();
	size_t n;

	REFUSED(s.magic++);
	REFUSED(s.pid = 0);
	REFUSED(s.recorder = -1);
	REFUSED(memset(s.name, 'x', sizeof(s.name)));
	REFUSED(s.is_flight = 2);
	REFUSED(s.has_stacks = 2);
	REFUSED(s.trap_ns = 2 * SECOND);
	REFUSED(s.started = s.first.time + 1);
	REFUSED(s.first.events = s.last.events + 1);
	REFUSED(s.last.cpu_ns = s.now.cpu_ns + 1);
	REFUSED(s.now.target_cpu_ns = UINT64_MAX);
	REFUSED(s.window_from = s.window_to + 1);
	REFUSED(s.state = STATUS_STATES);
	assert_int_equal(read_back(&one, sizeof(one) - 1, &many[0]), -EBADMSG);
	assert_int_equal(read_back(&one, 0, &many[0]), -EBADMSG);
	for (size_t i = 0; i <= STATUS_TARGETS; i++)
		many[i] = one;
	assert_int_equal(read_back(many, 2 * sizeof(one), &one), -EBADMSG);
	assert_int_equal(channel__put(memory, many, sizeof(many)), 0);
	assert_int_equal(status__read(memory, &ret, &n), -EBADMSG);
	assert_int_equal(ftruncate(memory, sizeof(many) - sizeof(one)), 0);
	assert_int_equal(status__read(memory, &ret, &n), 0);
	assert_int_equal(n, STATUS_TARGETS);
	free(ret);
	close(memory);
}

static char *json(const struct status *s, size_t n)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	status__print_json(out, s, n, 7 * SECOND);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no '%s' in %s", part, text);
}

TEST(printed)
{
	static const char *const parts[] = {
		"\"pid\": 7,",
		"\"name\": \"caddy\",",
		"\"state\": \"recording\",",
		"\"age_s\": 6,",
		"\"events\": 301,",
		"\"events_per_s\": 100,",
		"\"bytes_per_s\": 2000,",
		"\"lost\": 2,",
		"\"lost_per_s\": 0.5,",
		"\"rates_over_s\": 2,",
		"\"hits\": 32,",
		"\"hits_per_s\": 10.5,",
		"\"tracepoint_hits\": 30,",
		"\"tracepoint_hits_per_s\": 3.5,",
		"\"inline_events\": 9,",
		"\"trap_ns\": 500,",
		"\"cost_ns\": 1000000000,",
		"\"cost_cpu_percent\": 50,",
		"\"target_cpu_percent\": 50,",
		"\"cpu_percent\": 25,",
		"\"memory_bytes\": 1,",
		"\"length_s\": 0.5,",
		"\"causes\": 6,",
		"\"snapshots\": 7\n",
	};
	struct status s[2] = { made(), made() };
	char *text = json(s, 2);

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		assert_has(text, parts[i]);
	assert_non_null(strstr(strstr(text, "\"pid\": 7,") + 1, "\"pid\": 7,"));
	free(text);
}

/* Before the first generation has ended, and without a flight recorder. */
TEST(unknown)
{
	struct status s = made();
	char *text;

	s.last = s.now = s.first;
	s.is_flight = 0;
	s.trap_ns = 0;
	text = json(&s, 1);
	assert_has(text, "\"events_per_s\": null,");
	assert_has(text, "\"cost_cpu_percent\": null,");
	assert_has(text, "\"window\": null\n");
	free(text);
	s.state = STATUS_SILENT;
	text = json(&s, 1);
	assert_has(text, "\"state\": \"not answering\"\n");
	free(text);
	text = json(NULL, 0);
	assert_string_equal(text, "[]\n");
	free(text);
}
