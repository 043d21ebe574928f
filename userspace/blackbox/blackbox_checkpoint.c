// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the checkpoints of a flight recorder buffer: selects one and a pair of snapshots, and
 * determines what of an old pair is still valid.
 *
 * A checkpoint is a raw file (rawfile.h) whose end may be missing. Upstream: blackbox_write.c.
 * Downstream: blackbox_read.c.
 */
#include "blackbox/blackbox_impl.h"
#include "target/layout/layout.h"

#define UNKNOWN_GO "go1.25" /* assumed if no checkpoint is readable: for the texts of reasons */

static void read_one(const void *data, size_t bytes, struct checkpoint *ret)
{
	struct buf b = buf__make(data, bytes);
	struct raw_chunk chunk;

	*ret = (struct checkpoint){};
	if (!data || raw_header__read(&b, "", &ret->header, NULL)) {
		ret->header = (struct raw_header){ .flags = RAW_STACKS, .go_version = UNKNOWN_GO };
		return;
	}
	ret->is_valid = true;
	ret->chunks = b;
	while (buf__left(&b) && raw_chunk__next(&b, &chunk))
		if (chunk.type == RAW_SNAPSHOT)
			raw_snapshots__add(&ret->both, &chunk.data);
	ret->complete = !b.bad;
}

void checkpoints__read(const struct blackbox_image *image, struct checkpoint ret[2])
{
	struct checkpoint older;

	read_one(image->checkpoint[0].data, image->checkpoint[0].bytes, &ret[0]);
	read_one(image->checkpoint[1].data, image->checkpoint[1].bytes, &ret[1]);
	if (ret[0].complete || !ret[1].is_valid || (ret[0].is_valid && !ret[1].complete))
		return;
	older = ret[1];
	ret[1] = ret[0];
	ret[0] = older;
}

void checkpoints__free(struct checkpoint both[2])
{
	raw_snapshots__free(&both[0].both);
	raw_snapshots__free(&both[1].both);
}

bool blackbox__header(const struct blackbox_image *image, struct raw_header *ret)
{
	struct checkpoint both[2];
	bool is_valid;

	checkpoints__read(image, both);
	is_valid = both[0].is_valid;
	if (is_valid)
		*ret = both[0].header;
	checkpoints__free(both);
	return is_valid;
}

int checkpoints__copy_frames(const struct checkpoint both[2], struct rawfile *raw)
{
	struct raw_chunk chunk;
	int err = 0, i;

	for (i = 0; i < 2; i++) {
		struct buf b = both[i].chunks;

		while (!err && raw_chunk__next(&b, &chunk))
			if (chunk.type == RAW_FRAMES)
				err = rawfile__copy_frames(raw, chunk.data);
	}
	return err;
}

static uint64_t time_end(const struct raw_snapshots *both)
{
	return both->snap[both->present[1]].time_end;
}

struct raw_snapshots *checkpoints__choose(struct checkpoint both[2], struct blackbox_facts *facts)
{
	struct raw_snapshots *best = NULL;

	for (int i = 0; i < 2; i++) {
		struct raw_snapshots *pair = &both[i].both;
		uint64_t time = pair->snap[0].time;

		if (!pair->present[0] || time_end(pair) < time || time_end(pair) > facts->t1)
			continue; /* e.g. of another program, after an exec */
		if (!best || (time >= facts->t0 && time < best->snap[0].time) ||
		    (best->snap[0].time < facts->t0 && time > best->snap[0].time))
			best = pair;
	}
	facts->snapshots = best ? best->snap[0].time : 0;
	facts->stale = best && best->snap[0].time < facts->t0;
	return best;
}

/* ---- a pair from before the window ---- */

static int touch(struct map *map, uint64_t key)
{
	return !key || map__get(map, key) ? 0 : map__put(map, key, map);
}

int touched__add(struct touched *t, const struct gt_record *rec, uint64_t t0)
{
	const struct gt_switch *sw = (const void *)(rec + 1);
	int err;

	if (rec->time < t0 || gt_kind_is_kernels(rec->kind) || rec->kind == GT_SAMPLE ||
	    rec->kind == GT_STACK || rec->kind == GT_TEXT)
		return 0;
	err = touch(&t->tid, rec->tid);
	if (!err)
		err = touch(&t->g, rec->object);
	return err || rec->kind != GT_SWITCH ? err : touch(&t->g, sw->next);
}

void touched__deinit(struct touched *t)
{
	map__deinit(&t->g);
	map__deinit(&t->tid);
}

static bool thread_is_idle(const struct snapshot *snap, uint64_t m, const struct touched *t)
{
	for (size_t i = 0; i < snap->nm; i++)
		if (snap->m[i].addr == m)
			return !map__get(&t->tid, snap->m[i].tid);
	return false;
}

static bool is_likely(const struct snapshot *snap, const struct snapshot_g *g,
		      const struct touched *t)
{
	if (map__get(&t->g, g->addr) || g->status == GS_WAITING)
		return true;
	return g->status == GS_SYSCALL && thread_is_idle(snap, g->m, t);
}

/* `later`: addresses of the goroutines in a later snapshot, or NULL. */
static void age(struct snapshot *snap, const struct touched *t, const struct map *later,
		uint64_t t1)
{
	size_t i, n = 0;

	snap->time = snap->time_end = t1;
	for (i = 0; i < snap->ng; i++)
		if ((!later || !map__get(later, snap->g[i].addr)) &&
		    is_likely(snap, &snap->g[i], t)) {
			/* it may have been parked elsewhere since */
			snap->g[i].stack = 0;
			snap->g[i].wait_reason = 0;
			snap->g[i].wait_since = 0;
			snap->g[n++] = snap->g[i];
		}
	snap->ng = n;
	for (i = 0; i < snap->nm; i++) /* the P of an M changes within microseconds */
		snap->m[i].p = snap->m[i].oldp = 0;
}

void raw_snapshots__age(struct raw_snapshots *both, const struct touched *t, uint64_t t1)
{
	struct map later = {};

	for (size_t i = 0; both->present[1] && i < both->snap[1].ng; i++)
		touch(&later,
		      both->snap[1].g[i].addr); /* on -ENOMEM the first snapshot is used, too */
	age(&both->snap[0], t, &later, t1);
	if (both->present[1])
		age(&both->snap[1], t, NULL, t1);
	map__deinit(&later);
}
