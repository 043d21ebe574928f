// SPDX-License-Identifier: GPL-2.0
/*
 * Interprets events as changes of goroutines: see goroutine_tracker.h.
 *
 * Between reader/semantics.c and the clients. A status repeats, in each generation, a state that is
 * already known; it is skipped. A goroutine whose first state is unknown is not tracked.
 */
#include "analysis/goroutine_tracker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/select.h"
#include "format/start.h"

#define RECORDS_BLOCK (64u << 10)

/* A record whose goroutine has ended. */
struct unused_record {
	struct unused_record *next;
};

void goroutine_tracker__init(struct goroutine_tracker *t, const struct goroutine_client *client,
			     void *context, struct intern *names)
{
	*t = (struct goroutine_tracker){ .client = client, .context = context, .names = names };
	arena__init(&t->records, RECORDS_BLOCK);
}

/* Records of one size need no header of the allocator each. NULL: no memory. */
static void *create(struct goroutine_tracker *t)
{
	void *g = t->unused;

	if (g)
		t->unused = t->unused->next;
	else
		g = arena__alloc(&t->records, t->client->size);
	return g ? memset(g, 0, t->client->size) : NULL;
}

static void keep_unused(struct goroutine_tracker *t, void *g)
{
	struct unused_record *unused = g;

	unused->next = t->unused;
	t->unused = unused;
}

static void destroy(struct goroutine_tracker *t, void *g)
{
	if (t->client->deinit)
		t->client->deinit(t->context, g);
	keep_unused(t, g);
}

void goroutine_tracker__deinit(struct goroutine_tracker *t)
{
	void *g;

	if (!t->client) /* zeroed: the caller failed before it was initialized */
		return;
	for (size_t i = 0; t->client->deinit && map__next(&t->goroutines, &i, &g);)
		t->client->deinit(t->context, g);
	map__deinit(&t->goroutines);
	arena__deinit(&t->records);
	gaps__deinit(&t->gaps);
	t->unused = NULL;
}

void *goroutine_tracker__find(const struct goroutine_tracker *t, uint64_t id)
{
	return map__get(&t->goroutines, id);
}

/* An id that is used again without an end in between replaces its goroutine. */
void *goroutine_tracker__add(struct goroutine_tracker *t, uint64_t id, int64_t created,
			     uint8_t state)
{
	void *old = map__get(&t->goroutines, id);
	struct tracked_goroutine *g = create(t);

	if (!g)
		return NULL;
	if (map__put(&t->goroutines, id, g)) {
		keep_unused(t, g);
		return NULL;
	}
	if (old)
		destroy(t, old);
	g->id = id;
	g->created = g->since = g->record = created;
	g->state = state;
	g->labels = t->unlabeled;
	return g;
}

int goroutine_tracker__appear(struct goroutine_tracker *t, const struct trace_event *ev,
			      const struct semantics *m, struct tracked_goroutine **ret)
{
	bool created = m->from == GO_STATE_NOT_EXIST;
	struct tracked_goroutine *g = goroutine_tracker__add(t, m->id, created ? t->now : t->sync,
							     created ? GO_STATE_NOT_EXIST : m->to);

	if (!g)
		return -ENOMEM;
	*ret = g;
	return t->client->appear ? t->client->appear(t->context, g, ev, m) : 0;
}

int goroutine_tracker__end(struct goroutine_tracker *t, struct tracked_goroutine *g)
{
	int err = t->client->end ? t->client->end(t->context, g) : 0;

	map__remove(&t->goroutines, g->id);
	destroy(t, g);
	return err;
}

int goroutine_tracker__finish(struct goroutine_tracker *t)
{
	struct map_slot *g;
	size_t n;
	int err = 0;

	if (!t->client->end)
		return 0;
	/* By id: what a client prints in the order of its goroutines must not depend on hash__seed. */
	g = map__sorted(&t->goroutines, &n);
	if (!g)
		return -ENOMEM;
	for (size_t i = 0; !err && i < n; i++)
		err = t->client->end(t->context, g[i].value);
	free(g);
	return err;
}

/* ---- labels ---- */

int goroutine_tracker__set_labels(struct goroutine_tracker *t, const struct selection *select)
{
	if (!selection__has_labels(select))
		return 0;
	t->select = select;
	return labels__read(select, t->names, (struct trace_string){}, &t->unlabeled);
}

void goroutine_tracker__inherit(struct goroutine_tracker *t, struct tracked_goroutine *g,
				const struct trace_event *ev)
{
	const struct tracked_goroutine *creator = map__get(&t->goroutines, ev->g);

	if (creator && !start__is_runtimes(intern__text_at(t->names, g->name)))
		g->labels = creator->labels;
}

/* Ends the record of a goroutine that runs, and begins another one, with other labels. */
static int split(struct goroutine_tracker *t, struct tracked_goroutine *g,
		 struct goroutine_labels labels, const struct trace_event *ev)
{
	const struct semantics m = {
		.kind = SEMANTICS_STATE_TRANSITION,
		.resource = RESOURCE_GOROUTINE,
		.id = g->id,
		.from = GO_STATE_UNDETERMINED,
		.to = g->state,
	};
	struct tracked_goroutine *next, before = *g;
	int err;

	err = t->client->end ? t->client->end(t->context, g) : 0;
	if (err)
		return err;
	next = goroutine_tracker__add(t, before.id, t->now, before.state);
	if (!next)
		return -ENOMEM;
	next->pc = before.pc;
	next->name = before.name;
	next->labels = labels;
	next->record = before.record;
	next->again = true;
	err = t->client->appear ? t->client->appear(t->context, next, ev, &m) : 0;
	return err ? err : t->client->enter(t->context, next, ev, &m);
}

int goroutine_tracker__label(struct goroutine_tracker *t, const struct trace_event *ev,
			     const struct semantics *m)
{
	struct tracked_goroutine *g = map__get(&t->goroutines, ev->g);
	struct goroutine_labels labels;
	struct trace_string text;
	int err;

	if (!g || !labels__are_set(m, &text))
		return 0;
	err = labels__read(t->select, t->names, text, &labels);
	if (err == -EINVAL) /* a label or a log of the program's own */
		return 0;
	if (err || (labels.group == g->labels.group && labels.selected == g->labels.selected))
		return err;
	if (t->client->splits && g->state == GO_STATE_RUNNING)
		return split(t, g, labels, ev);
	g->labels = labels;
	return 0;
}
