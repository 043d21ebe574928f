// SPDX-License-Identifier: GPL-2.0
/*
 * What the time of a wait consists of: the path of the goroutine from its begin to its end, by cause.
 *
 * Between analysis/path_walk.c, path_causes.c and `gotrace waits`. Only a few causes of each wait
 * are kept, so that those of thousands of waits take little memory.
 */
#include "analysis/waits.h"

#include <errno.h>
#include <stdlib.h>

/* The goroutines that were on the Ps in the longest part of the path in which the goroutine itself was runnable. */
static void copy_holders(const struct path *p, uint32_t goroutine, struct wait_causes *ret)
{
	const struct path_segment *longest = NULL, *seg;
	uint64_t ns, most = 0;

	for (seg = p->segments; seg < p->segments + p->n; seg++) {
		ns = (uint64_t)seg->to - (uint64_t)seg->from;
		if (seg->kind != PATH_GO_RUNNABLE || seg->goroutine != goroutine || ns <= most)
			continue;
		longest = seg;
		most = ns;
	}
	for (unsigned int i = 0; i < PATH_HOLDERS; i++)
		ret->holders[i] = longest ? longest->holders[i] : PATH_NONE;
	ret->more_holders = longest && longest->more_holders;
}

static int add_up(const struct path *p, struct wait_causes *ret)
{
	struct path_cause_total *all;
	size_t n;
	int err = path__summary(p, &all, &n);

	if (err)
		return err;
	for (size_t i = 0; i < n; i++) {
		if (i >= WAITS_CAUSES) {
			ret->others_ns += all[i].ns;
			ret->others++;
			continue;
		}
		ret->at[ret->n++] = (struct wait_cause){ *all[i].like, all[i].ns, all[i].count };
		/* The window may end before the wait does: that is wait->goes_on. */
		if (all[i].like->cause == PATH_CAUSE_PENDING)
			ret->at[i].like.cause = PATH_CAUSE_NONE;
	}
	free(all);
	return 0;
}

int wait__causes(const struct path_history *h, const struct wait *wait, uint64_t *budget,
		 struct wait_causes *ret)
{
	uint32_t goroutine = path_history__find_goroutine(h, wait->goroutine);
	uint64_t *held = NULL;
	struct path path;
	int err;

	*ret = (struct wait_causes){};
	if (goroutine == PATH_NONE)
		return 0;
	err = path__walk_next(h, &held, goroutine, wait->from, wait->to, budget, &path);
	free(held);
	if (err == -E2BIG)
		return 0;
	if (err)
		return err;
	err = add_up(&path, ret);
	copy_holders(&path, goroutine, ret);
	ret->known = !err;
	path__deinit(&path);
	return err;
}
