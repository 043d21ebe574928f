// SPDX-License-Identifier: GPL-2.0
/*
 * Triggers on calls: see calls.h.
 *
 * Each open region or request of a condition is in a list of that condition. All have the same limit,
 * so the list is in the order of the begins and of the deadlines: only its first one can be due. A request
 * begins when it arrived, so it may have begun before others that are in the list.
 */
#include "trigger/calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/map.h"
#include "names/request_names.h"
#include "sequence/sequencer.h"
#include "writer/intern.h"

#define NAME_KEPT 96 /* bytes of a name, for the text of a cause */

struct open_call {
	struct open_call *prev, *next; /* in the list of its condition */
	struct open_call *outer;       /* of the same key */
	struct open_call **head;       /* of its list; NULL: its limit has passed */
	struct trigger *trigger;
	uint64_t begin, goid, task; /* task 0: a region */
	uint32_t last_region; /* string id of the region of the task that ended last; 0: none */
	bool is_named;
	char name[NAME_KEPT + 1];
};

struct call_triggers {
	struct map regions, tasks; /* innermost open_call, by goroutine and by task */
	struct open_call *first[CONDITIONS_MAX], *last[CONDITIONS_MAX];
	size_t n;
	uint64_t losses; /* sequencer__losses() that are known */
};

static bool is_of_call(enum trigger_kind kind)
{
	return kind == TRIGGER_FUNC || kind == TRIGGER_REGION || kind == TRIGGER_REQUEST ||
	       kind == TRIGGER_STATUS;
}

int call_triggers__create(struct call_triggers **ret, const struct triggers *t)
{
	size_t i = 0;

	*ret = NULL;
	while (i < t->opts.n && !is_of_call(t->trigger[i].condition.kind))
		i++;
	if (i < t->opts.n)
		*ret = calloc(1, sizeof(**ret));
	return i < t->opts.n && !*ret ? -ENOMEM : 0;
}

/* ---- open calls ---- */

static void unlist(struct call_triggers *c, struct open_call *o)
{
	size_t i;

	if (!o->head)
		return;
	i = (size_t)(o->head - c->first);
	*(o->prev ? &o->prev->next : &c->first[i]) = o->next;
	*(o->next ? &o->next->prev : &c->last[i]) = o->prev;
	o->head = NULL;
}

static struct map *map_of(struct call_triggers *c, const struct open_call *o)
{
	return o->task ? &c->tasks : &c->regions;
}

static uint64_t key_of(const struct open_call *o)
{
	return o->task ? o->task : o->goid;
}

/* Few are open of a key: a goroutine's regions that a condition names, and a task's conditions. */
static void forget(struct call_triggers *c, struct open_call *o)
{
	struct map *map = map_of(c, o);
	struct open_call *inner = map__get(map, key_of(o));

	unlist(c, o);
	if (inner == o && !o->outer)
		map__remove(map, key_of(o));
	else if (inner == o)
		map__put(map, key_of(o), o->outer); /* replaces: needs no memory */
	while (inner != o && inner->outer != o)
		inner = inner->outer;
	if (inner != o)
		inner->outer = o->outer;
	free(o);
	c->n--;
}

static void forget_all_of(struct map *map)
{
	void *value;

	for (size_t i = 0; map__next(map, &i, &value);) {
		for (struct open_call *o = value, *outer; o; o = outer) {
			outer = o->outer;
			free(o);
		}
	}
	map__deinit(map);
}

static void forget_all(struct call_triggers *c)
{
	forget_all_of(&c->regions);
	forget_all_of(&c->tasks);
	*c = (struct call_triggers){ .losses = c->losses };
}

void call_triggers__destroy(struct call_triggers *c)
{
	if (c)
		forget_all(c);
	free(c);
}

static void set_name(struct open_call *o, const char *name, size_t len)
{
	len = len < NAME_KEPT ? len : NAME_KEPT;
	memcpy(o->name, name, len);
	o->name[len] = '\0';
	o->is_named = true;
}

static bool is_name(const struct trigger *tr, const char *name, size_t len)
{
	const char *wanted = tr->condition.name;

	return !*wanted || (strlen(wanted) == len && !memcmp(wanted, name, len));
}

/* Puts it behind those that began earlier: at the end, but for a request that arrived before others began. */
static void list_call(struct call_triggers *c, size_t i, struct open_call *o)
{
	o->head = &c->first[i];
	for (o->prev = c->last[i]; o->prev && o->prev->begin > o->begin; o->prev = o->prev->prev)
		o->next = o->prev;
	*(o->prev ? &o->prev->next : &c->first[i]) = o;
	*(o->next ? &o->next->prev : &c->last[i]) = o;
}

static void add(struct triggers *t, struct call_triggers *c, const struct open_call *call)
{
	size_t i = (size_t)(call->trigger - t->trigger);
	struct open_call *o;

	if (c->n >= OPEN_CALLS_MAX)
		return;
	o = malloc(sizeof(*o));
	if (o) {
		*o = *call;
		o->outer = map__get(map_of(c, o), key_of(o));
	}
	if (!o || map__put(map_of(c, o), key_of(o), o)) {
		free(o);
		t->error = -ENOMEM;
		return;
	}
	list_call(c, i, o);
	c->n++;
}

/* ---- causes ---- */

/* Forgets open calls after a loss: they may have ended in it. */
static void check_losses(struct triggers *t, struct call_triggers *c)
{
	uint64_t losses = sequencer__losses(t->sequencer);

	if (losses == c->losses)
		return;
	c->losses = losses;
	forget_all(c);
}

static void report(struct triggers *t, const struct open_call *o, uint64_t time,
		   uint64_t open_until)
{
	double ms = (double)(open_until - o->begin) / 1e6;
	struct trace_string start;
	bool is_runtime;

	if (o->task) {
		trigger__met(t, o->trigger, time, "request %s%sopen for %.1f ms (task %llu)",
			     o->name, o->name[0] ? " " : "", ms, (unsigned long long)o->task);
		return;
	}
	start = sequencer__start_function(t->sequencer, o->goid, &is_runtime);
	trigger__met(t, o->trigger, time, "goroutine %llu (%.*s) in the region for %.1f ms",
		     (unsigned long long)o->goid, (int)start.len, start.data, ms);
}

/* The limit of a call has passed. If its name does not match so far, the final one at its end may. */
static void due(struct triggers *t, struct call_triggers *c, struct open_call *o)
{
	char name[REQUEST_NAME_SIZE];
	size_t len;

	if (!o->is_named) {
		len = sequencer__request_name(t->sequencer, o->goid, o->task, name);
		if (!is_name(o->trigger, name, len)) {
			unlist(c, o);
			return;
		}
		set_name(o, name, len);
	}
	report(t, o, o->begin + o->trigger->condition.limit,
	       o->begin + o->trigger->condition.limit);
	forget(c, o);
}

static void ended(struct triggers *t, struct call_triggers *c, struct open_call *o, uint64_t time)
{
	uint64_t limit = o->trigger->condition.limit;

	if (time - o->begin >= limit && o->is_named)
		report(t, o, o->head ? o->begin + limit : time, time);
	forget(c, o);
}

/* ---- events ---- */

static void met_by_function(struct triggers *t, const struct watch_event *ev,
			    struct trace_string name)
{
	bool is_runtime;
	struct trace_string start;

	for (size_t i = 0; i < t->opts.nfuncs; i++) {
		const struct trigger_func *f = &t->opts.func[i];

		if (strlen(f->region) != name.len || memcmp(f->region, name.data, name.len))
			continue;
		start = sequencer__start_function(t->sequencer, ev->goid, &is_runtime);
		for (size_t j = 0; j < t->opts.n; j++)
			if (f->conditions >> j & 1)
				trigger__met(t, &t->trigger[j], ev->time,
					     "goroutine %llu (%.*s) called %.*s",
					     (unsigned long long)ev->goid, (int)start.len,
					     start.data, (int)name.len, name.data);
	}
}

static void region_begins(struct triggers *t, struct call_triggers *c, const struct watch_event *ev)
{
	struct trace_string name = intern__text_at(t->intern, (uint32_t)ev->args[1]);
	struct open_call o = { .begin = ev->time, .goid = ev->goid, .is_named = true };

	met_by_function(t, ev, name);
	for (struct trigger *tr = NULL; (tr = trigger__next(t, TRIGGER_REGION, tr));) {
		if (!is_name(tr, name.data, name.len))
			continue;
		o.trigger = tr;
		set_name(&o, name.data, name.len);
		add(t, c, &o);
	}
}

/* The last region that ends in a request is its own, which has its name. */
static void note_name(struct call_triggers *c, uint64_t task, uint32_t name)
{
	struct open_call *o = task ? map__get(&c->tasks, task) : NULL;

	for (; o; o = o->outer)
		o->last_region = name;
}

/* Regions nest: the innermost one of a name ends. Each condition has its own of it. */
static void region_ends(struct triggers *t, struct call_triggers *c, const struct watch_event *ev)
{
	struct trace_string name = intern__text_at(t->intern, (uint32_t)ev->args[1]);
	struct open_call *o = map__get(&c->regions, ev->goid), *outer;
	uint64_t begin = 0;

	note_name(c, ev->args[0], (uint32_t)ev->args[1]);
	for (; o; o = outer) {
		outer = o->outer;
		if (!is_name(o->trigger, name.data, name.len))
			continue;
		if (begin && o->begin != begin)
			break;
		begin = o->begin;
		ended(t, c, o, ev->time);
	}
}

static void task_begins(struct triggers *t, struct call_triggers *c, const struct watch_event *ev)
{
	struct trace_string name = intern__text_at(t->intern, (uint32_t)ev->args[2]);
	struct open_call o = { .begin = sequencer__request_arrival(t->sequencer) ?: ev->time,
			       .goid = ev->goid,
			       .task = ev->args[0] };

	if (name.len)
		set_name(&o, name.data, name.len);
	for (struct trigger *tr = NULL; (tr = trigger__next(t, TRIGGER_REQUEST, tr));) {
		if (o.is_named && !is_name(tr, name.data, name.len))
			continue;
		o.trigger = tr;
		add(t, c, &o);
	}
}

static void name_requests(struct triggers *t, struct call_triggers *c, uint64_t task)
{
	for (struct open_call *o = map__get(&c->tasks, task); o; o = o->outer) {
		struct trace_string name = intern__text_at(t->intern, o->last_region);

		if (!o->is_named && is_name(o->trigger, name.data, name.len))
			set_name(o, name.data, name.len);
	}
}

static void all_end(struct triggers *t, struct call_triggers *c, struct open_call *o, uint64_t time)
{
	for (struct open_call *outer; o; o = outer) {
		outer = o->outer;
		ended(t, c, o, time);
	}
}

static bool is_status(const struct trigger *tr, struct trace_string text)
{
	const char *wanted = tr->condition.name;

	return text.len == 3 && wanted[0] == text.data[0] &&
	       (wanted[1] == 'x' || !memcmp(wanted, text.data, 3));
}

static void logged(struct triggers *t, const struct watch_event *ev)
{
	struct trace_string category = intern__text_at(t->intern, (uint32_t)ev->args[1]);
	struct trace_string text = intern__text_at(t->intern, (uint32_t)ev->args[2]);

	if (category.len != strlen("status") || memcmp(category.data, "status", category.len))
		return;
	for (struct trigger *tr = NULL; (tr = trigger__next(t, TRIGGER_STATUS, tr));)
		if (is_status(tr, text))
			trigger__met(t, tr, ev->time,
				     "goroutine %llu has set status %.*s (task %llu)",
				     (unsigned long long)ev->goid, (int)text.len, text.data,
				     (unsigned long long)ev->args[0]);
}

void call_triggers__event(struct triggers *t, struct call_triggers *c, const struct watch_event *ev)
{
	check_losses(t, c);
	switch (ev->type) {
	case EV_USER_REGION_BEGIN:
		region_begins(t, c, ev);
		break;
	case EV_USER_REGION_END:
		region_ends(t, c, ev);
		break;
	case EV_USER_TASK_BEGIN:
		task_begins(t, c, ev);
		break;
	case EV_USER_TASK_END:
		name_requests(t, c, ev->args[0]);
		all_end(t, c, map__get(&c->tasks, ev->args[0]), ev->time);
		break;
	case EV_USER_LOG:
		logged(t, ev);
		break;
	case EV_GO_DESTROY:
	case EV_GO_DESTROY_SYSCALL:
		all_end(t, c, map__get(&c->regions, ev->goid), ev->time);
		break;
	default:
		break;
	}
}

void call_triggers__watermark(struct triggers *t, struct call_triggers *c, uint64_t time)
{
	check_losses(t, c);
	for (size_t i = 0; i < t->opts.n; i++) {
		uint64_t limit = t->trigger[i].condition.limit;
		struct open_call *o;

		while ((o = c->first[i]) && time > o->begin && time - o->begin >= limit)
			due(t, c, o);
	}
}
