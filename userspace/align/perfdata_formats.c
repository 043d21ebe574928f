// SPDX-License-Identifier: GPL-2.0
/*
 * The formats of tracepoints in a perf.data file: which fields a scheduler event has, and where.
 * They are the text of /sys/kernel/tracing/events/sched/EVENT/format of the machine that recorded,
 * parsed by libtraceevent, and used by perfdata_sample.c through the attributes.
 *
 * They are embedded in data in the format of trace-cmd files, whose other parts are skipped by
 * their lengths. libtraceevent gets only the lines of fields, if these look like the kernel's: the
 * rest is a C expression that prints the event, and would be parsed, too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <traceevent/event-parse.h>

#include "align/perfdata_impl.h"

#define WHAT	    "event formats"

#define FORMAT_MAX  (64u << 10) /* bytes per format; that of sched_switch has 2 Ki */
/* a kernel has about thirty; libtraceevent keeps them sorted by insertion */
#define FORMATS_MAX 1024
#define LINE_MAX    256 /* of a line */
#define MAGIC	    "\x17\x08\x44tracing"
#define STOP	    "print fmt:"

enum line { LINE_NAME, LINE_ID, LINE_FORMAT, LINE_FIELD };

struct formats {
	struct perf_data *d;
	struct tep_handle *tep;
	uint64_t left; /* bytes of the section */
};

/* Names of the fields for struct perf_sched; NULL: it has no such field. */
static const struct known {
	const char *event;
	enum perf_sched_kind kind;
	const char *tid, *comm, *next, *next_comm, *state;
} known[] = {
	{ "sched_switch", PERF_SWITCH, "prev_pid", "prev_comm", "next_pid", "next_comm",
	  "prev_state" },
	{ "sched_waking", PERF_WAKING, "pid", "comm", "target_cpu" },
	{ "sched_wakeup", PERF_WAKEUP, "pid", "comm", "target_cpu" },
	{ "sched_wakeup_new", PERF_WAKEUP, "pid", "comm", "target_cpu" },
	{ "sched_migrate_task", PERF_MIGRATE, "pid", "comm", "dest_cpu", NULL, "orig_cpu" },
	{ "sched_process_fork", PERF_FORK, "parent_pid", "parent_comm", "child_pid", "child_comm" },
	{ "sched_process_exit", PERF_EXIT, "pid", "comm" },
	{ NULL, PERF_OTHER_SCHED, "pid", "comm" },
};

static const struct known *find_known(const char *event)
{
	const struct known *k = known;

	while (k->event && strcmp(k->event, event))
		k++;
	return k;
}

static int set_field(const struct perf_data *d, struct tep_event *event, const char *name,
		     bool is_text, struct sched_field *ret, struct error *error)
{
	const struct tep_format_field *f = name ? tep_find_field(event, name) : NULL;
	unsigned long loc;
	bool is_number;

	if (!f)
		return 0;
	loc = f->flags & (TEP_FIELD_IS_DYNAMIC | TEP_FIELD_IS_RELATIVE);
	is_number = f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8;
	if (f->offset < 0 || f->size <= 0 || f->offset > PERF_RECORD_MAX ||
	    f->size > PERF_RECORD_MAX || (loc ? !is_text || f->size != 4 : !is_text && !is_number))
		return error__set(error, -EBADMSG, "%s: its format of %s has no valid field %s",
				  input__name(d->in), event->name, name);
	ret->offset = (uint32_t)f->offset;
	ret->size = (uint32_t)f->size;
	ret->where = loc & TEP_FIELD_IS_RELATIVE ? SCHED_REL_LOC :
		     loc			 ? SCHED_DATA_LOC :
						   SCHED_HERE;
	return 0;
}

static int set_fields(const struct perf_data *d, struct tep_event *event, const struct known *k,
		      struct sched_format *f, struct error *error)
{
	int err = set_field(d, event, k->tid, false, &f->tid, error);

	err = err ?: set_field(d, event, k->comm, true, &f->comm, error);
	err = err ?: set_field(d, event, k->next, false, &f->next, error);
	err = err ?: set_field(d, event, k->next_comm, true, &f->next_comm, error);
	err = err ?: set_field(d, event, k->state, false, &f->state, error);
	if (err || !k->event)
		return err;
	if (f->tid.where == SCHED_ABSENT || (k->next && f->next.where == SCHED_ABSENT) ||
	    (k->state && f->state.where == SCHED_ABSENT))
		return error__set(error, -EBADMSG, "%s: its format of %s lacks a field of %s",
				  input__name(d->in), event->name, "threads or CPUs");
	return 0;
}

static int add(struct perf_data *d, struct tep_event *event, struct error *error)
{
	const struct known *k = find_known(event->name);
	struct sched_format *f;
	int err;

	if (d->formats++ == FORMATS_MAX)
		return error__set(error, -E2BIG, "%s: more than %d formats of sched events",
				  input__name(d->in), FORMATS_MAX);
	f = arena__alloc(&d->arena, sizeof(*f));
	if (!f)
		return perf__no_memory(d, error);
	*f = (struct sched_format){ .kind = k->kind };
	err = perf__name(d, event->name, strlen(event->name), &f->name, error);
	err = err ?: set_fields(d, event, k, f, error);
	if (!err && map__put(&d->format_of, (uint64_t)event->id, f))
		return perf__no_memory(d, error);
	return err;
}

static bool literal(const char **p, const char *text)
{
	size_t len = strlen(text);

	if (strncmp(*p, text, len))
		return false;
	*p += len;
	return true;
}

static bool some_of(const char **p, const char *chars)
{
	size_t len = strspn(*p, chars);

	*p += len;
	return len;
}

#define DIGITS "0123456789"
#define WORD   DIGITS "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

static bool word(const char **p)
{
	return !memchr(DIGITS, **p, strlen(DIGITS)) && some_of(p, WORD);
}

static bool number_behind(const char **p, const char *text)
{
	return literal(p, text) && some_of(p, DIGITS);
}

/*
 * "unsigned long x", "const char * x", "char x[16]" and, for data stored elsewhere, "__data_loc
 * char[] x"
 */
static bool declaration(const char **p)
{
	bool elsewhere = !strncmp(*p, "__data_loc ", 11) || !strncmp(*p, "__rel_loc ", 10);
	unsigned int words = 0, arrays = 0;
	bool pointer, named;

	do {
		pointer = some_of(p, "*");
		named = word(p);
		words += named;
		arrays += named && elsewhere && literal(p, "[]");
	} while ((pointer ? !named : named) && literal(p, " "));
	if (!named || words < 2U + elsewhere || arrays != elsewhere)
		return false;
	return elsewhere || !literal(p, "[") || (some_of(p, WORD) && literal(p, "]"));
}

static bool field(const char **p)
{
	if (!literal(p, "\tfield:") || !declaration(p) || !number_behind(p, ";\toffset:") ||
	    !number_behind(p, ";\tsize:"))
		return false;
	number_behind(p, ";\tsigned:");
	return literal(p, ";");
}

/*
 * The kernel's lines are in the order of `line`. libtraceevent expects LOCAL_PR_FMT and the like
 * anywhere, because of the strings of some drivers.
 */
static bool is_line(const char *text, enum line line)
{
	const char *p = text;
	bool good = false;

	switch (line) {
	case LINE_NAME:
		good = literal(&p, "name: ") && word(&p);
		break;
	case LINE_ID:
		good = number_behind(&p, "ID: ");
		break;
	case LINE_FORMAT:
		good = literal(&p, "format:");
		break;
	case LINE_FIELD:
		good = field(&p);
		break;
	}
	return good && !*p && !strstr(text, "_PR_FMT");
}

/*
 * Copy the lines before "print fmt:", with the empty line after the common fields, to `to`. A field
 * whose declaration does not look like the kernel's is left out. False: not a format.
 */
static bool copy_lines(const char *text, size_t size, char *to)
{
	enum line form = LINE_NAME;
	bool had_common = false;
	char line[LINE_MAX];
	const char *end;
	size_t len;

	while (size >= strlen(STOP) && memcmp(text, STOP, strlen(STOP))) {
		end = memchr(text, '\n', size);
		if (!end)
			return false;
		len = (size_t)(end - text) + 1;
		snprintf(line, sizeof(line), "%.*s", (int)len - 1, text);
		if (form == LINE_FIELD && len == 1 && !had_common) {
			had_common = true;
			*to++ = '\n';
		} else if (strlen(line) == len - 1 && is_line(line, form)) {
			to = mempcpy(to, text, len);
			form += form < LINE_FIELD;
		} else if (form < LINE_FIELD) {
			return false;
		}
		text += len;
		size -= len;
	}
	strcpy(to, "\n" STOP " \"\"");
	return had_common && size >= strlen(STOP);
}

static int parse(struct formats *f, const char *text, size_t size, const char *system,
		 struct error *error)
{
	char *lines = malloc(size + sizeof("\n" STOP " \"\""));
	struct tep_event *event = NULL;
	int err = 0;

	if (!lines)
		return perf__no_memory(f->d, error);
	if (!copy_lines(text, size, lines) ||
	    tep_parse_format(f->tep, &event, lines, strlen(lines), system) || !event ||
	    !event->name)
		err = perf__broken(f->d, WHAT, error);
	else
		err = add(f->d, event, error);
	free(lines);
	return err;
}

static int take(struct formats *f, size_t len, const unsigned char **ret, struct error *error)
{
	f->d->at = input__offset(f->d->in);
	return perf__take(f->d, &f->left, len, ret, WHAT, error);
}

/* An integer of `size` bytes. */
static int take_number(struct formats *f, void *ret, size_t size, struct error *error)
{
	const unsigned char *p;
	int err = take(f, size, &p, error);

	if (!err)
		memcpy(ret, p, size);
	return err;
}

/* With its NUL; what does not fit into `to` is dropped. */
static int take_string(struct formats *f, char *to, size_t size, struct error *error)
{
	const unsigned char *p;
	size_t len = 0;
	int err;

	for (;;) {
		err = take(f, 1, &p, error);
		if (err)
			return err;
		if (len + 1 < size)
			to[len++] = (char)*p;
		if (!*p)
			break;
	}
	to[len] = 0;
	return 0;
}

/* A length, and that many bytes. */
static int skip_sized(struct formats *f, struct error *error)
{
	uint64_t size;
	int err = take_number(f, &size, sizeof(size), error);

	return err ? err : perf__skip(f->d, &f->left, size, WHAT, error);
}

/* "\x17\x08Dtracing", version, endianness, size of a long and of a page; two headers, and ftrace's */
static int read_prologue(struct formats *f, struct error *error)
{
	const unsigned char *p;
	uint32_t n = 0;
	char name[16];
	int err = take(f, strlen(MAGIC), &p, error);

	if (!err && memcmp(p, MAGIC, strlen(MAGIC)))
		return perf__broken(f->d, WHAT, error);
	err = err ?: take_string(f, name, sizeof(name), error);
	err = err ?: take(f, 6, &p, error);
	if (!err && (p[0] || p[1] != sizeof(uint64_t)))
		return error__set(
			error, -EBADMSG,
			"%s: recorded on an unsupported machine: it must be little-endian and "
			"64-bit",
			input__name(f->d->in));
	for (int i = 0; i < 2 && !err; i++) {
		err = take_string(f, name, sizeof(name), error);
		err = err ?: skip_sized(f, error);
	}
	err = err ?: take_number(f, &n, sizeof(n), error);
	while (!err && n--)
		err = skip_sized(f, error);
	return err;
}

static int read_format(struct formats *f, const char *system, struct error *error)
{
	const unsigned char *p;
	uint64_t size;
	int err = take_number(f, &size, sizeof(size), error);

	if (err)
		return err;
	if (strcmp(system, "sched"))
		return perf__skip(f->d, &f->left, size, WHAT, error);
	if (size > FORMAT_MAX)
		return perf__broken(f->d, WHAT, error);
	err = take(f, (size_t)size, &p, error);
	return err ? err : parse(f, (const char *)p, (size_t)size, system, error);
}

static int read_systems(struct formats *f, struct error *error)
{
	uint32_t systems, events;
	char system[64];
	int err = take_number(f, &systems, sizeof(systems), error);

	while (!err && systems--) {
		err = take_string(f, system, sizeof(system), error);
		err = err ?: take_number(f, &events, sizeof(events), error);
		while (!err && events--)
			err = read_format(f, system, error);
	}
	return err;
}

static int read_section(struct formats *f, struct error *error)
{
	int err = read_prologue(f, error);

	err = err ?: read_systems(f, error);
	return err ? err : perf__skip(f->d, &f->left, f->left, WHAT, error);
}

int perf__read_formats(struct perf_data *d, uint64_t size, struct error *error)
{
	struct formats f = { .d = d, .left = size };
	int err;

	tep_set_loglevel(TEP_LOG_NONE);
	f.tep = tep_alloc();
	if (!f.tep)
		return perf__no_memory(d, error);
	err = read_section(&f, error);
	tep_free(f.tep);
	d->has_formats = true;
	for (size_t i = 0; i < d->attrs && !err; i++)
		err = perf__resolve(d, d->attr[i], error);
	return err;
}
