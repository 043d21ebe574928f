/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Allocations, frees and the live heap, by the events of experiment AllocFree, which Go's own
 * tracer writes with GODEBUG=traceallocfree=1.
 *
 * Upstream: reader/reader.h, whose goroutines analysis/goroutine_tracker.h follows. Downstream:
 * `gotrace alloc`. The events contain address and type of an object, but neither its size, which
 * follows from its span (heap_spans.h), nor a stack: the place of an allocation is the start
 * function of its goroutine.
 *
 * Memory: about 4 bytes per slot of the heap, an entry per page and stack, and the rows.
 */
#ifndef HEAP_HEAP_H
#define HEAP_HEAP_H

#include "analysis/select.h"
#include "format/event.h"
#include "heap/heap_curve.h"

#define HEAP_ROWS_MAX (1u << 20)

enum heap_key { HEAP_BY_TYPE, HEAP_BY_FUNCTION, HEAP_BY_SIZE, HEAP_KEYS };
/* In descending order of the bytes that were allocated, or are kept or live. */
enum heap_sort { HEAP_SORT_ALLOCATED, HEAP_SORT_KEPT, HEAP_SORT_LIVE, HEAP_SORTS };

/*
 * Objects of one type, start function or size. Bytes are those of slots. Several objects of less
 * than 16 bytes may share a slot: each counts as allocated, the slot once as freed, kept and live,
 * with the first of them.
 */
struct heap_row {
	uint64_t key;			  /* for heap__name(); or the size in bytes */
	struct heap_sum allocated, freed; /* in the window */
	struct heap_sum kept; /* allocated in the window, not freed until the end of the trace */
	struct heap_sum live; /* at the end of the window */
};

struct heap_opts {
	enum heap_key by;
	enum heap_sort sort;
	/*
	 * Only objects allocated by goroutines that it accepts; NULL: all, also those from before
	 * the trace. Borrowed.
	 */
	struct selection *select;
	const struct map *goroutines; /* with --function: those that match, by ID; borrowed */
};

struct heap;

struct heap *heap__create(const struct heap_opts *opts); /* NULL: no memory */
void heap__destroy(struct heap *h);			 /* may be NULL */
/* Before the first event: the window, trace time in ns. By default the whole trace. */
void heap__set_window(struct heap *h, int64_t from, int64_t to);
/*
 * Applies the next event, also of those after the window. 0, -ENOMEM, or -E2BIG: more than
 * HEAP_ROWS_MAX rows.
 */
int heap__event(struct heap *h, const struct trace_event *ev);
/* There are no more events; `end` is the end of the window or, if that is earlier, of the trace. */
void heap__finish(struct heap *h, int64_t end);

/* After heap__finish(): */

struct heap_result {
	bool any;	  /* the trace has events of the experiment */
	uint64_t unsized; /* allocations in the window, of unknown size: their span is unknown */
	struct heap_row total;		    /* its key means nothing */
	struct heap_state start, peak, end; /* peak: of live bytes, the first time */
	const struct heap_curve *curve;
	const struct heap_row *rows; /* in the order of heap_opts.sort */
	size_t nrows;
};

/* Belongs to `h`. */
const struct heap_result *heap__result(const struct heap *h);
/* The type or function; empty: it is unknown, or the objects have no type. */
struct trace_string heap__name(const struct heap *h, const struct heap_row *row);
/* The objects of the row are from before the trace: who allocated them is unknown. */
bool heap__is_early(const struct heap *h, const struct heap_row *row);

#endif
