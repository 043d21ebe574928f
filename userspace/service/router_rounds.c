// SPDX-License-Identifier: GPL-2.0
/*
 * Rounds of questions to all recorders: see router.h.
 *
 * All recorders are asked at the same time, each writes its part to a memory file, and all requests
 * that had arrived before get a result. Requests that arrive meanwhile wait for the next round, so
 * that a result is never older than its request, and any number of them costs no more than one at a
 * time.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/array.h"
#include "service/channel.h"
#include "service/router_impl.h"

static void ask_part(struct router *r, struct gather *g, unsigned int slot)
{
	const struct channel_request request = { .kind = g->asks, .id = g->id };
	struct recorder_end *to = &r->recorder[slot];
	struct part *p = &g->part[slot];

	*p = (struct part){ .pid = to->pid, .memory = -1 };
	memcpy(p->name, to->name, sizeof(p->name));
	if (!to->pid || !to->is_ready || to->is_broken)
		return;
	p->memory = channel__memory();
	p->waits = p->memory >= 0 && !channel__ask(to->channel, &request, p->memory);
}

static void begin_round(struct router *r, struct gather *g, uint64_t now)
{
	bool is_wanted = false;

	for (unsigned int i = 0; i < ROUTER_JOBS; i++) {
		struct job *j = &r->job[i];

		if (j->state != QUEUED || j->kind != g->kind)
			continue;
		j->state = GATHERED;
		is_wanted = true;
	}
	if (!is_wanted)
		return;
	g->is_active = true;
	g->id = ++r->last_id;
	g->deadline = now + ROUTER_PATIENCE;
	for (unsigned int i = 0; i < ROUTER_RECORDERS; i++)
		ask_part(r, g, i);
}

static bool waits(const struct gather *g)
{
	for (unsigned int i = 0; i < ROUTER_RECORDERS; i++)
		if (g->part[i].waits)
			return true;
	return false;
}

static int by_pid(const void *a, const void *b)
{
	const struct router_part *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static void take_parts(const struct router *r, const struct gather *g, struct router_part *part,
		       size_t *n)
{
	*n = 0;
	for (unsigned int i = 0; i < ROUTER_RECORDERS; i++) {
		const struct part *p = &g->part[i];
		struct router_part *to = &part[*n];
		void *data;

		if (!p->pid)
			continue;
		*to = (struct router_part){
			.pid = p->pid,
			.name = p->name,
			.is_ready = r->recorder[i].pid == p->pid && r->recorder[i].is_ready,
		};
		if (p->has_result && !channel__get(p->memory, g->printer->max, &data, &to->size))
			to->data = data;
		++*n;
	}
	array__sort(part, *n, sizeof(*part), by_pid);
}

static int print_parts(const struct gather *g, const struct router_part *part, size_t n, int fd,
		       struct error *error)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int err;

	if (!out)
		return -ENOMEM;
	err = g->printer->print(out, part, n, error);
	if (fclose(out) && !err)
		err = -ENOMEM;
	if (!err)
		err = channel__put(fd, text, size);
	free(text);
	return err;
}

static void finish_gathered(struct router *r, const struct gather *g, struct job *j,
			    const struct router_part *part, size_t n)
{
	struct error error = {};
	int err;

	if (j->pid) {
		while (n && part->pid != j->pid) {
			part++;
			n--;
		}
		n = n > 0;
	}
	err = j->pid && !n ? error__set(&error, -ENOENT, "process %d is not recorded", j->pid) :
			     print_parts(g, part, n, j->fd, &error);
	router__finish(r, j, err, error.text);
}

void router_round__close(struct gather *g)
{
	for (unsigned int i = 0; i < ROUTER_RECORDERS; i++) {
		if (g->part[i].pid && g->part[i].memory >= 0)
			close(g->part[i].memory);
		g->part[i].pid = 0;
	}
}

static void end_round(struct router *r, struct gather *g)
{
	struct router_part part[ROUTER_RECORDERS];
	size_t n;

	g->is_active = false;
	take_parts(r, g, part, &n);
	for (unsigned int i = 0; i < ROUTER_JOBS; i++)
		if (r->job[i].state == GATHERED && r->job[i].kind == g->kind)
			finish_gathered(r, g, &r->job[i], part, n);
	for (size_t i = 0; i < n; i++)
		free((void *)part[i].data);
	router_round__close(g);
}

void router_round__step(struct router *r, struct gather *g, uint64_t now)
{
	if (g->is_active && (!waits(g) || now >= g->deadline))
		end_round(r, g);
	if (!g->is_active)
		begin_round(r, g, now);
	if (g->is_active && !waits(g))
		end_round(r, g);
}

void router_round__take(struct gather *g, unsigned int slot, uint64_t id, bool has_result)
{
	struct part *p = &g->part[slot];

	if (!g->is_active || g->id != id || !p->waits)
		return;
	p->waits = false;
	p->has_result = has_result;
}

void router_round__give_up(struct gather *g, unsigned int slot)
{
	g->part[slot].waits = false;
}
