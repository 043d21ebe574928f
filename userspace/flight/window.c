// SPDX-License-Identifier: GPL-2.0
/*
 * The latest generations of a recording in memory: see window.h.
 *
 * Each generation is a mapping of its own, so that its memory is returned to the system at once when
 * it is removed, whatever the sizes of the others. Copies for snapshots count references to it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "flight/window.h"
#include "format/header.h"
#include "lib/array.h"
#include "writer/output_file.h"

struct window_generation {
	struct window_part part;
	uint8_t *data;
	unsigned int references; /* of the window and of copies, which another thread releases */
	bool is_first;
};

struct window {
	size_t bytes_max;
	uint64_t ns_max;
	struct window_generation **generation; /* oldest first */
	size_t n, cap;
	struct window_generation *appended; /* not described yet */
	struct window_part sums;
	size_t too_large; /* bytes of the largest generation that left it empty */
};

struct window_copy {
	size_t n;
	struct window_generation *generation[];
};

struct window *window__create(size_t bytes_max, uint64_t ns_max)
{
	struct window *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->bytes_max = bytes_max;
	w->ns_max = ns_max;
	return w;
}

static void release(struct window_generation *g)
{
	if (!g || __atomic_sub_fetch(&g->references, 1, __ATOMIC_ACQ_REL))
		return;
	munmap(g->data, g->part.bytes);
	free(g);
}

void window__destroy(struct window *w)
{
	if (!w)
		return;
	release(w->appended);
	for (size_t i = 0; i < w->n; i++)
		release(w->generation[i]);
	free(w->generation);
	free(w);
}

int window__append(void *to, const struct iovec *iov, size_t n)
{
	struct window *w = to;
	struct window_generation *g = calloc(1, sizeof(*g));
	size_t at = 0;

	if (!g)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		g->part.bytes += iov[i].iov_len;
	g->data = mmap(NULL, g->part.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);
	if (g->data == MAP_FAILED) {
		free(g);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; at += iov[i++].iov_len)
		memcpy(g->data + at, iov[i].iov_base, iov[i].iov_len);
	g->references = 1;
	release(w->appended);
	w->appended = g;
	return 0;
}

/* How many generations, from the oldest on, are to be removed so that the limits hold. */
static size_t excess(const struct window *w)
{
	uint64_t end = w->n ? w->generation[w->n - 1]->part.to : 0;
	size_t bytes = w->sums.bytes, n = 0;

	for (size_t i = 0; i < w->n; i++) {
		const struct window_generation *g = w->generation[i];

		/* A trace begins with `is_first`: what precedes the next such one goes together. */
		if (g->is_first) {
			n = i;
			if (bytes <= w->bytes_max && end - g->part.to <= w->ns_max)
				return n;
		}
		bytes -= g->part.bytes;
	}
	return w->n;
}

static void remove_oldest(struct window *w, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		w->sums.bytes -= w->generation[i]->part.bytes;
		w->sums.events -= w->generation[i]->part.events;
		release(w->generation[i]);
	}
	w->n -= n;
	if (n)
		memmove(w->generation, w->generation + n,
			w->n * sizeof(struct window_generation *));
	w->sums.from = w->n ? w->generation[0]->part.from : 0;
	w->sums.to = w->n ? w->generation[w->n - 1]->part.to : 0;
}

int window__describe(struct window *w, uint64_t from, uint64_t to, uint64_t events, bool is_first)
{
	struct window_generation *g = w->appended;
	size_t bytes;

	if (!g)
		return 0;
	if (array__grow(&w->generation, w->n, &w->cap, sizeof(struct window_generation *)))
		return -ENOMEM;
	w->appended = NULL;
	g->part.from = from;
	g->part.to = to;
	g->part.events = events;
	g->is_first = is_first;
	w->generation[w->n++] = g;
	w->sums.bytes += g->part.bytes;
	w->sums.events += events;
	bytes = g->part.bytes;
	remove_oldest(w, excess(w));
	if (!w->n && bytes > w->too_large)
		w->too_large = bytes;
	return 0;
}

size_t window__too_large(const struct window *w)
{
	return w->too_large;
}

struct window_part window__sums(const struct window *w)
{
	return w->sums;
}

struct window_copy *window__copy(const struct window *w)
{
	struct window_copy *c;

	if (!w->n)
		return NULL;
	c = malloc(sizeof(*c) + w->n * sizeof(c->generation[0]));
	if (!c)
		return NULL;
	c->n = w->n;
	for (size_t i = 0; i < w->n; i++) {
		c->generation[i] = w->generation[i];
		__atomic_add_fetch(&c->generation[i]->references, 1, __ATOMIC_RELAXED);
	}
	return c;
}

int window_copy__write(const struct window_copy *c, struct trace_file *file, unsigned int version)
{
	char header[TRACE_HEADER_LEN];
	int err;

	header__make(version, header);
	err = trace_file__append(file, header, sizeof(header));
	for (size_t i = 0; !err && i < c->n; i++)
		err = trace_file__append(file, c->generation[i]->data,
					 c->generation[i]->part.bytes);
	return err;
}

void window_copy__destroy(struct window_copy *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n; i++)
		release(c->generation[i]);
	free(c);
}
