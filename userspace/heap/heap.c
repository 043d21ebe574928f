// SPDX-License-Identifier: GPL-2.0
/*
 * Allocations, frees and the live heap: see heap.h.
 *
 * The runtime writes an event for each object, span and stack that exists when the trace begins,
 * then one for each that is allocated or freed. All objects are followed from the start of the
 * trace; the window only determines what is counted.
 */
#include "heap/heap.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/goroutine_tracker.h"
#include "heap/heap_spans.h"
#include "heap/heap_types.h"
#include "lib/array.h"

#define NO_KEY	  UINT64_MAX /* the function that allocated an object from before the trace */

/*
 * The value of a live slot: its row, whether it was allocated in the window, and 1, as 0 means
 * free.
 */
#define IN_WINDOW 2
#define ROW_SHIFT 2

#define ORDER_MAX 48 /* of a stack, whose size is 2^(order - 1) */

struct heap {
	struct heap_opts opts;
	int64_t from, to;
	struct goroutine_tracker tracker; /* of struct tracked_goroutine */
	struct intern *functions;
	struct heap_types types;
	struct heap_spans spans;
	struct map stacks;	/* by id, to the order */
	struct map row_numbers; /* by key, to the number + 1 */
	struct heap_row *rows;
	size_t nrows, rows_cap;
	struct heap_state now;
	struct heap_curve curve;
	struct heap_result result;
};

static const struct goroutine_client client;

struct heap *heap__create(const struct heap_opts *opts)
{
	struct heap *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->opts = *opts;
	heap__set_window(h, INT64_MIN, INT64_MAX);
	h->functions = intern__create();
	goroutine_tracker__init(&h->tracker, &client, h, h->functions);
	heap_spans__init(&h->spans, 1);
	if (!h->functions || heap_types__init(&h->types) ||
	    (opts->select && goroutine_tracker__set_labels(&h->tracker, opts->select))) {
		heap__destroy(h);
		return NULL;
	}
	return h;
}

void heap__destroy(struct heap *h)
{
	if (!h)
		return;
	goroutine_tracker__deinit(&h->tracker);
	heap_types__deinit(&h->types);
	heap_spans__deinit(&h->spans);
	intern__destroy(h->functions);
	map__deinit(&h->stacks);
	map__deinit(&h->row_numbers);
	free(h->rows);
	free(h);
}

void heap__set_window(struct heap *h, int64_t from, int64_t to)
{
	h->from = from;
	h->to = to;
}

/* ---- what is counted ---- */

static bool in_window(const struct heap *h)
{
	return h->tracker.now >= h->from && h->tracker.now < h->to;
}

static void add(struct heap_sum *sum, uint64_t bytes)
{
	sum->objects++;
	sum->bytes += bytes;
}

static void subtract(struct heap_sum *sum, uint64_t bytes)
{
	sum->objects--;
	sum->bytes -= bytes;
}

/* Before a change in the window that is not part of the runtime's first report. */
static void reach(struct heap *h)
{
	h->now.time = h->tracker.now;
	if (!h->curve.begun) {
		h->result.start = h->result.peak = h->now;
		heap_curve__begin(&h->curve, &h->now);
	}
	heap_curve__reach(&h->curve, h->tracker.now, &h->now);
}

static int find_row(struct heap *h, uint64_t key, uint32_t *ret)
{
	uintptr_t number = (uintptr_t)map__get(&h->row_numbers, key);

	if (!number) {
		if (h->nrows == HEAP_ROWS_MAX)
			return -E2BIG;
		if (array__grow(&h->rows, h->nrows, &h->rows_cap, sizeof(*h->rows)) ||
		    map__put(&h->row_numbers, key, (void *)(h->nrows + 1)))
			return -ENOMEM;
		h->rows[h->nrows] = (struct heap_row){ .key = key };
		number = ++h->nrows;
	}
	*ret = (uint32_t)(number - 1);
	return 0;
}

static uint64_t key_of(const struct heap *h, const struct trace_event *ev, uint64_t bytes)
{
	const struct tracked_goroutine *g;

	switch (h->opts.by) {
	case HEAP_BY_TYPE:
		return heap_types__name(&h->types, ev->arg[1]);
	case HEAP_BY_FUNCTION:
		if (ev->type == EV_HEAP_OBJECT)
			return NO_KEY;
		g = goroutine_tracker__find(&h->tracker, ev->g);
		return g ? g->name : 0;
	default:
		return bytes;
	}
}

static bool is_selected(const struct heap *h, const struct trace_event *ev)
{
	const struct selection *select = h->opts.select;
	const struct tracked_goroutine *g;

	if (!select)
		return true;
	if (ev->type == EV_HEAP_OBJECT || ev->g == TRACE_NO_G ||
	    !selection__goroutine(select, h->opts.goroutines, ev->g))
		return false;
	if (!select->nlabels)
		return true;
	g = goroutine_tracker__find(&h->tracker, ev->g);
	return g && g->labels.selected;
}

/* ---- objects ---- */

/* A slot of `bytes` with this value is no longer live. */
static void count_end(struct heap *h, uint32_t value, uint64_t bytes)
{
	struct heap_row *row = &h->rows[value >> ROW_SHIFT];

	if (value & IN_WINDOW)
		subtract(&row->kept, bytes);
	if (h->tracker.now >= h->to)
		return;
	subtract(&row->live, bytes);
	subtract(&h->now.live, bytes);
	if (in_window(h))
		add(&row->freed, bytes);
}

/* Frees a slot, which need not be live. */
static void end_slot(struct heap *h, struct heap_span *span, uint32_t slot)
{
	uint32_t value;

	if (!heap_span__set(span, slot, 0, &value) && value)
		count_end(h, value, span->slot);
}

/* A slot becomes live, and belongs to the row. */
static int begin_slot(struct heap *h, struct heap_span *span, uint32_t slot, uint32_t number,
		      bool allocated)
{
	struct heap_row *row = &h->rows[number];
	uint32_t value = number << ROW_SHIFT | (allocated ? IN_WINDOW : 0) | 1, before;

	if (heap_span__set(span, slot, value, &before))
		return -ENOMEM;
	if (allocated)
		add(&row->kept, span->slot);
	add(&row->live, span->slot);
	add(&h->now.live, span->slot);
	return 0;
}

/*
 * The span of an object with that id, and the slot in it. NULL: unknown, or a span without objects.
 */
static struct heap_span *find_slot(const struct heap *h, uint64_t id, uint32_t *ret)
{
	uint64_t address = id * h->types.object_unit; /* relative to the lowest one */
	struct heap_span *span = heap_spans__find(&h->spans, address / h->spans.page_size);

	if (!span || !span->slot)
		return NULL;
	*ret = heap_span__slot(&h->spans, span, address);
	return span;
}

/* An object exists since before the trace, or is allocated. */
static int object_begins(struct heap *h, const struct trace_event *ev)
{
	bool counts = ev->type == EV_HEAP_OBJECT_ALLOC && in_window(h), shared = false;
	uint32_t slot = 0, number;
	struct heap_span *span = find_slot(h, ev->arg[0], &slot);
	uint64_t bytes = span ? span->slot : 0;
	int err;

	if (span && span->tiny)
		shared = span->value && span->value[slot];
	else if (span) /* if the event of its end is missing, as of those that user arenas free */
		end_slot(h, span, slot);
	if (h->tracker.now >= h->to || !is_selected(h, ev))
		return 0;
	err = find_row(h, key_of(h, ev, bytes), &number);
	if (err)
		return err;
	if (counts) {
		h->rows[number].allocated.objects++;
		h->rows[number].allocated.bytes += shared ? 0 : bytes;
		h->result.unsized += !span;
	}
	err = span && !shared ? begin_slot(h, span, slot, number, counts) : 0;
	if (counts && h->now.live.bytes > h->result.peak.live.bytes)
		h->result.peak = h->now;
	return err;
}

static void object_ends(struct heap *h, const struct trace_event *ev)
{
	uint32_t slot;
	struct heap_span *span = find_slot(h, ev->arg[0], &slot);

	if (span)
		end_slot(h, span, slot);
}

/* ---- spans and stacks ---- */

/* The span that contains the page, if any, is freed, and with it all objects in it. */
static void end_span(struct heap *h, uint64_t page)
{
	struct heap_span *span = heap_spans__find(&h->spans, page);

	if (!span)
		return;
	for (uint32_t i = 0; span->live; i++)
		end_slot(h, span, i);
	if (span->slot && h->tracker.now < h->to)
		subtract(&h->now.spans, span->bytes);
	heap_spans__remove(&h->spans, span);
}

static int span_begins(struct heap *h, const struct trace_event *ev)
{
	uint64_t first = ev->arg[0], pages = heap_spans__pages(&h->spans, ev->arg[1], ev->arg[2]);
	struct heap_span *span;

	for (uint64_t i = 0; i < pages; i++)
		end_span(h, first + i);
	span = heap_spans__add(&h->spans, first, ev->arg[1], ev->arg[2]);
	if (!span)
		return -ENOMEM;
	if (span->slot && h->tracker.now < h->to)
		add(&h->now.spans, span->bytes);
	return 0;
}

static uint64_t stack_bytes(uint64_t order)
{
	return order && order <= ORDER_MAX ? 1ull << (order - 1) : 0;
}

static void end_stack(struct heap *h, uint64_t id)
{
	uintptr_t order = (uintptr_t)map__remove(&h->stacks, id);

	if (order && h->tracker.now < h->to)
		subtract(&h->now.stacks, stack_bytes(order));
}

static int stack_begins(struct heap *h, const struct trace_event *ev)
{
	uint64_t bytes = stack_bytes(ev->arg[1]);

	end_stack(h, ev->arg[0]);
	if (!bytes) /* of a goroutine that has ended, or invalid */
		return 0;
	if (h->tracker.now < h->to)
		add(&h->now.stacks, bytes);
	return map__put(&h->stacks, ev->arg[0], (void *)(uintptr_t)ev->arg[1]);
}

/* ---- events ---- */

static int apply(struct heap *h, const struct trace_event *ev)
{
	switch (ev->type) {
	case EV_SPAN:
	case EV_SPAN_ALLOC:
		return span_begins(h, ev);
	case EV_SPAN_FREE:
		end_span(h, ev->arg[0]);
		return 0;
	case EV_HEAP_OBJECT:
	case EV_HEAP_OBJECT_ALLOC:
		return object_begins(h, ev);
	case EV_HEAP_OBJECT_FREE:
		object_ends(h, ev);
		return 0;
	case EV_GOROUTINE_STACK:
	case EV_GOROUTINE_STACK_ALLOC:
		return stack_begins(h, ev);
	case EV_GOROUTINE_STACK_FREE:
		end_stack(h, ev->arg[0]);
		return 0;
	}
	return 0;
}

static bool is_report(const struct trace_event *ev)
{
	return ev->type == EV_SPAN || ev->type == EV_HEAP_OBJECT || ev->type == EV_GOROUTINE_STACK;
}

/* Only the first generation has units, so spans before them are none, or invalid. */
static int begin_generation(struct heap *h, const struct dictionary *d)
{
	int err = heap_types__begin(&h->types, d);

	if (!h->spans.by_page.n)
		heap_spans__init(&h->spans, h->types.page_size);
	return err;
}

static int other_event(void *context, const struct trace_event *ev, const struct semantics *m)
{
	struct heap *h = context;

	if (m->kind == SEMANTICS_SYNC && ev->dictionary)
		return begin_generation(h, ev->dictionary);
	if (m->kind != SEMANTICS_EXPERIMENTAL)
		return 0;
	h->result.any = true;
	if (in_window(h) && !is_report(ev))
		reach(h);
	return apply(h, ev);
}

static int no_event(void *context, void *goroutine, const struct trace_event *ev,
		    const struct semantics *m)
{
	(void)context, (void)goroutine, (void)ev, (void)m;
	return 0;
}

static const struct goroutine_client client = {
	.size = sizeof(struct tracked_goroutine),
	.leave = no_event,
	.enter = no_event,
	.other = other_event,
};

int heap__event(struct heap *h, const struct trace_event *ev)
{
	return goroutine_tracker__event(&h->tracker, &client, ev, ev->time);
}

/* ---- the result ---- */

static void add_all(struct heap_sum *sum, const struct heap_sum *more)
{
	sum->objects += more->objects;
	sum->bytes += more->bytes;
}

static uint64_t sorted_by(const struct heap_row *row, enum heap_sort sort)
{
	return sort == HEAP_SORT_ALLOCATED ? row->allocated.bytes :
	       sort == HEAP_SORT_KEPT	   ? row->kept.bytes :
					     row->live.bytes;
}

/* Keys are distinct, so the order does not depend on that of the events. */
static int compare_rows(const void *a, const void *b, void *context)
{
	const struct heap_row *x = a, *y = b;
	const enum heap_sort *sort = context;
	uint64_t p = sorted_by(x, *sort), q = sorted_by(y, *sort);

	if (p != q)
		return p < q ? 1 : -1;
	return x->key < y->key ? -1 : x->key > y->key;
}

/* Removes the rows of which nothing was counted. */
static void drop_empty(struct heap *h)
{
	const struct heap_row *row;
	size_t n = 0;

	for (size_t i = 0; i < h->nrows; i++) {
		row = &h->rows[i];
		if (row->allocated.objects || row->freed.objects || row->live.objects)
			h->rows[n++] = *row;
	}
	h->nrows = n;
}

void heap__finish(struct heap *h, int64_t end)
{
	struct heap_result *r = &h->result;
	struct heap_row *total = &r->total;

	h->tracker.now = end;
	reach(h);
	r->end = h->now;
	r->curve = &h->curve;
	for (size_t i = 0; i < h->nrows; i++) {
		add_all(&total->allocated, &h->rows[i].allocated);
		add_all(&total->freed, &h->rows[i].freed);
		add_all(&total->kept, &h->rows[i].kept);
		add_all(&total->live, &h->rows[i].live);
	}
	drop_empty(h);
	if (h->nrows)
		qsort_r(h->rows, h->nrows, sizeof(*h->rows), compare_rows, &h->opts.sort);
	r->rows = h->rows;
	r->nrows = h->nrows;
}

const struct heap_result *heap__result(const struct heap *h)
{
	return &h->result;
}

struct trace_string heap__name(const struct heap *h, const struct heap_row *row)
{
	if (h->opts.by == HEAP_BY_SIZE || row->key == NO_KEY)
		return (struct trace_string){ "", 0 };
	return intern__text_at(h->opts.by == HEAP_BY_TYPE ? h->types.names : h->functions,
			       (uint32_t)row->key);
}

bool heap__is_early(const struct heap *h, const struct heap_row *row)
{
	return h->opts.by == HEAP_BY_FUNCTION && row->key == NO_KEY;
}
