// SPDX-License-Identifier: GPL-2.0
/*
 * The filters of `gotrace events`: see select_events.h.
 *
 * Input: reader/semantics.h, and for start functions analysis/goroutine_tracker.h, which names
 * goroutines as `gotrace goroutines` does.
 */
#include "select_events.h"

#include <errno.h>
#include <string.h>

#include "analysis/goroutine_tracker.h"
#include "lib/log.h"
#include "lib/suggest.h"
#include "input_twice.h"

#define REASONS_MAX 256 /* distinct reasons that are kept for the report */

struct word {
	char text[64];
};

/* ---- the goroutines of --function ---- */

struct names_pass {
	struct goroutine_tracker tracker;
	struct intern *names;
	struct selection *select;
	struct map *matches;
};

static int goroutine__changes(void *context, void *goroutine, const struct trace_event *ev,
			      const struct semantics *m)
{
	(void)context, (void)goroutine, (void)ev, (void)m;
	return 0;
}

static int goroutine__end(void *context, void *goroutine)
{
	const struct tracked_goroutine *g = goroutine;
	struct names_pass *pass = context;
	bool matches;
	int err = selection__function(pass->select, g->name, intern__text_at(pass->names, g->name),
				      &matches);

	return err || !matches ? err : map__put(pass->matches, g->id, pass->select);
}

static const struct goroutine_client client = {
	.size = sizeof(struct tracked_goroutine),
	.appear = goroutine__changes,
	.leave = goroutine__changes,
	.enter = goroutine__changes,
	.end = goroutine__end,
};

static const struct goroutine_client labels_client = {
	.size = sizeof(struct tracked_goroutine),
	.appear = goroutine__changes,
	.leave = goroutine__changes,
	.enter = goroutine__changes,
};

/* An error of the reader ends the pass; the second one reports it, after the events before it. */
static int read_names(struct names_pass *pass, struct reader *r)
{
	struct error unused = {};
	struct trace_event ev;
	int err = 0;

	while (!err && reader__next(r, &ev, &unused) > 0)
		err = goroutine_tracker__event(&pass->tracker, &client, &ev, ev.time);
	return err ? err : goroutine_tracker__finish(&pass->tracker);
}

static int read_goroutines(struct trace_args *args, struct map *ret, struct error *error)
{
	struct names_pass pass = { .names = intern__create(),
				   .select = &args->select,
				   .matches = ret };
	struct reader *r;
	int err = pass.names ? 0 : error__set(error, -ENOMEM, "out of memory");

	if (!err)
		err = open_trace(args->path, &args->reader, &r, error);
	if (!err) {
		goroutine_tracker__init(&pass.tracker, &client, &pass, pass.names);
		err = read_names(&pass, r);
		if (err)
			error__set(error, err, "out of memory");
		goroutine_tracker__deinit(&pass.tracker);
		reader__destroy(r);
	}
	intern__destroy(pass.names);
	return err;
}

int select_goroutines(struct trace_args *args, struct map *ret, struct error *error)
{
	off_t start;
	int err;

	if (!args->select.function.text)
		return 0;
	err = input_twice__begin(args->path, &args->path, &start, error);
	if (!err)
		err = read_goroutines(args, ret, error);
	if (!err)
		input_twice__again(args->path, start);
	return err;
}

int find_goroutines(struct trace_args *args, struct map *ret, struct error *error)
{
	const struct selection of = { .function.text = args->select.function.text };
	int err = select_goroutines(args, ret, error);

	return err || !of.function.text || ret->n ? err :
						    selection__none(&of, args->name, "", error);
}

int event_filter__init(struct event_filter *f, struct trace_args *args, struct error *error)
{
	struct selection *select = &args->select;

	*f = (struct event_filter){
		.select = select,
		.active = selection__by_goroutine(select) || select->have_thread ||
			  select->by_type || select->reasons,
	};
	if (select->reasons) {
		f->others = intern__create();
		if (!f->others)
			return error__set(error, -ENOMEM, "out of memory");
	}
	if (select->nlabels) {
		f->names = intern__create();
		if (!f->names)
			return error__set(error, -ENOMEM, "out of memory");
		goroutine_tracker__init(&f->tracker, &labels_client, f, f->names);
		if (goroutine_tracker__set_labels(&f->tracker, select))
			return error__set(error, -ENOMEM, "out of memory");
	}
	return select_goroutines(args, &f->goroutines, error);
}

void event_filter__deinit(struct event_filter *f)
{
	map__deinit(&f->goroutines);
	if (f->names)
		goroutine_tracker__deinit(&f->tracker);
	intern__destroy(f->names);
	intern__destroy(f->others);
	*f = (struct event_filter){};
}

/* ---- events ---- */

static bool is_labeled(const struct event_filter *f, uint64_t goroutine)
{
	const struct tracked_goroutine *g =
		goroutine == TRACE_NO_G ? NULL : goroutine_tracker__find(&f->tracker, goroutine);

	return g && g->labels.selected;
}

int event_filter__follow(struct event_filter *f, const struct trace_event *ev)
{
	struct semantics m;
	uint64_t concerns;
	int err;

	if (!f->select->nlabels)
		return 0;
	semantics__of(ev, &m);
	concerns = m.resource == RESOURCE_GOROUTINE ? m.id : TRACE_NO_G;
	f->labeled = is_labeled(f, ev->g) || is_labeled(f, concerns);
	err = goroutine_tracker__event(&f->tracker, &labels_client, ev, ev->time);
	f->labeled |= is_labeled(f, ev->g) || is_labeled(f, concerns);
	return err;
}

/* The goroutine on which it happened, and the one that it concerns; TRACE_NO_G: none. */
static bool goroutines_match(const struct event_filter *f, uint64_t on, uint64_t concerns)
{
	const struct selection *select = f->select;

	if (select->have_goroutine && on != select->goroutine && concerns != select->goroutine)
		return false;
	return !select->function.text || (on != TRACE_NO_G && map__get(&f->goroutines, on)) ||
	       (concerns != TRACE_NO_G && map__get(&f->goroutines, concerns));
}

/* Notes that the reason occurs; 1: it is requested, 0: it is not, or -ENOMEM. */
static int reason_matches(struct event_filter *f, const char *text, size_t len)
{
	const char *list = f->select->reasons;
	size_t n;

	if (!len)
		return 0;
	for (unsigned int i = 0;; list += n + 1, i++) {
		n = strcspn(list, ",");
		if (n == len && !memcmp(list, text, n)) {
			f->found |= i < 64 ? 1ull << i : 0;
			return 1;
		}
		if (!list[n])
			break;
	}
	if (intern__strings(f->others) < REASONS_MAX && !intern__string(f->others, text, len))
		return -ENOMEM;
	return 0;
}

int event_filter__event(struct event_filter *f, const struct trace_event *ev)
{
	const struct selection *select = f->select;
	struct semantics m = {};
	int matches = 1;

	if (select->reasons || selection__by_goroutine(select))
		semantics__of(ev, &m);
	if (select->reasons)
		semantics__add_reason(ev, &m);
	if (select->reasons)
		matches = m.kind == SEMANTICS_STATE_TRANSITION ?
				  reason_matches(f, m.name.data, m.name.len) :
				  0;
	if (matches <= 0 || (select->by_type && !select->types[ev->type]) ||
	    (select->have_thread && ev->m != select->thread))
		return matches < 0 ? matches : 0;
	if (select->nlabels && !f->labeled)
		return 0;
	return goroutines_match(f, ev->g, m.resource == RESOURCE_GOROUTINE ? m.id : TRACE_NO_G);
}

int event_filter__item(struct event_filter *f, const struct print_item *i)
{
	const struct selection *select = f->select;
	const struct kernel_item *item = i->item;
	const char *why = item->kind == KERNEL_OFF ? kernel__why(item->why) : "";
	int matches = select->reasons ? reason_matches(f, why, strlen(why)) : 1;

	if (matches <= 0 || (select->by_type && !select->types[SELECT_KERNEL + item->kind]) ||
	    (select->have_thread && item->tid != select->thread))
		return matches < 0 ? matches : 0;
	if (select->nlabels && !is_labeled(f, i->g) && !is_labeled(f, i->by_g))
		return 0;
	return goroutines_match(f, i->g, i->by_g);
}

/* ---- the report ---- */

/* The most similar of the other reasons; "": there is none. */
static void find_similar(const struct event_filter *f, const char *reason, struct word *ret)
{
	static struct word words[REASONS_MAX];
	const char *seen[REASONS_MAX], *text;
	size_t len = 0, n = 0;

	for (uint32_t i = 1; i <= intern__strings(f->others); i++) {
		text = intern__string_at(f->others, i, &len);
		if (len >= sizeof(words->text))
			continue;
		memcpy(words[n].text, text, len);
		words[n].text[len] = '\0';
		seen[n] = words[n].text;
		n++;
	}
	text = suggest__word(reason, seen, n);
	snprintf(ret->text, sizeof(ret->text), "%s", text ? text : "");
}

bool event_filter__report(const struct event_filter *f, const char *name, const char *where)
{
	const char *text = f->select->reasons;
	struct word word, similar;
	bool any = false;
	size_t len;

	for (unsigned int i = 0; text && i < 64; i++) {
		len = strcspn(text, ",");
		if (!(f->found & 1ull << i)) {
			snprintf(word.text, sizeof(word.text), "%.*s",
				 (int)(len < sizeof(word.text) ? len : sizeof(word.text)), text);
			find_similar(f, word.text, &similar);
			log__msg("%s: no event%s has the reason '%s'%s%s%s", name, where, word.text,
				 similar.text[0] ? "; the most similar reason is '" : "",
				 similar.text, similar.text[0] ? "'" : "");
			any = true;
		}
		text = text[len] ? text + len + 1 : NULL;
	}
	return any;
}
