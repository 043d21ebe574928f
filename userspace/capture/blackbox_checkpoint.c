// SPDX-License-Identifier: GPL-2.0
/*
 * The checkpoints of a black box: which one, which snapshots, and what of them is still true.
 *
 * A checkpoint is a raw file (rawfile.h) of which the end may be missing. Before it: blackbox_write.c made it.
 * After it: blackbox_read.c.
 */
#include <stdlib.h>
#include <string.h>

#include "capture/blackbox_impl.h"
#include "target/layout.h"

#define UNKNOWN_GO "go1.25" /* whose names of reasons are taken if no checkpoint tells */

static void read_one(const void *data, size_t bytes, struct checkpoint *ret)
{
	struct buf b = buf__make(data, bytes);
	struct raw_chunk chunk;

	*ret = (struct checkpoint){};
	if (!data || raw_header__read(&b, "", &ret->header, NULL)) {
		ret->header = (struct raw_header){ .stacks = 1, .go_version = UNKNOWN_GO };
		return;
	}
	ret->is_one = true;
	ret->chunks = b;
	while (buf__left(&b) && raw_chunk__next(&b, &chunk))
		if (chunk.type == RAW_SNAPSHOT)
			raw_snapshots__add(&ret->both, &chunk.data);
	ret->whole = !b.bad;
}

void checkpoints__read(const struct blackbox_image *image, struct checkpoint ret[2])
{
	struct checkpoint older;

	read_one(image->checkpoint[0].data, image->checkpoint[0].bytes, &ret[0]);
	read_one(image->checkpoint[1].data, image->checkpoint[1].bytes, &ret[1]);
	if (ret[0].whole || !ret[1].is_one || (ret[0].is_one && !ret[1].whole))
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
	bool is_one;

	checkpoints__read(image, both);
	is_one = both[0].is_one;
	if (is_one)
		*ret = both[0].header;
	checkpoints__free(both);
	return is_one;
}

int checkpoints__copy_frames(const struct checkpoint both[2], struct rawfile *raw)
{
	struct raw_chunk chunk;
	int code = 0, i;

	for (i = 0; i < 2; i++) {
		struct buf b = both[i].chunks;

		while (!code && raw_chunk__next(&b, &chunk))
			if (chunk.type == RAW_FRAMES)
				code = rawfile__copy_frames(raw, chunk.data);
	}
	return code;
}

static uint64_t time_end(const struct raw_snapshots *both)
{
	return both->snap[both->there[1]].time_end;
}

struct raw_snapshots *checkpoints__choose(struct checkpoint both[2], struct blackbox_facts *facts)
{
	struct raw_snapshots *best = NULL;
	int i;

	for (i = 0; i < 2; i++) {
		struct raw_snapshots *pair = &both[i].both;
		uint64_t time = pair->snap[0].time;

		if (!pair->there[0] || time_end(pair) < time || time_end(pair) > facts->t1)
			continue; /* or of another program, after its exec */
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
	int code;

	if (rec->time < t0 || gt_kind_is_kernels(rec->kind) || rec->kind == GT_SAMPLE ||
	    rec->kind == GT_STACK || rec->kind == GT_TEXT)
		return 0;
	code = touch(&t->tid, rec->tid);
	if (!code)
		code = touch(&t->g, rec->object);
	return code || rec->kind != GT_SWITCH ? code : touch(&t->g, sw->next);
}

void touched__deinit(struct touched *t)
{
	map__deinit(&t->g);
	map__deinit(&t->tid);
}

static bool thread_is_idle(const struct snapshot *snap, uint64_t m, const struct touched *t)
{
	size_t i;

	for (i = 0; i < snap->nm; i++)
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

/* `later`: addresses of what a later snapshot tells of, or NULL. */
static void age(struct snapshot *snap, const struct touched *t, const struct map *later,
		uint64_t t1)
{
	size_t i, n = 0;

	snap->time = snap->time_end = t1;
	for (i = 0; i < snap->ng; i++)
		if ((!later || !map__get(later, snap->g[i].addr)) &&
		    is_likely(snap, &snap->g[i], t))
			snap->g[n++] = snap->g[i];
	snap->ng = n;
	for (i = 0; i < snap->nm; i++) /* a P changes hands within microseconds */
		snap->m[i].p = snap->m[i].oldp = 0;
}

void raw_snapshots__age(struct raw_snapshots *both, const struct touched *t, uint64_t t1)
{
	struct map later = {};
	size_t i;

	for (i = 0; both->there[1] && i < both->snap[1].ng; i++)
		touch(&later,
		      both->snap[1].g[i].addr); /* without memory: the first one counts, too */
	age(&both->snap[0], t, &later, t1);
	if (both->there[1])
		age(&both->snap[1], t, NULL, t1);
	map__deinit(&later);
}
