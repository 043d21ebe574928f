// SPDX-License-Identifier: GPL-2.0
/*
 * Converts a flight recorder buffer to a raw file: see blackbox.h.
 *
 * The window starts where all rings are complete: a ring that has wrapped around has lost
 * everything before its oldest complete sub-buffer. An incomplete sub-buffer, in which a thread was
 * stopped while writing, is skipped: the sequence numbers of the following ones show the gap.
 * Upstream: the module, whose memory may have been copied to a file, so that it is read as
 * untrusted input. Downstream: rawfile/replay.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "blackbox/blackbox.h"
#include "blackbox/blackbox_impl.h"
#include "gotrace/config.h"
#include "gotrace/uapi.h"
#include "lib/map.h"
#include "lib/power.h"

/* The contents of one sub-buffer. */
struct part {
	struct buf records;
	uint64_t first;		   /* time of its first record */
	uint64_t earliest;	   /* time of its earliest record */
	uint64_t earliest_pending; /* of these and all following ones of the ring */
};

struct ring {
	struct part *part;
	size_t n, next; /* number of parts; index of the next one to write */
	bool overwritten;
	bool counted; /* the sequence numbers are set */
	uint32_t first_seq,
		next_seq; /* of the records that were written or skipped; after the last one */
	uint32_t end_seq; /* of the next record, had there been one */
	uint64_t written;
};

struct box {
	struct buf memory;
	struct gt_session_page page;
	struct ring *ring;
	struct checkpoint checkpoint[2];
	struct raw_header header;
	struct map seen;    /* ids of stacks */
	uint32_t extra_seq; /* records written to an additional ring */
	struct rawfile *raw;
	struct blackbox_facts *facts;
	uint64_t from; /* that of the image */
	bool cut;      /* rings may have older records than those of the window */
};

/* ---- the memory ---- */

static int report_corrupt(struct error *error)
{
	return error__set(error, -EBADMSG, "the flight recorder buffer is corrupt");
}

static int read_page(struct box *box, struct error *error)
{
	struct gt_session_page *page = &box->page;
	uint64_t bytes = buf__left(&box->memory);
	const void *data = buf__take(&box->memory, sizeof(*page));

	if (!data)
		return report_corrupt(error);
	memcpy(page, data, sizeof(*page));
	if (page->magic != GT_ABI_MAGIC || page->version != GT_ABI_VERSION)
		return report_corrupt(error);
	/* one more ring is used for the stacks */
	if (!page->rings || page->rings >= GT_RINGS_MAX || !is_power_of_two(page->subbuf_size) ||
	    page->subbuf_size <= sizeof(struct gt_subbuf) || !is_power_of_two(page->subbufs))
		return report_corrupt(error);
	if (page->created > GT_TIME_MAX)
		return report_corrupt(error);
	/* the rings must be disjoint: with a stride that wraps, all could be at the same place */
	if (bytes / page->rings < page->ring_stride || bytes / page->rings < page->control_stride)
		return report_corrupt(error);
	box->ring = calloc(page->rings, sizeof(*box->ring));
	return box->ring ? 0 : -ENOMEM;
}

typedef int (*record_fn)(struct box *box, const struct gt_record *rec, void *ctx);

/* Calls `fn` for each record, ring by ring. */
static int each_record(struct box *box, record_fn fn, void *ctx)
{
	struct blackbox_record r;
	size_t part;
	int err = 0;

	for (unsigned int i = 0; i < box->page.rings; i++)
		for (part = 0; part < box->ring[i].n; part++) {
			struct buf b = box->ring[i].part[part].records;

			while (!err && next_record(&b, &r))
				err = fn(box, &r.rec, ctx);
		}
	return err;
}

/* Limits the part to its valid records, and finds their times. */
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

/* Sub-buffer `n` of a ring's stream. True: it is complete, as far as it was used. */
static bool take_part(struct box *box, const struct buf *bytes, const struct buf *control,
		      uint64_t n, uint64_t head, struct part *ret)
{
	const struct gt_session_page *page = &box->page;
	uint64_t size = page->subbuf_size, slot = n % page->subbufs, laps = n / page->subbufs;
	uint64_t end = head - n * size, committed = 0, whole = laps * size + end;
	struct buf b = buf__slice(bytes, slot * size, size);
	struct gt_subbuf sub = { .number = buf__u64(&b), .used = buf__u32(&b) };

	if (end > size) { /* writing has moved on to the next one */
		end = sub.used;
		whole = (laps + 1) * size;
	}
	buf__u64_at(control, offsetof(struct gt_ring_control, committed[slot]), &committed);
	if (committed != whole || sub.number != n || end < sizeof(sub) || end > size)
		return false;
	ret->records = buf__slice(&b, sizeof(sub), end - sizeof(sub));
	return true;
}

static int scan_ring(struct box *box, unsigned int which, struct error *error)
{
	const struct gt_session_page *page = &box->page;
	struct ring *ring = &box->ring[which];
	uint64_t size = (uint64_t)page->subbufs * page->subbuf_size, head, n, last;
	struct buf bytes, control;

	if (page->ring_stride < size ||
	    page->control_stride < offsetof(struct gt_ring_control, committed[page->subbufs]))
		return report_corrupt(error);
	bytes = buf__slice(&box->memory, page->ring_offset + which * page->ring_stride, size);
	control = buf__slice(&box->memory, page->control_offset + which * page->control_stride,
			     offsetof(struct gt_ring_control, committed[page->subbufs]));
	if (bytes.bad || control.bad)
		return report_corrupt(error);
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
			/* before the first complete one of a ring that has wrapped: overwritten */
			box->facts->broken += ring->n || !ring->overwritten;
			continue;
		}
		scan_part(box, part);
		ring->n += part->earliest != UINT64_MAX;
	}
	return 0;
}

static void find_earliest_pending(struct ring *ring)
{
	uint64_t earliest = UINT64_MAX;

	for (size_t i = ring->n; i-- > 0;) {
		if (ring->part[i].earliest < earliest)
			earliest = ring->part[i].earliest;
		ring->part[i].earliest_pending = earliest;
	}
}

static int note_last(struct box *box, const struct gt_record *rec, void *ctx)
{
	uint64_t *last = ctx;

	if (rec->time > *last)
		*last = rec->time;
	return 0;
}

/* If the memory was not frozen, the window ends with the last record. */
static void find_end(struct box *box)
{
	struct blackbox_facts *facts = box->facts;

	if (facts->t1 == UINT64_MAX) {
		facts->t1 = facts->t0;
		each_record(box, note_last, &facts->t1);
	}
}

static int scan_rings(struct box *box, struct error *error)
{
	struct blackbox_facts *facts = box->facts;
	int err = 0;

	facts->t0 = box->page.created;
	facts->stacks_lost = box->page.stacks_lost;
	facts->t1 = box->page.frozen;
	if (!facts->t1 || facts->t1 > GT_TIME_MAX)
		facts->t1 = UINT64_MAX;
	for (unsigned int i = 0; !err && i < box->page.rings; i++)
		err = scan_ring(box, i, error);
	find_end(box);
	for (unsigned int i = 0; !err && i < box->page.rings; i++) {
		const struct ring *ring = &box->ring[i];
		uint64_t whole = ring->n ? ring->part[0].first : facts->t1;

		facts->overwritten |= ring->overwritten;
		if (ring->overwritten && whole > facts->t0)
			facts->t0 = whole;
		find_earliest_pending(&box->ring[i]);
	}
	box->cut = facts->overwritten || box->from > facts->t0;
	if (box->from > facts->t0)
		facts->t0 = box->from;
	if (facts->t1 < facts->t0)
		facts->t1 = facts->t0;
	return err;
}

/* ---- the stack table ---- */

/* Stacks go to an additional ring, so that their sequence numbers cause no gaps in the others. */
static int write_stack(struct box *box, uint32_t id, uint64_t time)
{
	struct blackbox_record r = {};
	int err;

	if (!id || map__get(&box->seen, id))
		return 0;
	err = map__put(&box->seen, id, box);
	if (err)
		return err;
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
				    .seq = box->extra_seq++ };
	return rawfile__record(box->raw, box->page.rings, &r.rec, r.size);
}

/* ---- writing ---- */

static int write_stack_of(struct box *box, const struct gt_record *rec, void *ctx)
{
	return write_stack(box, rec->stack, rec->time);
}

/* The ring whose next part has the earliest record; NULL: all parts were written. */
static struct ring *next_ring(struct box *box)
{
	struct ring *best = NULL;

	for (unsigned int i = 0; i < box->page.rings; i++) {
		struct ring *ring = &box->ring[i];

		if (ring->next < ring->n &&
		    (!best || ring->part[ring->next].earliest < best->part[best->next].earliest))
			best = ring;
	}
	return best;
}

/* The numbers may be out of order, if several CPUs wrote at the same time. */
static void note_seq(struct ring *ring, uint32_t from, uint32_t to)
{
	if (!ring->counted || (int32_t)(from - ring->first_seq) < 0)
		ring->first_seq = from;
	if (!ring->counted || (int32_t)(to - ring->next_seq) > 0)
		ring->next_seq = to;
	ring->counted = true;
}

/*
 * A record from before the window, of a ring that reaches back further than others. It is skipped,
 * since the records of other rings at that time are lost: a thread that went to sleep in this ring
 * may have been woken up in another. Only names are kept, in the additional ring, so that the
 * skipped ones cause no gaps.
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
	r->rec.seq = box->extra_seq++;
	return rawfile__record(box->raw, box->page.rings, &r->rec, r->size);
}

static int write_part(struct box *box, struct ring *ring)
{
	struct buf b = ring->part[ring->next++].records;
	struct blackbox_record r;
	int err = 0;

	while (!err && next_record(&b, &r)) {
		if (box->cut && !ring->written && r.rec.time < box->facts->t0) {
			err = write_older(box, ring, &r);
			continue;
		}
		note_seq(ring, r.rec.seq, r.rec.seq + 1);
		ring->written++;
		box->facts->records += r.rec.time >= box->facts->t0 && r.rec.time <= box->facts->t1;
		err = rawfile__record(box->raw, (unsigned int)(ring - box->ring), &r.rec, r.size);
	}
	return err;
}

/* Writes the number of missing records so far; the sequencer compares it with the gaps it finds. */
static int write_losses(struct box *box)
{
	uint64_t lost = 0;

	for (unsigned int i = 0; i < box->page.rings; i++) {
		const struct ring *ring = &box->ring[i];
		uint32_t span = ring->next_seq - ring->first_seq;

		lost += span > ring->written ? span - ring->written : 0;
	}
	if (lost <= box->facts->lost)
		return 0;
	box->facts->lost = lost;
	return rawfile__lost(box->raw, GT_NONE, lost);
}

/* Writes sub-buffer by sub-buffer, with watermarks between them. */
static int write_records(struct box *box)
{
	uint64_t watermark = box->facts->t0, time;
	struct ring *ring;
	int err = 0;

	while (!err && (ring = next_ring(box))) {
		err = write_part(box, ring);
		time = box->facts->t1;
		for (unsigned int i = 0; i < box->page.rings; i++) {
			ring = &box->ring[i];
			if (ring->next < ring->n && ring->part[ring->next].earliest_pending < time)
				time = ring->part[ring->next].earliest_pending;
		}
		if (err || !time || --time <= watermark)
			continue;
		watermark = time;
		err = write_losses(box);
		if (!err)
			err = rawfile__watermark(box->raw, time);
	}
	return err;
}

/* Counts losses after the last record of a ring: their sequence numbers were taken. */
static int write_last_losses(struct box *box)
{
	for (unsigned int i = 0; i < box->page.rings; i++)
		if (box->ring[i].counted)
			note_seq(&box->ring[i], box->ring[i].first_seq, box->ring[i].end_seq);
	return write_losses(box);
}

static int note_touched(struct box *box, const struct gt_record *rec, void *ctx)
{
	return touched__add(ctx, rec, box->facts->t0);
}

/*
 * The initial state is determined once all records up to the second snapshot are known, since they
 * take precedence. Without a snapshot in the window, that is at the end of the window.
 */
static int write_snapshots(struct box *box)
{
	struct raw_snapshots *both = checkpoints__choose(box->checkpoint, box->facts);
	struct snapshot none = { .time = box->facts->t1, .time_end = box->facts->t1 };
	struct touched touched = {};
	int err = 0;

	if (!both)
		return rawfile__snapshot(box->raw, NULL, &none);
	if (box->facts->stale) {
		err = each_record(box, note_touched, &touched);
		raw_snapshots__age(both, &touched, box->facts->t1);
		touched__deinit(&touched);
	}
	if (err)
		return err;
	if (!both->present[1])
		return rawfile__snapshot(box->raw, NULL, &both->snap[0]);
	return rawfile__snapshot(box->raw, &both->snap[0], &both->snap[1]);
}

/* t0 of the checkpoint is when all probes were live. */
static void find_header(struct box *box)
{
	struct raw_header *header = &box->header;
	struct blackbox_facts *facts = box->facts;

	facts->headless = !box->checkpoint[0].is_valid;
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
	int err = rawfile__start(box->raw, &box->header);

	if (!err)
		err = checkpoints__copy_frames(box->checkpoint, box->raw);
	if (!err)
		err = write_snapshots(box);
	if (!err)
		err = each_record(box, write_stack_of, NULL);
	if (!err)
		err = write_records(box);
	if (!err)
		err = write_last_losses(box);
	if (!err && more)
		err = rawfile__frames(box->raw, more);
	return err ? err : rawfile__end(box->raw, box->facts->t1);
}

int blackbox__read(const struct blackbox_image *image, const struct symbolizer *more,
		   struct rawfile **ret, struct blackbox_facts *ret_facts, struct error *error)
{
	struct blackbox_facts facts = {};
	struct box box = { .memory = buf__make(image->memory, image->bytes),
			   .facts = &facts,
			   .from = image->from };
	int err = read_page(&box, error);

	checkpoints__read(image, box.checkpoint);
	if (!err && box.checkpoint[0].header.t0 == BLACKBOX_NOT_BEGUN)
		err = error__set(error, -ENODATA,
				 "the recorder of this flight recorder buffer ended before the "
				 "recording had started");
	if (!err)
		err = scan_rings(&box, error);
	if (!err) {
		find_header(&box);
		err = rawfile__create_in_memory(&box.raw);
	}
	if (!err)
		err = write_all(&box, more);
	for (unsigned int i = 0; box.ring && i < box.page.rings; i++)
		free(box.ring[i].part);
	free(box.ring);
	map__deinit(&box.seen);
	checkpoints__free(box.checkpoint);
	if (err) {
		rawfile__destroy(box.raw);
		return error__set(error, err, "%s", strerror(-err));
	}
	*ret = box.raw;
	*ret_facts = facts;
	return 0;
}
