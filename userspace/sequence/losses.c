// SPDX-License-Identifier: GPL-2.0
/*
 * Lost records: kinds, counts and time ranges, as narrow as known, for the trace.
 *
 * There are two sources. The probes count losses by kind, and the counters are read now and then; a
 * gap in the sequence numbers of a ring shows when a loss happened, but not its kind. Losses are
 * written once as many were located as were counted, with the range that the gaps span, or after a
 * second with what is known.
 *
 * Where probes are attached again after a pause, a generation ends: the next one contains the states of
 * all threads, so that readers need not wait for the next event of each.
 *
 * Upstream: merge.c (gaps), sequencer.c (counters). Downstream: writer/private_write.c.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "sequence/boundary.h"
#include "sequence/losses.h"
#include "sequence/sequencer_impl.h"

#include "target/probe/site.h"
#include "writer/private_write.h"

#define PATIENCE_NS 1000000000ull
#define WRITTEN_MAX 16384	/* gaps per generation */
#define LATE_NS	    10000000ull /* a loss is detected that long after records were forced */
#define PLUGINS_MAX 64		/* records of plugins that are kept */

static void losses__note(struct sequencer *s)
{
	s->losses.seen++;
	s->losses.last = s->watermark;
	if (!s->losses.since)
		s->losses.since = s->watermark;
}

/* A range is limited by the window's start and end. */
static void clip(const struct sequencer *s, uint64_t *from, uint64_t *to, uint64_t time)
{
	if (*from < s->t0)
		*from = s->t0;
	if (*to > time)
		*to = time;
	if (*to < *from)
		*to = *from;
}

/* The reader needs the gaps in the generation in which they are, which does not wait for counters. */
static void write_gaps(struct sequencer *s, uint64_t time, bool kernel)
{
	struct losses *l = &s->losses;

	if (!l->ngaps)
		return;
	for (size_t i = 0; i < l->ngaps; i++) {
		if (kernel && l->gaps[i].of == GAP_ALL)
			l->gaps[i].of = GAP_KERNEL;
		clip(s, &l->gaps[i].from, &l->gaps[i].to, time);
	}
	boundary__note(s, private__gaps(s->opts.writer, l->gaps, l->ngaps));
	l->written += l->ngaps;
	l->ngaps = 0;
}

/* If too many are written, what has no place is added to the last one. */
static void losses__add_gap(struct sequencer *s, uint64_t of, uint64_t from, uint64_t to)
{
	struct losses *l = &s->losses;
	struct private_gap *last = &l->gaps[LOSSES_GAPS - 1];

	if (l->ngaps == LOSSES_GAPS && l->written < WRITTEN_MAX)
		write_gaps(s, UINT64_MAX, false);
	if (l->ngaps < LOSSES_GAPS) {
		l->gaps[l->ngaps++] = (struct private_gap){ .from = from, .to = to, .of = of };
		return;
	}
	last->of = GAP_ALL;
	last->from = from < last->from ? from : last->from;
	last->to = to > last->to ? to : last->to;
}

void losses__late(struct sequencer *s, uint64_t goroutine, uint64_t from, uint64_t to)
{
	if (goroutine && from < to)
		losses__add_gap(s, GAP_GOROUTINES + goroutine, from, to);
}

void losses__located(struct sequencer *s, uint64_t count, uint64_t from, uint64_t to)
{
	struct losses *l = &s->losses;
	uint64_t reported = count < l->ahead ? count : l->ahead;

	losses__add_gap(s, GAP_ALL, from, to);
	l->ahead -= reported;
	count -= reported;
	if (!count)
		return;
	if (!l->located || from < l->from)
		l->from = from;
	if (!l->located || to > l->to)
		l->to = to;
	l->located += count;
	l->unexplained = 1;
	losses__note(s);
}

/* The model may be wrong after this loss. */
static void losses__note_wrong(struct sequencer *s)
{
	s->losses.wrong++;
	s->losses.tries = 0;
	s->losses.watching = true;
}

void losses__counted(struct sequencer *s, unsigned int kind, uint64_t count, uint64_t time)
{
	uint64_t more = count - s->stats.lost_by_kind[kind];

	if (!more)
		return;
	s->stats.lost += more;
	s->stats.lost_by_kind[kind] = count;
	s->losses.counted += more;
	s->losses.open |= !time;
	if (time > s->losses.counted_to)
		s->losses.counted_to = time;
	losses__note(s);
	if (!gt_kind_is_kernels(kind))
		losses__note_wrong(s);
}

void losses__end_generation(struct sequencer *s, uint64_t time)
{
	if (s->losses.seen)
		write_gaps(s, time, false);
	s->losses.written = 0;
}

/* Records were forced, maybe because of a loss that will be detected soon. */
static void handle_late(struct sequencer *s, uint64_t time)
{
	struct losses *l = &s->losses;

	if (l->seen)
		write_gaps(s, time, false);
	else if (l->ngaps && l->gaps[l->ngaps - 1].to + LATE_NS < time)
		l->ngaps = 0;
}

void losses__report(struct sequencer *s, uint64_t time, bool final)
{
	struct private_loss losses[GT_KIND_END + 1];
	struct losses *l = &s->losses;
	struct private_loss range = { .from = l->from, .to = l->to };
	bool kernels = false, only_kernels = true;
	size_t n = 0;

	if (!l->since) {
		handle_late(s, time);
		l->counted_from = time; /* losses counted later happened after this */
		return;
	}
	if (l->open && time > l->counted_to)
		l->counted_to = time;
	l->open = false;
	if (l->located > l->counted && l->unexplained && l->unexplained++ > 1) {
		losses__note_wrong(s); /* the counters would have reported the kind by now */
		l->unexplained = 0;
	}
	if (!final && l->located != l->counted && time - l->since < PATIENCE_NS)
		return;
	if (l->counted > l->located) { /* at the end of the stream, or before its first record */
		if (!l->located || l->counted_from < range.from)
			range.from = l->counted_from;
		if (!l->located || l->counted_to > range.to)
			range.to = l->counted_to;
		l->ahead += l->counted - l->located;
		losses__add_gap(s, GAP_ALL, merge__quiet_since(s->merge, range.from), range.to);
	}
	clip(s, &range.from, &range.to, time);
	for (unsigned int kind = 0; kind < GT_KIND_END; kind++) {
		range.kind = kind;
		range.count = s->stats.lost_by_kind[kind] - l->by_kind[kind];
		l->by_kind[kind] = s->stats.lost_by_kind[kind];
		if (!range.count)
			continue;
		losses[n++] = range;
		only_kernels &= gt_kind_is_kernels(kind);
		kernels |= gt_kind_is_kernels(kind) || kind == GT_GO_SYS_ENTER ||
			   kind == GT_GO_SYS_EXIT;
	}
	if (l->located > l->counted) {
		range.kind = 0;
		range.count = l->located - l->counted;
		losses[n++] = range;
		kernels = true;
		only_kernels = false;
	}
	if (kernels)
		kernel_threads__lose_before(&s->kernel.threads, range.to);
	l->located = l->counted = l->since = l->counted_to = 0;
	l->counted_from = time;
	write_gaps(s, time, only_kernels);
	boundary__note(s, private__losses(s->opts.writer, losses, n));
}

/* ---- event sets that are not recorded ---- */

static void write_sets(struct sequencer *s, uint64_t time)
{
	const struct gt_recorded *latest = &s->shedding.latest;
	struct private_recorded recorded = {
		.time = time,
		.cost = latest->cost,
		.budget = latest->budget,
	};

	site_set__names(latest->sets, recorded.sets, sizeof(recorded.sets));
	boundary__note(s, private__recorded(s->opts.writer, &recorded));
}

/* What is missing from *from to `time`; what follows is to be written later. */
static void write_loss(struct sequencer *s, unsigned int kind, uint64_t *from, uint64_t time)
{
	struct private_loss loss = { .kind = kind, .from = *from, .to = time };

	if (!*from || time <= *from)
		return;
	boundary__note(s, private__losses(s->opts.writer, &loss, 1));
	*from = time;
}

void shedding__end_generation(struct sequencer *s, uint64_t time)
{
	write_loss(s, 0, &s->shedding.paused_from, time);
	if (!s->shedding.paused_from)
		write_loss(s, GT_CPU_ON, &s->shedding.kernel_from, time);
}

static void write_plugin(struct sequencer *s, const struct noted_plugin *plugin)
{
	const struct private_plugin p = {
		.from = plugin->state.since,
		.to = plugin->state.until,
		.recorded = plugin->state.recorded,
		.text = plugin->text,
	};

	boundary__note(s, private__plugin(s->opts.writer, &p));
}

void shedding__begin_file(struct sequencer *s, uint64_t time)
{
	if (s->shedding.time)
		write_sets(s, time);
	for (size_t i = 0; i < s->shedding.nplugins; i++)
		write_plugin(s, &s->shedding.plugins[i]);
}

bool shedding__hides(const struct sequencer *s, const struct gt_record *rec)
{
	const struct shedding *h = &s->shedding;

	return h->paused_from || (h->kernel_from && gt_kind_is_kernels(rec->kind));
}

static bool is_shed(const struct gt_recorded *r, unsigned int set)
{
	return r->asked & ~r->sets & set;
}

static void hide(struct sequencer *s, const struct gt_recorded *next, uint64_t time)
{
	struct shedding *h = &s->shedding;

	if (!next->sets && !h->paused_from) {
		write_loss(s, GT_CPU_ON, &h->kernel_from, time);
		h->paused_from = time;
	}
	if (is_shed(next, SITE_SET(KERNEL)) && !h->kernel_from)
		h->kernel_from = time;
}

/* A page fault may have begun whose end will be missing. */
static void hide_faults(struct sequencer *s, const struct gt_recorded *next, uint64_t time)
{
	struct private_loss loss = { .kind = GT_FAULT_END, .from = time, .to = time + 1 };

	if (is_shed(next, SITE_SET(FAULT)) && !is_shed(&s->shedding.latest, SITE_SET(FAULT)))
		boundary__note(s, private__losses(s->opts.writer, &loss, 1));
}

static void end_pause(struct sequencer *s, uint64_t time)
{
	s->shedding.paused_from = 0;
	s->shedding.kernel_from = s->shedding.kernel_from ? time : 0;
	losses__note_wrong(s); /* which no counter shows */
	s->losses.seen++;
	s->losses.last = time;
}

/* Returns whether kernel events, or all events, are recorded again. */
static bool show(struct sequencer *s, const struct gt_recorded *next, uint64_t time)
{
	struct shedding *h = &s->shedding;
	bool resumes = next->sets && h->paused_from && !h->mapped;
	bool kernel = next->sets & SITE_SET(KERNEL) && h->kernel_from;

	if (!resumes && !kernel)
		return false;
	shedding__end_generation(s, time);
	if (resumes)
		end_pause(s, time);
	if (kernel)
		h->kernel_from = 0;
	return true;
}

void shedding__apply(struct sequencer *s, const struct gt_record *rec)
{
	const struct gt_recorded *next = (const void *)(rec + 1);
	bool again = show(s, next, rec->time);

	hide(s, next, rec->time);
	hide_faults(s, next, rec->time);
	if (again || is_shed(next, SITE_SET(KERNEL) | SITE_SET(FAULT)))
		kernel_threads__lose_before(&s->kernel.threads, rec->time);
	s->shedding.latest = *next;
	s->shedding.time = rec->time;
	write_sets(s, rec->time);
	if (again && !s->error)
		boundary__note(s, boundary__end(s, rec->time));
}

/* ---- plugins ---- */

static void begin_unprobed(struct sequencer *s, uint64_t time)
{
	struct shedding *h = &s->shedding;

	h->mapped = time;
	if (h->paused_from)
		return;
	write_loss(s, GT_CPU_ON, &h->kernel_from, time);
	h->paused_from = time;
}

/* A plugin that was mapped after `known` has no probes yet, and the budget may have ended the recording. */
static void end_unprobed(struct sequencer *s, uint64_t known, uint64_t time)
{
	struct shedding *h = &s->shedding;
	bool suspended = h->time && !h->latest.sets;

	if (!h->mapped || h->mapped > known)
		return;
	h->mapped = 0;
	if (suspended)
		return;
	shedding__end_generation(s, time);
	end_pause(s, time);
	kernel_threads__lose_before(&s->kernel.threads, time);
	if (!s->error)
		boundary__note(s, boundary__end(s, time));
}

static void note_plugin(struct sequencer *s, const struct gt_plugin *state)
{
	struct noted_plugin plugin = { .state = *state };
	struct shedding *h = &s->shedding;
	struct trace_string text;

	if (!texts__message_bytes(s->texts, state->text, &text))
		return;
	plugin.text = h->nplugins < PLUGINS_MAX ? strndup(text.data, text.len) : NULL;
	texts__drop_message(s->texts, state->text);
	if (!plugin.text ||
	    array__grow(&h->plugins, h->nplugins, &h->plugins_cap, sizeof(*h->plugins))) {
		free(plugin.text);
		return;
	}
	h->plugins[h->nplugins++] = plugin;
	write_plugin(s, &plugin);
}

void shedding__plugin(struct sequencer *s, const struct gt_record *rec)
{
	if (rec->kind == GT_PLUGIN_MAPPED)
		begin_unprobed(s, rec->time);
	else if (rec->kind == GT_PLUGINS_PROBED)
		end_unprobed(s, rec->object, rec->time);
	else
		note_plugin(s, (const void *)(rec + 1));
}

void shedding__deinit(struct sequencer *s)
{
	for (size_t i = 0; i < s->shedding.nplugins; i++)
		free(s->shedding.plugins[i].text);
	free(s->shedding.plugins);
}
