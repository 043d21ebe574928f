// SPDX-License-Identifier: GPL-2.0
/*
 * The event table: its consistency, and all names and arguments compared with Go's table in the
 * file that $GT_GO_EVENTS names.
 */
#include "unit/test.h"
#include "format/spec.h"

TEST(numbers_match_the_format)
{
	assert_string_equal(spec__event(1)->name, "EventBatch");
	assert_string_equal(spec__event(9)->name, "ProcsChange");
	assert_string_equal(spec__event(25)->name, "GoStatus");
	assert_string_equal(spec__event(44)->name, "UserLog");
	assert_string_equal(spec__event(48)->name, "GoStatusStack");
	assert_string_equal(spec__event(52)->name, "EndOfGeneration");
	assert_string_equal(spec__event(128)->name, "Span");
	assert_string_equal(spec__event(136)->name, "GoroutineStackFree");
	assert_int_equal(EV_COUNT, 53);
	assert_int_equal(EV_END, 137);
}

TEST(unused_numbers_are_not_events)
{
	unsigned int type, n = 0;

	assert_null(spec__event(0));
	assert_null(spec__event(53));
	assert_null(spec__event(127));
	assert_null(spec__event(137));
	assert_null(spec__event(UINT32_MAX));
	for (type = 0; type < 300; type++)
		n += !!spec__event(type);
	assert_int_equal(n, 52 + 9);
}

static unsigned int type_named(const char *name)
{
	unsigned int type;

	for (type = 0; type < EV_END; type++)
		if (spec__event(type) && !strcmp(spec__event(type)->name, name))
			return type;
	return EV_NONE;
}

TEST(rows_are_consistent)
{
	unsigned int type, i;

	for (type = 1; type < EV_END; type++) {
		const struct ev_spec *s = spec__event(type);

		if (!s)
			continue;
		assert_int_equal(type_named(s->name), type);
		assert_true(s->nargs <= EV_ARGS_MAX);
		assert_in_range(s->since, 22, 26);
		assert_int_equal(s->until, 26);
		for (i = 0; i < EV_ARGS_MAX; i++) {
			assert_true(!!s->arg[i].name == (i < s->nargs));
			assert_true(!!s->arg[i].type == (i < s->nargs));
			assert_true((s->timed && i == 0) ==
				    (s->arg[i].name && !strcmp(s->arg[i].name, "dt")));
		}
		if (s->start)
			assert_true(spec__event(s->start)->timed);
		assert_true(s->experiment ==
			    (type >= 128 ? EXPERIMENT_ALLOC_FREE : EXPERIMENT_NONE));
	}
	assert_int_equal(type_named("NoSuchEvent"), EV_NONE);
}

/* Go's names end with the type of an argument: "p_seq", "reason_string" or just "stack". */
TEST(types_agree_with_names)
{
	static const struct {
		const char *suffix;
		enum ev_arg type;
	} kinds[] = {
		{ "seq", ARG_SEQ },
		{ "string", ARG_STRING },
		{ "stack", ARG_STACK },
		{ "g", ARG_G },
		{ "m", ARG_M },
		{ "p", ARG_P },
		{ "task", ARG_TASK },
		{ "gstatus", ARG_STATUS },
		{ "pstatus", ARG_STATUS },
	};
	unsigned int type, i, k;

	for (type = 1; type < EV_END; type++) {
		const struct ev_spec *s = spec__event(type);

		for (i = 0; s && i < s->nargs; i++) {
			const char *suffix = strrchr(s->arg[i].name, '_');

			suffix = suffix ? suffix + 1 : s->arg[i].name;
			for (k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
				assert_true(
					!strcmp(suffix, kinds[k].suffix) ==
						(s->arg[i].type == kinds[k].type) ||
					(s->arg[i].type == ARG_STATUS && strstr(suffix, "status")));
		}
	}
}

/* Each event has a sentence, each argument a phrase. */
TEST(every_row_is_documented)
{
	unsigned int type, i;

	for (type = 0; type < 300; type++) {
		const struct ev_spec *s = spec__event(type);
		const struct ev_doc *w = spec__doc(type);

		assert_true(!s == !w);
		if (!s)
			continue;
		assert_true(w->what[0] >= 'A' && w->what[0] <= 'Z');
		assert_int_equal(w->what[strlen(w->what) - 1], '.');
		assert_true(s->timed || !w->descriptive);
		for (i = 0; i < s->nargs; i++)
			assert_non_null(spec__arg_doc(s->arg[i].name));
	}
	assert_null(spec__arg_doc("no_such_argument"));
}

/* Ranges: the begin event of an end is Go's, and the begin event refers to the end. */
TEST(ranges_link_begin_and_end)
{
	unsigned int type, begins = 0, ends = 0;

	for (type = 1; type < EV_END; type++) {
		const struct ev_doc *w = spec__doc(type), *link;

		if (!w || !w->descriptive || w->class == CLASS_INSTANT) {
			assert_true(!w || !w->link);
			continue;
		}
		link = spec__doc(w->link);
		assert_true(link->descriptive && link->scope == w->scope);
		assert_int_equal(link->class, w->class == CLASS_BEGIN ? CLASS_END : CLASS_BEGIN);
		if (w->class == CLASS_END)
			assert_int_equal(link->link, type);
		if (w->class == CLASS_END && type != EV_USER_TASK_END) /* Go matches those by id */
			assert_int_equal(w->link, spec__event(type)->start);
		begins += w->class == CLASS_BEGIN;
		ends += w->class == CLASS_END;
	}
	assert_int_equal(begins, 9);
	assert_int_equal(ends, 6);
}

TEST(statuses_have_values)
{
	unsigned int type, i;
	size_t n;

	for (type = 1; type < EV_END; type++) {
		const struct ev_spec *s = spec__event(type);
		bool status = false;

		for (i = 0; s && i < s->nargs; i++)
			status |= s->arg[i].type == ARG_STATUS;
		assert_true(status == !!spec__values(type, &n));
	}
}

TEST(limits_equal_go)
{
	assert_int_equal(TRACE_BATCH_MAX, 64 << 10);
	assert_int_equal(TRACE_STRING_MAX, 1 << 10);
	assert_int_equal(TRACE_STACK_MAX, 128);
	assert_int_equal(EV_ARGS_MAX, 5);
}

/* `go tool trace` of a release reads its own version and older ones. */
TEST(versions_for_releases)
{
	static const unsigned int want[][2] = { { 19, 25 }, { 21, 25 }, { 22, 22 },
						{ 23, 23 }, { 24, 23 }, { 25, 25 },
						{ 26, 25 }, { 27, 25 }, { 99, 25 } };

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		assert_int_equal(spec__version_for(want[i][0]), want[i][1]);
		assert_true(spec__version_known(want[i][1]));
	}
}

TEST(versions_of_texts)
{
	static const char *const unknown[] = { "", "1", "1.2", "1.24", "1.27", "1.25.1", "22" };

	assert_int_equal(spec__parse_version("1.22"), 22);
	assert_int_equal(spec__parse_version("1.23"), 23);
	assert_int_equal(spec__parse_version("1.25"), 25);
	assert_int_equal(spec__parse_version("1.26"), 26);
	for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++)
		assert_int_equal(spec__parse_version(unknown[i]), 0);
	assert_string_equal(TRACE_VERSION_UNKNOWN,
			    "unknown trace format '%s': must be 1.22, 1.23, 1.25 or 1.26");
}

TEST(versions_gate_events)
{
	static const struct {
		unsigned int type, since;
	} since[] = {
		{ EV_PROCS_CHANGE, 22 },
		{ EV_USER_LOG, 22 },
		{ EV_GO_SWITCH, 23 },
		{ EV_GO_SWITCH_DESTROY, 23 },
		{ EV_GO_CREATE_BLOCKED, 23 },
		{ EV_GO_STATUS_STACK, 23 },
		{ EV_EXPERIMENTAL_BATCH, 23 },
		{ EV_SPAN, 23 },
		{ EV_SYNC, 25 },
		{ EV_CLOCK_SNAPSHOT, 25 },
		{ EV_END_OF_GENERATION, 26 },
	};
	unsigned int i, version;

	for (i = 0; i < sizeof(since) / sizeof(since[0]); i++)
		for (version = 21; version <= 27; version++)
			assert_int_equal(spec__in_version(spec__event(since[i].type), version),
					 version >= since[i].since && version <= 26);
	assert_true(spec__version_known(22) && spec__version_known(23));
	assert_true(spec__version_known(25) && spec__version_known(26));
	assert_false(spec__version_known(21) || spec__version_known(24) || spec__version_known(27));
}

/* The next "…" of a line, or NULL. */
static char *quoted(char **line)
{
	char *from = strchr(*line, '"'), *to = from ? strchr(from + 1, '"') : NULL;

	if (!to)
		return NULL;
	*to = '\0';
	*line = to + 1;
	return from + 1;
}

static void check_args(const struct ev_spec *s, char *line)
{
	unsigned int n = 0;
	char *name;

	while ((name = quoted(&line))) {
		assert_true(n < s->nargs);
		assert_string_equal(s->arg[n++].name, name);
	}
	assert_int_equal(n, s->nargs);
}

/* Lines of Go's table: `Name: "GoStart",`, `Args: []string{"dt", "g", "g_seq"},` … */
TEST(table_equals_go)
{
	const char *path = getenv("GT_GO_EVENTS"); /* set by selftests/run */
	const struct ev_spec *s = NULL;
	char buf[512], *line, *name;
	unsigned int rows = 0;
	FILE *f = path ? fopen(path, "r") : NULL;

	if (!f)
		fail_msg("GT_GO_EVENTS: not Go's src/internal/trace/tracev2/events.go");
	while (fgets(buf, sizeof(buf), f)) {
		line = buf + strspn(buf, "\t ");
		if (!strncmp(line, "Name:", 5)) {
			name = quoted(&line);
			assert_int_not_equal(type_named(name), EV_NONE);
			s = spec__event(type_named(name));
			rows++;
		} else if (s && !strncmp(line, "Args:", 5)) {
			check_args(s, line);
		} else if (s && !strncmp(line, "IsTimedEvent:", 13)) {
			assert_true(s->timed);
		} else if (s && !strncmp(line, "HasData:", 8)) {
			assert_true(s->blob);
		}
	}
	fclose(f);
	assert_true(rows >= 40);
}
