/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A writer that records its calls as text, one line per call, so that a test of the sequencer sees
 * events in the sequencer's order. It replaces writer/writer.c: a test program that defines all of
 * writer__* does not link that file from libgotrace.a.
 *
 *	m2 GoBlock "chan send" main.f     thread 2; a stack as its functions, leaf first; "-" for none
 *	status m2 p0 1                    of a P or goroutine at the generation's start; "-" no thread
 *	open 0 / close                    generations, times from machine_t0
 */
#ifndef UNIT_FAKE_WRITER_H
#define UNIT_FAKE_WRITER_H

#include "unit/test.h"
#include "format/private.h"
#include "writer/writer.h"

static const uint64_t machine_t0 = 1000000000000;

struct writer {
	struct intern *in;
	char text[1 << 16];
	size_t len;
	size_t size; /* result of writer__size() */
	bool times;  /* also write the time of each event */
	bool open;
	int fail;	  /* result of the next event */
	int fail_private; /* result of the next private data */
	uint64_t last_sample;
	uint64_t end;		     /* of the last generation, since the start */
	unsigned char private[1024]; /* latest private data but ticks, truncated */
	size_t private_len;
};

static void fake_say(struct writer *w, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	w->len += vsnprintf(w->text + w->len, sizeof(w->text) - w->len, format, ap);
	va_end(ap);
	if (w->len >= sizeof(w->text))
		abort();
}

static void fake_say_string(struct writer *w, uint32_t id)
{
	size_t len = 0;
	const char *s = intern__string_at(w->in, id, &len);

	fake_say(w, "%.*s", (int)len, s ? s : "");
}

static void fake_say_stack(struct writer *w, uint32_t id)
{
	size_t n = 0;
	const struct intern_frame *frame = intern__stack_at(w->in, id, &n);

	if (!n)
		fake_say(w, " -");
	for (size_t i = 0; i < n; i++) {
		fake_say(w, i ? "<" : " ");
		fake_say_string(w, frame[i].func);
	}
}

static void fake_say_arg(struct writer *w, enum ev_arg type, uint64_t v)
{
	switch (type) {
	case ARG_G:
		fake_say(w, " g%" PRIu64, v);
		break;
	case ARG_P:
		fake_say(w, " p%" PRIu64, v);
		break;
	case ARG_M:
		fake_say(w, " m%" PRIu64, v);
		break;
	case ARG_SEQ:
		fake_say(w, " #%" PRIu64, v);
		break;
	case ARG_STRING:
		fake_say(w, " \"");
		fake_say_string(w, v);
		fake_say(w, "\"");
		break;
	case ARG_STACK:
		fake_say_stack(w, v);
		break;
	default:
		fake_say(w, " %" PRIu64, v);
	}
}

int writer__event(struct writer *w, uint64_t m, uint64_t time, enum ev type, const uint64_t *args,
		  unsigned int nargs)
{
	const struct ev_spec *spec = spec__event(type);

	if (!w->open || !spec || !spec->timed || nargs != spec->nargs - 1u)
		return -EINVAL;
	if (w->fail)
		return w->fail;
	fake_say(w, "m%" PRIu64 " %s", m, spec->name);
	if (w->times)
		fake_say(w, " @%" PRIu64, time - machine_t0);
	for (unsigned int i = 0; i < nargs; i++)
		fake_say_arg(w, spec->arg[i + 1].type, args[i]);
	fake_say(w, "\n");
	return 0;
}

static void fake_say_status(struct writer *w, uint64_t m, char kind, uint64_t id, int status)
{
	if (m == TRACE_NO_M)
		fake_say(w, "status - %c%" PRIu64 " %d", kind, id, status);
	else
		fake_say(w, "status m%" PRIu64 " %c%" PRIu64 " %d", m, kind, id, status);
}

int writer__proc_status(struct writer *w, uint64_t m, uint64_t p, enum trace_proc_status status)
{
	fake_say_status(w, m, 'p', p, status);
	fake_say(w, "\n");
	return w->open ? 0 : -EINVAL;
}

int writer__go_status(struct writer *w, uint64_t m, uint64_t g, enum trace_go_status status,
		      uint32_t stack)
{
	fake_say_status(w, m, 'g', g, status);
	if (stack)
		fake_say_stack(w, stack);
	fake_say(w, "\n");
	return w->open ? 0 : -EINVAL;
}

int writer__sample(struct writer *w, uint64_t time, uint64_t m, uint64_t p, uint64_t g,
		   uint32_t stack)
{
	if (time < w->last_sample)
		return -EINVAL;
	w->last_sample = time;
	fake_say(w, "sample m%" PRIu64 " p%" PRId64 " g%" PRIu64, m, (int64_t)p, g);
	fake_say_stack(w, stack);
	fake_say(w, "\n");
	return w->open ? 0 : -EINVAL;
}

int writer__open(struct writer *w, uint64_t time, uint64_t wall_ns)
{
	if (w->open)
		return -EINVAL;
	w->open = true;
	w->size = 0;
	fake_say(w, "open %" PRIu64 "\n", time - machine_t0);
	return 0;
}

int writer__close(struct writer *w)
{
	if (!w->open)
		return -EINVAL;
	w->open = false;
	fake_say(w, "close\n");
	return 0;
}

int writer__end(struct writer *w, uint64_t time)
{
	w->end = time - machine_t0;
	return w->open ? 0 : -EINVAL;
}

int writer__private(struct writer *w, const void *data, size_t len)
{
	if (w->fail_private)
		return w->fail_private;
	if (len > PRIVATE_PREFIX_LEN && ((const char *)data)[PRIVATE_PREFIX_LEN] == PRIVATE_TICKS)
		return w->open ? 0 : -EINVAL; /* of each generation */
	w->private_len = len < sizeof(w->private) ? len : sizeof(w->private);
	memcpy(w->private, data, w->private_len);
	return w->open ? 0 : -EINVAL;
}

size_t writer__size(const struct writer *w)
{
	return w->size;
}

#endif
