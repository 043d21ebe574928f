// SPDX-License-Identifier: GPL-2.0
/*
 * Labels of goroutines (runtime/pprof.Do, SetGoroutineLabels): a GoLabel with the new set, `key="value",
 * key2="value2"`, sorted by key; empty: the goroutine has none. Go's tools show it with the goroutine's
 * name; a log would be shown as the event of a task 0.
 *
 * The records of a set, one for each label, come one after the other from one thread. If one is
 * missing, the set is dropped. A label that cannot be written as a whole is left out, and the message
 * then ends with "...": keys and values are never truncated. Upstream: state.c and texts.c.
 * Downstream: boundary__emit(). analysis/labels.c reads the events.
 *
 * Each file of a continuous recording is to be read alone: the labels that goroutines have when it
 * begins are written in it again, like those from before the window.
 */
#include "sequence/boundary.h"
#include "sequence/state_impl.h"
#include "lib/buf.h"
#include "text/labels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of those that are to be written, and of those that are kept; further ones are dropped. */
#define LABELS_MAX (64u << 20)

struct label {
	uint64_t key, value;		    /* as records name the texts */
	struct text *key_text, *value_text; /* held */
};

/* The labels of goroutines, which a created one shares with its creator. */
struct kept_labels {
	uint32_t refs, len;
	char text[];
};

/* The set whose records a thread sends, from its first to its last one. */
struct label_set {
	uint32_t n;
	bool cut;
	struct label label[GT_LABELS_MAX];
};

void labels__free(struct thread *t)
{
	struct label_set *set = t->labels;

	for (uint32_t i = 0; set && i < set->n; i++) {
		texts__release(set->label[i].key_text);
		texts__release(set->label[i].value_text);
	}
	free(set);
	t->labels = NULL;
}

static bool is_missing(uint64_t number, const struct text *text)
{
	return number != GT_TEXT_EMPTY && !text;
}

/* Adds the label; one with a missing text is counted and left out. */
static void label_set__add(const struct step *st, struct label_set *set,
			   const struct gt_label *label)
{
	struct texts *texts = st->s->texts;
	struct label *to = &set->label[set->n++];

	to->key = texts__settle(texts, label->key, st->time);
	to->value = texts__settle(texts, label->value, st->time);
	to->key_text = texts__hold(texts, to->key, st->time);
	to->value_text = texts__hold(texts, to->value, st->time);
	if (is_missing(to->key, to->key_text) || is_missing(to->value, to->value_text)) {
		st->s->stats.text_misses++;
		set->cut = true;
	}
}

static size_t label_set__write(const struct label_set *set, char *to)
{
	struct label_pair pair[GT_LABELS_MAX];
	size_t n = 0;

	for (uint32_t i = 0; i < set->n; i++) {
		const struct label *l = &set->label[i];

		PARSER_STEPS(1);
		if (is_missing(l->key, l->key_text) || is_missing(l->value, l->value_text))
			continue;
		pair[n++] = (struct label_pair){ texts__held_bytes(l->key_text),
						 texts__held_bytes(l->value_text) };
	}
	return labels__format(pair, n, set->cut, to);
}

/* ---- labels for files that follow ---- */

static void release(struct sequencer *s, struct kept_labels *kept)
{
	if (!kept || --kept->refs)
		return;
	s->user.kept_bytes -= sizeof(*kept) + kept->len;
	free(kept);
}

static void keep(struct sequencer *s, uint64_t goid, const char *text, size_t len)
{
	struct kept_labels *kept;

	release(s, map__remove(&s->user.kept, goid));
	if (!s->opts.between || !len)
		return;
	if (s->user.kept_bytes > LABELS_MAX) {
		s->stats.dropped++;
		return;
	}
	kept = malloc(sizeof(*kept) + len);
	if (!kept || map__put(&s->user.kept, goid, kept)) {
		free(kept);
		s->error = -ENOMEM;
		return;
	}
	*kept = (struct kept_labels){ 1, (uint32_t)len };
	memcpy(kept->text, text, len);
	s->user.kept_bytes += sizeof(*kept) + len;
}

void labels__inherit(struct sequencer *s, const struct goroutine *from, const struct goroutine *to)
{
	struct kept_labels *kept = from ? map__get(&s->user.kept, from->id) : NULL;

	if (!kept || stacks__start_is_runtime(s->stacks, to->start))
		return;
	if (map__put(&s->user.kept, to->id, kept))
		s->error = -ENOMEM;
	else
		kept->refs++;
}

/* ---- labels from before the file ---- */

struct present {
	uint64_t goid, g; /* g: address */
	uint64_t time;	  /* of the read */
	uint32_t len;
	char text[];
};

static void forget(struct sequencer *s, struct present *p)
{
	map__remove(&s->user.present, p->goid);
	s->user.present_bytes -= sizeof(*p) + p->len;
	free(p);
}

/* Adds a copy of `about`, with its text. 0, also if there are too many, or -ENOMEM. */
static int add_present(struct sequencer *s, const struct present *about, const char *text)
{
	struct present *p;

	if (s->user.present_bytes > LABELS_MAX) {
		s->stats.dropped++;
		return 0;
	}
	p = malloc(sizeof(*p) + about->len);
	if (!p)
		return -ENOMEM;
	*p = *about;
	memcpy(p->text, text, p->len);
	if (map__put(&s->user.present, p->goid, p)) {
		free(p);
		return -ENOMEM;
	}
	s->user.present_bytes += sizeof(*p) + p->len;
	return 0;
}

int labels__note_present(struct sequencer *s, const struct gt_record *rec)
{
	const struct gt_labels_present *labels = (const void *)(rec + 1);
	struct trace_string text;
	int err = 0;

	if (!texts__message_bytes(s->texts, labels->text, &text))
		return 0;
	if (!s->ready && !map__get(&s->user.present, labels->goid))
		err = add_present(
			s, &(struct present){ labels->goid, rec->object, rec->time, text.len },
			text.data);
	texts__drop_message(s->texts, labels->text);
	return err;
}

void labels__forget_changed(struct sequencer *s, const struct gt_record *const *rec, size_t n)
{
	for (size_t i = 0; i < n && s->user.present.n; i++) {
		struct goroutine *g;
		struct present *p;

		PARSER_STEPS(1);
		if (rec[i]->kind != GT_LABEL)
			continue;
		g = map__get(&s->model.by_addr, rec[i]->object);
		p = g ? map__get(&s->user.present, g->id) : NULL;
		if (p && p->g == rec[i]->object && rec[i]->time <= p->time)
			forget(s, p);
	}
}

void labels__write_present(struct sequencer *s, struct thread *t, uint64_t time)
{
	struct intern *in = s->opts.intern;
	struct present *p;

	if (!thread__has_user_context(t))
		return;
	p = map__get(&s->user.present, t->g->id);
	if (!p)
		return;
	EMIT(s, t, time, EV_GO_LABEL, intern__transient(in, p->text, p->len));
	if (!map__get(&s->user.kept, p->goid))
		keep(s, p->goid, p->text, p->len);
	forget(s, p);
}

void labels__begin_file(struct sequencer *s)
{
	struct map_slot *slot;
	size_t n;

	if (!s->user.kept.n)
		return;
	slot = map__sorted(&s->user.kept, &n);
	if (!slot)
		s->error = -ENOMEM;
	for (size_t i = 0; slot && i < n; i++) {
		const struct kept_labels *kept = slot[i].value;

		PARSER_STEPS(1);
		if (!map__get(&s->user.present, slot[i].key) &&
		    add_present(s, &(struct present){ .goid = slot[i].key, .len = kept->len },
				kept->text))
			s->error = -ENOMEM;
	}
	free(slot);
}

void labels__forget_goroutine(struct sequencer *s, uint64_t goid)
{
	struct present *p = s->user.present.n ? map__get(&s->user.present, goid) : NULL;

	if (p)
		forget(s, p);
	if (s->user.kept.n)
		release(s, map__remove(&s->user.kept, goid));
}

/* ---- the records ---- */

static void emit_labels(struct step *st, const struct label_set *set)
{
	struct intern *in = st->s->opts.intern;
	char message[LABELS_SIZE];
	size_t len = label_set__write(set, message);

	labels__forget_goroutine(st->s, st->t->g->id);
	keep(st->s, st->t->g->id, message, len);
	STEP_EMIT(st, EV_GO_LABEL, intern__transient(in, message, len));
}

enum apply_result apply_label(struct step *st)
{
	const struct gt_label *label = st->payload;
	struct label_set *set;

	if (!label->index)
		labels__free(st->t);
	set = st->t->labels;
	if (label->n > GT_LABELS_MAX || (label->n ? label->index >= label->n : label->index) ||
	    (label->index && (!set || label->index != set->n))) {
		labels__free(st->t);
		return step__drop(st);
	}
	if (!set)
		set = st->t->labels = calloc(1, sizeof(*set));
	if (!set) {
		st->s->error = -ENOMEM;
		return DONE;
	}
	set->cut |= label->cut;
	if (label->n)
		label_set__add(st, set, label);
	if (set->n < label->n)
		return DONE;
	emit_labels(st, set);
	labels__free(st->t);
	return DONE;
}

void labels__deinit(struct sequencer *s)
{
	void *kept;

	for (size_t i = 0; map__next(&s->user.kept, &i, &kept);)
		release(s, kept);
	map__deinit(&s->user.kept);
	map__free(&s->user.present);
}
