// SPDX-License-Identifier: GPL-2.0
/*
 * A black box's memory and checkpoints into a raw file: see blackbox.h.
 *
 * The window begins where the last of the rings has all it was given: a ring that has gone round has
 * lost what was before its oldest whole sub-buffer. Of a sub-buffer that was not written to its end,
 * since a thread was stopped in the midst of it or no record found room, nothing is taken: the numbers
 * of the next ones show the hole. Before it: the module, of whose memory this may be a copy out of a
 * file; so it is read as foreign bytes. After it: replay.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/blackbox.h"
#include "capture/blackbox_impl.h"
#include "gotrace/session.h"
#include "gotrace/uapi.h"
#include "lib/map.h"

/* What one sub-buffer holds. */
struct part {
	struct buf records;
	uint64_t first;		    /* time of its first record */
	uint64_t earliest, to_come; /* of its records; of these and all that follow in the ring */
};

struct ring {
	struct part *part;
	size_t n, next; /* parts; the next to be written */
	bool overwritten;
	bool counted; /* it has numbers: */
	uint32_t first_seq,
		next_seq; /* of what was written, or passed over; behind the last of them */
	uint32_t end_seq; /* that the next one would have had */
	uint64_t written;
};

struct box {
	struct buf memory;
	struct gt_session_page page;
	struct ring *ring;
	struct checkpoint checkpoint[2];
	struct raw_header header;
	struct map seen; /* ids of stacks */
	uint32_t apart;	 /* records written under a ring of their own */
	struct rawfile *raw;
	struct blackbox_facts *facts;
};

/* ---- the memory ---- */

static int not_ours(struct error *err)
{
	return error__set(err, -EBADMSG, "the black box's memory makes no sense");
}

static bool is_power_of_two(uint64_t n)
{
	return n && !(n & (n - 1));
}

static int read_page(struct box *box, struct error *err)
{
	struct gt_session_page *page = &box->page;
	uint64_t bytes = buf__left(&box->memory);
	const void *data = buf__take(&box->memory, sizeof(*page));

	if (!data)
		return not_ours(err);
	memcpy(page, data, sizeof(*page));
	if (page->magic != GT_ABI_MAGIC || page->version != GT_ABI_VERSION)
		return not_ours(err);
	/* one number more than there are rings is for the stacks */
	if (!page->rings || page->rings >= GT_RINGS_MAX || !is_power_of_two(page->subbuf_size) ||
	    page->subbuf_size <= sizeof(struct gt_subbuf) || !is_power_of_two(page->subbufs))
		return not_ours(err);
	/* each ring has its own place: of a stride that wraps, all could have the same */
	if (bytes / page->rings < page->ring_stride || bytes / page->rings < page->control_stride)
		return not_ours(err);
	box->ring = calloc(page->rings, sizeof(*box->ring));
	return box->ring ? 0 : -ENOMEM;
}

typedef int (*record_fn)(struct box *box, const struct gt_record *rec, void *ctx);

/* Calls `fn` for each record of the rings, one ring after the other. */
static int each_record(struct box *box, record_fn fn, void *ctx)
{
	struct blackbox_record r;
	unsigned int i;
	size_t part;
	int code = 0;

	for (i = 0; i < box->page.rings; i++)
		for (part = 0; part < box->ring[i].n; part++) {
			struct buf b = box->ring[i].part[part].records;

			while (!code && next_record(&b, &r))
				code = fn(box, &r.rec, ctx);
		}
	return code;
}

/* Its records as far as they make sense, and when they happened. */
static void scan_part(struct box *box, struct part *part)
{
	struct buf b = part->records;
	struct blackbox_record r;
	const unsigned char *end = b.pos;

	part->earliest = UINT64_MAX;
	while (next_record(&b, &r)) {
		end = b.pos;
		if (part->earliest == UINT64_MAX)
			part->first = r.rec.time;
		if (r.rec.time < part->earliest)
			part->earliest = r.rec.time;
		if (r.rec.kind == GT_EXEC && r.rec.time < box->facts->t1)
			box->facts->t1 = r.rec.time;
	}
	part->records.end = end;
}

/* Sub-buffer `n` of the stream: true if it was written to its end, or as far as it was used. */
static bool take_part(struct box *box, const struct buf *bytes, const struct buf *control,
		      uint64_t n, uint64_t head, struct part *ret)
{
	const struct gt_session_page *page = &box->page;
	uint64_t size = page->subbuf_size, slot = n % page->subbufs, laps = n / page->subbufs;
	uint64_t end = head - n * size, committed = 0, whole = laps * size + end;
	struct buf b = buf__slice(bytes, slot * size, size);
	struct gt_subbuf sub = { .number = buf__u64(&b), .used = buf__u32(&b) };

	if (end > size) { /* it was left for the next one */
		end = sub.used;
		whole = (laps + 1) * size;
	}
	buf__u64_at(control, offsetof(struct gt_ring_control, committed[slot]), &committed);
	if (committed != whole || sub.number != n || end < sizeof(sub) || end > size)
		return false;
	ret->records = buf__slice(&b, sizeof(sub), end - sizeof(sub));
	return true;
}

static int scan_ring(struct box *box, unsigned int which, struct error *err)
{
	const struct gt_session_page *page = &box->page;
	struct ring *ring = &box->ring[which];
	uint64_t size = (uint64_t)page->subbufs * page->subbuf_size, head, n, last;
	struct buf bytes, control;

	if (page->ring_stride < size ||
	    page->control_stride < offsetof(struct gt_ring_control, committed[page->subbufs]))
		return not_ours(err);
	bytes = buf__slice(&box->memory, page->ring_offset + which * page->ring_stride, size);
	control = buf__slice(&box->memory, page->control_offset + which * page->control_stride,
			     offsetof(struct gt_ring_control, committed[page->subbufs]));
	if (bytes.bad || control.bad)
		return not_ours(err);
	ring->part = calloc(page->subbufs, sizeof(*ring->part));
	if (!ring->part)
		return -ENOMEM;
	head = buf__u64(&control);
	buf__u32_at(&control, offsetof(struct gt_ring_control, seq), &ring->end_seq);
	if (!head)
		return 0;
	last = (head - 1) / page->subbuf_size;
	ring->overwritten = last >= page->subbufs;
	for (n = ring->overwritten ? last + 1 - page->subbufs : 0; n <= last; n++) {
		struct part *part = &ring->part[ring->n];

		if (!take_part(box, &bytes, &control, n, head, part)) {
			box->facts->broken++;
			continue;
		}
		scan_part(box, part);
		ring->n += part->earliest != UINT64_MAX;
	}
	return 0;
}

static void find_to_come(struct ring *ring)
{
	uint64_t earliest = UINT64_MAX;
	size_t i;

	for (i = ring->n; i-- > 0;) {
		if (ring->part[i].earliest < earliest)
			earliest = ring->part[i].earliest;
		ring->part[i].to_come = earliest;
	}
}

static int scan_rings(struct box *box, struct error *err)
{
	struct blackbox_facts *facts = box->facts;
	unsigned int i;
	int code = 0;

	facts->t0 = box->page.created;
	facts->stacks_lost = box->page.stacks_lost;
	facts->t1 = box->page.frozen ? box->page.frozen : UINT64_MAX;
	for (i = 0; !code && i < box->page.rings; i++)
		code = scan_ring(box, i, err);
	for (i = 0; !code && i < box->page.rings; i++) {
		const struct ring *ring = &box->ring[i];
		uint64_t whole = ring->n ? ring->part[0].first : facts->t1;

		facts->overwritten |= ring->overwritten;
		if (ring->overwritten && whole > facts->t0)
			facts->t0 = whole;
		find_to_come(&box->ring[i]);
	}
	return code;
}

static int note_last(struct box *box, const struct gt_record *rec, void *ctx)
{
	uint64_t *last = ctx;

	if (rec->time > *last)
		*last = rec->time;
	return 0;
}

/* Of a memory that nobody froze the window ends with the last record. */
static void find_end(struct box *box)
{
	struct blackbox_facts *facts = box->facts;

	if (facts->t1 == UINT64_MAX) {
		facts->t1 = facts->t0;
		each_record(box, note_last, &facts->t1);
	}
	if (facts->t1 < facts->t0)
		facts->t1 = facts->t0;
}

/* ---- the stack table ---- */

/* Under a ring of their own, so that their numbers make no holes. */
static int write_stack(struct box *box, uint32_t id, uint64_t time)
{
	struct blackbox_record r = {};
	int code;

	if (!id || map__get(&box->seen, id))
		return 0;
	code = map__put(&box->seen, id, box);
	if (code)
		return code;
	if (!stack_table__find(&box->memory, &box->page, id, &r)) {
		box->facts->stacks_gone++;
		return 0;
	}
	box->facts->stacks++;
	r.rec = (struct gt_record){ .time = time,
				    .tid = 1,
				    .kind = GT_STACK,
				    .object = id,
				    .stack = id,
				    .seq = box->apart++ };
	return rawfile__record(box->raw, box->page.rings, &r.rec, r.size);
}

/* ---- out ---- */

static int write_its_stack(struct box *box, const struct gt_record *rec, void *ctx)
{
	return write_stack(box, rec->stack, rec->time);
}

/* The ring whose next part begins first; NULL: all were written. */
static struct ring *next_ring(struct box *box)
{
	struct ring *best = NULL;
	unsigned int i;

	for (i = 0; i < box->page.rings; i++) {
		struct ring *ring = &box->ring[i];

		if (ring->next < ring->n &&
		    (!best || ring->part[ring->next].earliest < best->part[best->next].earliest))
			best = ring;
	}
	return best;
}

/* They may come in another order, if writers were at it at once. */
static void note_seq(struct ring *ring, uint32_t from, uint32_t to)
{
	if (!ring->counted || (int32_t)(from - ring->first_seq) < 0)
		ring->first_seq = from;
	if (!ring->counted || (int32_t)(to - ring->next_seq) > 0)
		ring->next_seq = to;
	ring->counted = true;
}

/*
 * From before the window, of a ring that reaches back further than others: what they had is gone, so that a
 * thread which went to sleep here may have been woken there. Only names stay, and under a ring of
 * their own: what is left out between them is no hole.
 */
static int write_older(struct box *box, struct ring *ring, struct blackbox_record *r)
{
	struct gt_thread *thread = (void *)(&r->rec + 1);

	if (!ring->counted || (int32_t)(r->rec.seq + 1 - ring->next_seq) > 0)
		ring->first_seq = ring->next_seq = r->rec.seq + 1;
	ring->counted = true;
	if (r->rec.kind != GT_THREAD && r->rec.kind != GT_TEXT)
		return 0;
	if (r->rec.kind == GT_THREAD && thread->what != GT_THREAD_ENDED)
		thread->what = GT_THREAD_NAMED;
	r->rec.seq = box->apart++;
	return rawfile__record(box->raw, box->page.rings, &r->rec, r->size);
}

static int write_part(struct box *box, struct ring *ring)
{
	struct buf b = ring->part[ring->next++].records;
	struct blackbox_record r;
	int code = 0;

	while (!code && next_record(&b, &r)) {
		if (box->facts->overwritten && !ring->written && r.rec.time < box->facts->t0) {
			code = write_older(box, ring, &r);
			continue;
		}
		note_seq(ring, r.rec.seq, r.rec.seq + 1);
		ring->written++;
		box->facts->records += r.rec.time >= box->facts->t0 && r.rec.time <= box->facts->t1;
		code = rawfile__record(box->raw, (unsigned int)(ring - box->ring), &r.rec, r.size);
	}
	return code;
}

/*
 * Numbers that are missing so far. The sequencer finds the holes, too: it wants a count of all, and takes it
 * for what it has found as far as that goes.
 */
static int write_losses(struct box *box)
{
	uint64_t lost = 0;
	unsigned int i;

	for (i = 0; i < box->page.rings; i++) {
		const struct ring *ring = &box->ring[i];
		uint32_t span = ring->next_seq - ring->first_seq;

		lost += span > ring->written ? span - ring->written : 0;
	}
	if (lost <= box->facts->lost)
		return 0;
	box->facts->lost = lost;
	return rawfile__lost(box->raw, GT_NONE, lost);
}

/* Sub-buffer by sub-buffer, and between them the time up to which nothing more will come. */
static int write_records(struct box *box)
{
	uint64_t watermark = box->facts->t0, time;
	struct ring *ring;
	unsigned int i;
	int code = 0;

	while (!code && (ring = next_ring(box))) {
		code = write_part(box, ring);
		time = box->facts->t1;
		for (i = 0; i < box->page.rings; i++) {
			ring = &box->ring[i];
			if (ring->next < ring->n && ring->part[ring->next].to_come < time)
				time = ring->part[ring->next].to_come;
		}
		if (code || !time || --time <= watermark)
			continue;
		watermark = time;
		code = write_losses(box);
		if (!code)
			code = rawfile__watermark(box->raw, time);
	}
	return code;
}

/* Records that took a number and came to nothing after a ring's last one. */
static int write_last_losses(struct box *box)
{
	unsigned int i;

	for (i = 0; i < box->page.rings; i++)
		if (box->ring[i].counted)
			note_seq(&box->ring[i], box->ring[i].first_seq, box->ring[i].end_seq);
	return write_losses(box);
}

static int note_touched(struct box *box, const struct gt_record *rec, void *ctx)
{
	return touched__add(ctx, rec, box->facts->t0);
}

/*
 * The initial state waits for all records up to the second snapshot: they outrank it. If there is none of
 * the window, that is up to the window's end.
 */
static int write_snapshots(struct box *box)
{
	struct raw_snapshots *both = checkpoints__choose(box->checkpoint, box->facts);
	struct snapshot none = { .time = box->facts->t1, .time_end = box->facts->t1 };
	struct touched touched = {};
	int code = 0;

	if (!both)
		return rawfile__snapshot(box->raw, NULL, &none);
	if (box->facts->stale) {
		code = each_record(box, note_touched, &touched);
		raw_snapshots__age(both, &touched, box->facts->t1);
		touched__deinit(&touched);
	}
	if (code)
		return code;
	if (!both->there[1])
		return rawfile__snapshot(box->raw, NULL, &both->snap[0]);
	return rawfile__snapshot(box->raw, &both->snap[0], &both->snap[1]);
}

/* From when on it was recorded, the first checkpoint tells: before, not all of the probes were live. */
static void find_header(struct box *box)
{
	struct raw_header *header = &box->header;
	struct blackbox_facts *facts = box->facts;

	facts->headless = !box->checkpoint[0].is_one;
	*header = box->checkpoint[0].header;
	if (header->t0 > facts->t0)
		facts->t0 = header->t0;
	if (facts->t0 > facts->t1)
		facts->t0 = facts->t1;
	header->t0 = facts->t0;
	header->wall_ns = box->page.wall + (facts->t0 - box->page.created);
}

static int write_all(struct box *box, const struct symbolizer *more)
{
	int code = rawfile__start(box->raw, &box->header);

	if (!code)
		code = checkpoints__copy_frames(box->checkpoint, box->raw);
	if (!code)
		code = write_snapshots(box);
	if (!code)
		code = each_record(box, write_its_stack, NULL);
	if (!code)
		code = write_records(box);
	if (!code)
		code = write_last_losses(box);
	if (!code && more)
		code = rawfile__frames(box->raw, more);
	return code ? code : rawfile__end(box->raw, box->facts->t1);
}

int blackbox__read(const struct blackbox_image *image, const struct symbolizer *more,
		   struct rawfile **ret, struct blackbox_facts *ret_facts, struct error *err)
{
	struct blackbox_facts facts = {};
	struct box box = { .memory = buf__make(image->memory, image->bytes), .facts = &facts };
	unsigned int i;
	int code = read_page(&box, err);

	checkpoints__read(image, box.checkpoint);
	if (!code && box.checkpoint[0].header.t0 == BLACKBOX_NOT_BEGUN)
		code = error__set(err, -ENODATA,
				  "the black box's recorder ended before it had begun to record");
	if (!code)
		code = scan_rings(&box, err);
	if (!code) {
		find_end(&box);
		find_header(&box);
		code = rawfile__create_in_memory(&box.raw);
	}
	if (!code)
		code = write_all(&box, more);
	for (i = 0; box.ring && i < box.page.rings; i++)
		free(box.ring[i].part);
	free(box.ring);
	map__deinit(&box.seen);
	checkpoints__free(box.checkpoint);
	if (code) {
		rawfile__destroy(box.raw);
		return error__set(err, code, "%s", strerror(-code));
	}
	*ret = box.raw;
	*ret_facts = facts;
	return 0;
}
