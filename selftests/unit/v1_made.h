/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Makes traces of Go 1.21 and older for the unit tests, and prints their events as text.
 */
#ifndef SELFTESTS_V1_MADE_H
#define SELFTESTS_V1_MADE_H

#include "unit/test.h"
#include "v1/v1_impl.h"

/* traces */

struct made {
	unsigned char *data;
	size_t len, cap;
	unsigned int version;
};

static inline void add(struct made *t, const void *data, size_t len)
{
	if (t->len + len > t->cap) {
		t->cap = 2 * (t->len + len);
		t->data = realloc(t->data, t->cap);
		assert_non_null(t->data);
	}
	memcpy(t->data + t->len, data, len);
	t->len += len;
}

static inline void add_byte(struct made *t, unsigned int byte)
{
	unsigned char b = (unsigned char)byte;

	add(t, &b, 1);
}

static inline void add_number(struct made *t, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		add_byte(t, (v & 0x7f) | 0x80);
	add_byte(t, (unsigned int)v);
}

static inline struct made begin(unsigned int version)
{
	struct made t = { .version = version };
	char header[32] = "gotrace";

	if (version)
		snprintf(header, sizeof(header), "go 1.%u trace", version);
	add(&t, header, version ? 16 : 8);
	return t;
}

/* In the wire format of the version for this number of arguments. */
static inline void add_event(struct made *t, unsigned int type, const uint64_t *arg, size_t n)
{
	size_t least = t->version == 5 ? 2 : 1;
	struct made args = {};

	for (size_t i = 0; i < n; i++)
		add_number(&args, arg[i]);
	if (n >= least && n < least + 3) {
		add_byte(t, type | (unsigned int)(n - least) << 6);
	} else {
		add_byte(t, type | 3 << 6);
		add_number(t, args.len);
	}
	add(t, args.data, args.len);
	free(args.data);
}

#define EV(t, type, ...)                                                                           \
	do {                                                                                       \
		const uint64_t args_[] = { __VA_ARGS__ };                                          \
		add_event(t, type, args_, sizeof(args_) / sizeof(*args_));                         \
	} while (0)

static inline void add_string(struct made *t, uint64_t id, const char *s)
{
	add_byte(t, V1_STRING);
	add_number(t, id);
	add_number(t, strlen(s));
	add(t, s, strlen(s));
}

/* what is made of them */

static inline int open_made(const struct made *t, const char *binary, struct v1 **ret,
			    struct error *err)
{
	struct input *in;
	int e;

	assert_int_equal(input__open_memory(&in, t->data, t->len, NULL), 0);
	e = v1__open(ret, in, t->version, binary, err);
	input__destroy(in);
	return e;
}

static inline void print_string(FILE *out, const struct dictionary *dictionary, uint64_t id)
{
	struct trace_string s;

	if (dictionary__string(dictionary, id, &s))
		fprintf(out, " \"%.*s\"", (int)s.len, s.data);
	else
		fprintf(out, " undefined");
}

static inline void print_stack(FILE *out, const struct dictionary *dictionary, uint64_t id)
{
	size_t n = dictionary__frames(dictionary, id);

	fprintf(out, n ? " [" : " -");
	for (size_t i = 0; i < n; i++) {
		const struct trace_frame *f = dictionary__frame(dictionary, id, i);
		struct trace_string func = { "?", 1 }, file = func;

		dictionary__string(dictionary, f->func, &func);
		dictionary__string(dictionary, f->file, &file);
		fprintf(out, "%s%#" PRIx64 " %.*s %.*s:%" PRIu64, i ? ", " : "", f->pc,
			(int)func.len, func.data, (int)file.len, file.data, f->line);
	}
	if (n)
		fprintf(out, "]");
}

static inline void print_args(FILE *out, const struct trace_event *ev)
{
	const struct ev_spec *spec = spec__event(ev->type);

	for (unsigned int i = 1; i < spec->nargs; i++) {
		if (spec->arg[i].type == ARG_STRING)
			print_string(out, ev->dictionary, ev->arg[i - 1]);
		else if (spec->arg[i].type == ARG_STACK)
			print_stack(out, ev->dictionary, ev->arg[i - 1]);
		else
			fprintf(out, " %" PRIi64, (int64_t)ev->arg[i - 1]);
	}
	if (ev->type == EV_STW_END)
		print_string(out, ev->dictionary, ev->arg[0]);
	if (ev->type == EV_USER_TASK_END)
		fprintf(out, " of %" PRIi64 " \"%.*s\"", (int64_t)ev->parent, (int)ev->name.len,
			ev->name.data);
}

/* One line per event: TIME NAME m p g ARGUMENTS. */
static inline void print_event(FILE *out, const struct trace_event *ev)
{
	if (ev->type == EV_SYNC) {
		fprintf(out, "%" PRIi64 " Sync %u\n", ev->time, ev->sync->n);
		assert_true(!ev->dictionary || ev->sync->n == 1);
		return;
	}
	fprintf(out, "%" PRIi64 " %s m%" PRIi64 " p%" PRIi64 " g%" PRIi64, ev->time,
		spec__event(ev->type)->name, (int64_t)ev->m, (int64_t)ev->p, (int64_t)ev->g);
	if (ev->type == EV_CPU_SAMPLE)
		print_stack(out, ev->dictionary, ev->arg[0]);
	else
		print_args(out, ev);
	fprintf(out, "\n");
}

/* All events, and the error after them, if any. Frees the trace. */
static inline char *read_all(struct made *t, const char *binary)
{
	struct error err = { "" };
	struct trace_event ev;
	struct v1 *v = NULL;
	size_t size;
	char *text;
	FILE *out = open_memstream(&text, &size);
	int e = open_made(t, binary, &v, &err);

	while (!e && (e = v1__next(v, &ev, &err)) > 0) {
		print_event(out, &ev);
		e = 0;
	}
	if (!e)
		assert_int_equal(v1__next(v, &ev, &err), 0);
	if (e < 0)
		fprintf(out, "%s\n", err.text);
	fclose(out);
	v1__destroy(v);
	free(t->data);
	return text;
}

static inline void expect(struct made *t, const char *binary, const char *text)
{
	char *found = read_all(t, binary);

	assert_string_equal(found, text);
	free(found);
}

static inline void expect_reason(struct made *t, const char *reason)
{
	char *found = read_all(t, NULL);

	if (!strstr(found, reason))
		fail_msg("no \"%s\" in: %s", reason, found);
	free(found);
}

static inline void temporary(char *path)
{
	int fd;

	strcpy(path, "/tmp/test_v1.XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
}

/* Goroutines 1, 2 and 3 exist; 2 waits, 3 has no status. P 0 begins at tick 1000. */
static inline struct made begin_21(void)
{
	struct made t = begin(21);

	EV(&t, V1_BATCH, 0, 1000);
	EV(&t, V1_FREQUENCY, 1000000000);
	EV(&t, V1_GO_CREATE, 0, 3, 1, 0);
	EV(&t, V1_GO_CREATE, 1, 1, 1, 0);
	EV(&t, V1_GO_CREATE, 1, 2, 1, 0);
	EV(&t, V1_GO_WAITING, 1, 2);
	EV(&t, V1_PROC_START, 1, 7);
	EV(&t, V1_GO_START_LOCAL, 1, 1);
	EV(&t, V1_GOMAXPROCS, 1, 4, 2);
	return t;
}

#define BEGIN_21                                                                                   \
	"-1 Sync 1\n"                                                                              \
	"3 GoStatus m-1 p0 g2 2 -1 4\n"                                                            \
	"4 ProcStatus m7 p0 g-1 0 1\n"                                                             \
	"5 GoStatus m7 p0 g1 1 -1 2\n"                                                             \
	"6 GoStatus m-1 p-1 g-1 3 -1 1\n"

/* Stack 1 is main.f, 2 main.g called by main.f. */
static inline void add_tables(struct made *t)
{
	add_string(t, 1, "main.f");
	add_string(t, 2, "main.g");
	add_string(t, 3, "main.go");
	EV(t, V1_STACK, 1, 1, 0x401000, 1, 3, 10);
	EV(t, V1_STACK, 2, 2, 0x402000, 2, 3, 20, 0x401000, 1, 3, 10);
}

#define F "0x401000 main.f main.go:10"
#define G "0x402000 main.g main.go:20"

static inline void add_log(struct made *t, uint64_t after, uint64_t key, const char *message)
{
	EV(t, V1_LOG, after, 77, key, 1);
	add_number(t, strlen(message));
	add(t, message, strlen(message));
}

/* Version 5: P 1 is first in the file but has the later sequence numbers. */
static inline struct made begin_5(void)
{
	struct made t = begin(5);

	EV(&t, V1_BATCH, 1, 10, 1020);
	EV(&t, V1_PROC_START, 2, 0, 6);
	EV(&t, V1_GO_SYS_EXIT, 8, 30, 1, 13, 1025);
	EV(&t, V1_GO_START, 1, 1, 1);
	EV(&t, V1_BATCH, 0, 0, 1000);
	EV(&t, V1_FREQUENCY, 1000000000, 0);
	EV(&t, V1_TIMER_GOROUTINE, 99, 0);
	EV(&t, V1_GO_CREATE, 1, 0, 1, 0x401000, 0);
	EV(&t, V1_PROC_START, 1, 1, 5);
	EV(&t, V1_GO_START, 1, 1, 1);
	EV(&t, V1_GOMAXPROCS, 1, 1, 2, 0);
	EV(&t, V1_GO_CREATE, 1, 7, 2, 0x402000, 1);
	EV(&t, V1_GO_SYS_CALL, 1, 1, 1);
	EV(&t, V1_GO_SYS_BLOCK, 1, 1);
	EV(&t, V1_PROC_STOP, 8, 14);
	EV(&t, V1_STACK, 1, 2, 0x402018, 0x401008);
	return t;
}

#endif
