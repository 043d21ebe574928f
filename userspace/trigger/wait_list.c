// SPDX-License-Identifier: GPL-2.0
/*
 * Waits in progress: see wait_list.h.
 *
 * A wait is evaluated when it ends, but reported only at the next watermark: only then is it known
 * whether records were lost that could have ended it earlier.
 */
#include "trigger/wait_list.h"

#include <errno.h>

#define POOL_BLOCK (64u << 10)

void wait_table__init(struct wait_table *table, struct triggers *t, wait_evaluate *evaluate,
		      void *ctx)
{
	*table = (struct wait_table){ .t = t, .evaluate = evaluate, .ctx = ctx };
	arena__init(&table->pool, POOL_BLOCK);
}

void wait_table__deinit(struct wait_table *table)
{
	map__deinit(&table->by_key);
	arena__deinit(&table->pool);
}

void wait_list__watch(struct wait_list *list, struct triggers *t, enum trigger_kind kind)
{
	for (struct trigger *tr = NULL; (tr = trigger__next(t, kind, tr));)
		list->cursor[list->n++].trigger = tr;
}

static bool is_due(const struct wait *w, uint64_t limit, uint64_t time)
{
	return time > w->since && time - w->since >= limit;
}

/* The wait ends at `time`: evaluates it for the cursors that have not reached it. */
static void unlink_wait(const struct wait_table *table, struct wait *w, uint64_t time)
{
	struct wait_list *list = w->list;

	for (size_t i = 0; i < list->n; i++) {
		struct wait_cursor *cursor = &list->cursor[i];
		const struct condition *condition = &cursor->trigger->condition;

		if (!cursor->next || w->serial < cursor->next->serial)
			continue;
		if (cursor->next == w)
			cursor->next = w->next;
		if (!cursor->met && is_due(w, condition->limit, time) &&
		    table->evaluate(table->ctx, condition, w, cursor->text))
			cursor->met = w->since + condition->limit;
	}
	*(w->prev ? &w->prev->next : &list->first) = w->next;
	*(w->next ? &w->next->prev : &list->last) = w->prev;
	w->list = NULL;
}

static void link_wait(struct wait_list *list, struct wait *w)
{
	w->list = list;
	w->serial = ++list->serial;
	w->prev = list->last;
	w->next = NULL;
	*(list->last ? &list->last->next : &list->first) = w;
	list->last = w;
	for (size_t i = 0; i < list->n; i++)
		if (!list->cursor[i].next)
			list->cursor[i].next = w;
}

/* Reuses what wait_table__forget() has freed. NULL: no memory, which fails the triggers. */
static struct wait *add(struct wait_table *table, uint64_t key)
{
	struct wait *w = table->free;

	if (w)
		table->free = w->next;
	else
		w = arena__alloc(&table->pool, sizeof(*w));
	if (!w || map__put(&table->by_key, key, w)) {
		table->t->error = -ENOMEM;
		return NULL;
	}
	*w = (struct wait){ .key = key };
	return w;
}

struct wait *wait_table__begin(struct wait_table *table, struct wait_list *list, uint64_t key,
			       uint64_t since, uint32_t reason)
{
	struct wait *w = map__get(&table->by_key, key);

	if (w && w->list)
		unlink_wait(table, w, since);
	if (!list->n || (!w && table->by_key.n >= WAITS_MAX))
		return NULL;
	if (!w)
		w = add(table, key);
	if (!w)
		return NULL;
	w->since = since;
	w->tid = 0;
	w->reason = reason;
	link_wait(list, w);
	return w;
}

void wait_table__end(struct wait_table *table, uint64_t key, uint64_t time)
{
	struct wait *w = map__get(&table->by_key, key);

	if (w && w->list)
		unlink_wait(table, w, time);
}

void wait_table__forget(struct wait_table *table, uint64_t key, uint64_t time)
{
	struct wait *w = map__remove(&table->by_key, key);

	if (!w)
		return;
	if (w->list)
		unlink_wait(table, w, time);
	w->next = table->free;
	table->free = w;
}

static void report(struct wait_list *list, const struct wait_table *table, uint64_t time)
{
	for (size_t i = 0; i < list->n; i++) {
		struct wait_cursor *cursor = &list->cursor[i];
		const struct condition *condition = &cursor->trigger->condition;

		for (; cursor->next && is_due(cursor->next, condition->limit, time);
		     cursor->next = cursor->next->next)
			if (!cursor->met &&
			    table->evaluate(table->ctx, condition, cursor->next, cursor->text))
				cursor->met = cursor->next->since + condition->limit;
		if (cursor->met)
			trigger__met(table->t, cursor->trigger, cursor->met, "%s", cursor->text);
		cursor->met = 0;
	}
}

static void clear(struct wait_list *list)
{
	list->first = list->last = NULL;
	for (size_t i = 0; i < list->n; i++) {
		list->cursor[i].next = NULL;
		list->cursor[i].met = 0;
	}
}

void wait_table__watermark(struct wait_table *table, struct wait_list *const *lists, size_t n,
			   uint64_t doubts, uint64_t time)
{
	if (doubts != table->doubts) {
		wait_table__deinit(table);
		wait_table__init(table, table->t, table->evaluate, table->ctx);
		for (size_t i = 0; i < n; i++)
			clear(lists[i]);
	}
	table->doubts = doubts;
	for (size_t i = 0; i < n; i++)
		report(lists[i], table, time);
}
