// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace stat: what is in a trace, counted.
 *
 * The trace is read twice: by trace/reader.c, which says that it is valid and gives the events in
 * order, and by trace/raw.c, which says how many bytes each took. trace/statistics.c counts.
 */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "stat.h"

#define FIRST_V2 22

enum { OPT_JSON = 256 };

struct arguments {
	struct trace_source in;
	bool json;
};

static const struct argp_option options[] = {
	{ "json", OPT_JSON, NULL, 0, "a JSON object with all the figures", 0 },
	LENIENT_OPTION,
	BINARY_OPTION,
	MEMORY_OPTION,
	HELP_OPTION,
	{},
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case OPT_JSON:
		a->json = true;
		return 0;
	default:
		if (trace_source__option(&a->in, key, text) != ARGP_ERR_UNKNOWN)
			return 0;
		return command__key(key, state, "stat");
	}
}

static const struct argp parser = {
	options,
	parse_option,
	"FILE",
	"Counts what is in a trace: generations, goroutines, threads, events and bytes of each "
	"type; and shows its clocks and what the recorder said of losses and of itself.",
	NULL,
	NULL,
	NULL,
};

/* Does it begin as a trace does, plain or packed? Else there is no point in copying it. */
static bool begins_well(const char *data, size_t len)
{
	static const char *const begins[] = { "go 1.", "gotrace", "\x1f\x8b", "\x28\xb5\x2f\xfd" };

	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
		if (len >= strlen(begins[i]) && !memcmp(data, begins[i], strlen(begins[i])))
			return true;
	return false;
}

static int copy(FILE *from, FILE *to)
{
	char buffer[65536];
	bool first = true;
	size_t n;

	while ((n = fread(buffer, 1, sizeof(buffer), from))) {
		if (fwrite(buffer, 1, n, to) != n)
			return -errno;
		if (first && !begins_well(buffer, n))
			break;
		first = false;
	}
	return ferror(from) || fflush(to) ? -errno : 0;
}

/*
 * A pipe can be read but once: what comes through it is copied to a file without a name, which
 * becomes stdin.
 */
static int copy_to_stdin(const char *path, struct error *err)
{
	FILE *from = strcmp(path, "-") ? fopen(path, "re") : stdin, *to = tmpfile();
	int code = from && to ? copy(from, to) : -errno;

	if (!code && dup2(fileno(to), STDIN_FILENO) < 0)
		code = -errno;
	if (from && from != stdin)
		fclose(from);
	if (to)
		fclose(to);
	lseek(STDIN_FILENO, 0, SEEK_SET);
	return code ? error__set(err, code, "%s: cannot be copied, to be read twice: %s", path,
				 strerror(-code)) :
		      0;
}

/* What to open for each pass; stdin begins at *ret_start. 0 or a negative errno with the reason. */
static int prepare(const char *path, const char **ret, off_t *ret_start, struct error *err)
{
	bool is_stdin = !strcmp(path, "-");
	struct stat st;
	int code;

	*ret_start = 0;
	*ret = path;
	if (is_stdin ? fstat(STDIN_FILENO, &st) : stat(path, &st))
		return 0; /* who opens it says why */
	if (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) {
		if (is_stdin)
			*ret_start = lseek(STDIN_FILENO, 0, SEEK_CUR);
		return 0;
	}
	code = copy_to_stdin(path, err);
	*ret = "-";
	return code;
}

static int read_ordered(struct reader *r, const char *path, struct statistics *s, struct error *err)
{
	struct trace_event ev = {};
	struct error why = {};
	int code;

	while ((code = reader__next(r, &ev, &why)) > 0)
		if (statistics__event(s, &ev))
			return error__set(err, -ENOMEM, "out of memory");
	return code ? error__about(err, code, path, &why) : 0;
}

static int read_raw(const struct arguments *a, const char *open, struct statistics *s,
		    struct error *err)
{
	struct input *in;
	int code = input__open(&in, open, err);

	if (code)
		return code;
	code = statistics__raw(s, in, a->in.reader.lenient, err);
	input__destroy(in);
	return code;
}

static bool passed_over_any(const struct reader *r)
{
	const struct described_event *ev;

	for (unsigned int type = 0; type < 256; type++)
		if (reader__passed_over(r, (uint8_t)type, &ev))
			return true;
	return false;
}

static int read_twice(const struct arguments *a, struct stat_report *ret, struct error *err)
{
	struct reader *r = NULL;
	const char *open, *left_out;
	off_t start;
	int code = prepare(a->in.path, &open, &start, err);

	if (!code)
		code = open_trace(open, &a->in.reader, &r, err);
	if (code)
		return code;
	if (reader__version(r))
		snprintf(ret->format, sizeof(ret->format), "go1.%u", reader__version(r));
	else
		strcpy(ret->format, "gotrace");
	code = read_ordered(r, a->in.path, &ret->counts, err);
	/* The raw reader knows no other types than our table. */
	ret->has_bytes = reader__version(r) >= FIRST_V2 && !passed_over_any(r);
	left_out = reader__left_out(r);
	if (!code)
		say_what_is_missing(a->in.path, r);
	if (!code && left_out)
		snprintf(ret->left_out, sizeof(ret->left_out), "%s", left_out);
	reader__destroy(r);
	if (!strcmp(open, "-"))
		lseek(STDIN_FILENO, start, SEEK_SET);
	return code || !ret->has_bytes ? code : read_raw(a, open, &ret->counts, err);
}

int do_stat(int argc, char **argv, struct error *err)
{
	struct arguments a = { .in.reader.described = true };
	struct stat_report report = {};
	int code;

	argp_parse(&parser, argc, argv, COMMAND_FLAGS, NULL, &a);
	trace_source__check(&a.in);
	statistics__init(&report.counts);
	report.path = a.in.path;
	code = read_twice(&a, &report, err);
	if (!code) {
		code = a.json ? stat__print_json(&report) : stat__print_table(&report);
		if (code)
			error__set(err, code, "%s: %s", a.in.path, strerror(-code));
	}
	statistics__deinit(&report.counts);
	return code ? EXIT_FAILED : EXIT_DONE;
}

static int compare_numbers(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static uint64_t number_of(const struct statistics_generation *g, enum spread_of what)
{
	if (what == SPREAD_NS)
		return (uint64_t)g->end - (uint64_t)g->start;
	return what == SPREAD_BYTES ? g->bytes : g->events;
}

int spread__of(const struct statistics *s, enum spread_of what, struct spread *ret)
{
	uint64_t *numbers = calloc(s->generations + 1, sizeof(*numbers));
	size_t n = s->generations;

	if (!numbers)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		numbers[i] = number_of(&s->generation[i], what);
	qsort(numbers, n, sizeof(*numbers), compare_numbers);
	*ret = (struct spread){ numbers[0], numbers[n / 2], n ? numbers[n - 1] : 0 };
	free(numbers);
	return 0;
}

const struct trace_clock *stat__clock(const struct statistics *s)
{
	for (size_t i = 0; i < s->generations; i++)
		if (s->generation[i].clock.known)
			return &s->generation[i].clock;
	return NULL;
}
