// SPDX-License-Identifier: GPL-2.0
/*
 * The processes that may get a recorder: see targets_impl.h.
 *
 * Any user can execute a file with a selected name, thousands of times per second. So the reads of
 * /proc and the queue of processes that wait for a recorder are limited. A process that exceeded a
 * limit and is still running is found later, when all processes are searched again.
 */
#include <string.h>

#include "capture/tracker.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "selection/selection.h"
#include "targets_impl.h"

#define SEARCH_NS (5 * SECOND)

/* ---- limits ---- */

bool rate__take(struct rate *r)
{
	uint64_t now = clock__now(), more = (now - r->time) / r->every_ns;

	r->time += more * r->every_ns;
	r->left = more > r->most - r->left ? r->most : r->left + (unsigned int)more;
	if (!r->left)
		return false;
	r->left--;
	return true;
}

static bool is_same(const struct tried *t, int pid, uint64_t mark, uint64_t exec_time)
{
	/* Marks may be equal if addresses are not randomized. */
	return t->pid == pid && t->mark == mark && exec_time < t->started + SECOND;
}

/* A process may be found more than once: by its exec, and by a search. */
static bool is_tried(const struct targets *t, int pid, uint64_t mark, uint64_t exec_time)
{
	for (unsigned int i = 0; i < RECORDERS_MAX; i++) {
		const struct recorder_slot *slot = &t->recorders.slot[i];
		const struct tried running = { slot->program.pid, slot->mark, slot->started };

		if (slot->recorder && is_same(&running, pid, mark, exec_time))
			return true;
	}
	return is_same(&t->tried[pid % TRIED_MAX], pid, mark, exec_time);
}

bool targets__is_given(const struct targets *t, int pid)
{
	const struct selection_opts *s = &t->how->args->selection;

	for (unsigned int i = 0; i < s->npids; i++)
		if (s->pid[i] == pid)
			return true;
	return false;
}

/* ---- candidates ---- */

bool targets__is_candidate(struct targets *t, const struct candidate *c, uint64_t *mark,
			   struct program_entry **e)
{
	uint64_t exec_time = c->is_found ? 0 : c->exec_time;
	struct program_file file;

	*mark = recorders__program_mark(c->pid);
	if (!*mark || is_tried(t, c->pid, *mark, exec_time) ||
	    !program_file__of_process(c->pid, &file))
		return false;
	*e = program_files__get(t->files, &file);
	return !(*e)->not_go &&
	       (targets__is_given(t, c->pid) || selection__has_executable(t->selection, c->pid));
}

/* Leaves out those that have ended. */
static void clean_queue(struct targets *t)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < t->n; i++)
		if (t->queue[i].first || recorders__program_mark(t->queue[i].pid))
			t->queue[n++] = t->queue[i];
	t->n = n;
}

void targets__enqueue(struct targets *t, const struct candidate *c)
{
	for (unsigned int i = 0; i < t->n; i++)
		if (t->queue[i].pid == c->pid) {
			if (!c->is_found) {
				t->queue[i].exec_time = c->exec_time;
				t->queue[i].is_found = false;
			}
			return;
		}
	if (t->n == QUEUE_MAX &&
	    !t->search_again) /* else it was cleaned, or a search comes anyway */
		clean_queue(t);
	if (t->n == QUEUE_MAX)
		t->search_again = true;
	else
		t->queue[t->n++] = *c;
}

static void add(struct targets *t, const struct candidate *c)
{
	struct program_entry *e;
	uint64_t mark;

	if (c->pid > 0 && targets__is_candidate(t, c, &mark, &e))
		targets__enqueue(t, c);
}

void targets__handle_exec(void *ctx, const struct gt_followed_exec *exec)
{
	const struct candidate c = { .pid = (int)exec->pid, .exec_time = exec->time };
	struct targets *t = ctx;

	if (t->stopping)
		return;
	if (rate__take(&t->looks))
		add(t, &c);
	else
		t->search_again = true;
}

/* Called by selection.c. A process that is found later may have executed its program just now. */
static void handle_found(void *ctx, pid_t pid)
{
	struct targets *t = ctx;
	const struct candidate c = {
		.pid = pid,
		.exec_time = t->searched ? clock__now() : 0,
		.is_found = true,
	};

	add(t, &c);
}

void targets__search(struct targets *t)
{
	uint64_t now = clock__now();
	bool changed;
	int fd, err;

	if (now < t->next_look)
		return;
	t->next_look = now + PAUSE_NS;
	changed = selection__look_for_cgroup(t->selection, &fd) || !t->searched;
	if (changed && selection__has_cgroup(t->selection)) {
		err = tracker__watch_cgroup(t->tracker, fd);
		if (err)
			log__debug("cannot watch the cgroup: %s", strerror(-err));
	}
	if (t->overflows != tracker__overflows(t->tracker))
		t->search_again = true;
	t->overflows = tracker__overflows(t->tracker);
	if (!changed &&
	    (now < t->next_search || !(t->search_again || selection__has_cgroup(t->selection))))
		return;
	t->search_again = false;
	t->next_search = now + SEARCH_NS;
	selection__each(t->selection, handle_found, t);
	t->searched = true;
}
