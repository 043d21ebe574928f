// SPDX-License-Identifier: GPL-2.0
/*
 * Requests and their results: see router.h.
 *
 * A trace goes to one recorder, which gets the requester's stream. Other results are gathered by
 * router_rounds.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "service/channel.h"
#include "service/router_impl.h"

#define REQUESTS_AT_ONCE 16		      /* of a requester, per step */
#define TRACE_PATIENCE	 (60 * 1000000000ull) /* ns beyond the length of the trace */

struct router *router__create(const struct router_opts *opts)
{
	struct router *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->opts = *opts;
	for (unsigned int i = 0; i < ROUTER_REQUESTERS; i++)
		r->requester[i].channel = -1;
	r->gather[0] = (struct gather){ CHANNEL_TARGETS, CHANNEL_STATS, &r->opts.targets };
	r->gather[1] = (struct gather){ CHANNEL_STATS, CHANNEL_STATS, &r->opts.stats };
	r->gather[2] = (struct gather){ CHANNEL_METRICS, CHANNEL_SNAPSHOT, &r->opts.metrics };
	return r;
}

/* ---- jobs ---- */

static void free_job(struct router *r, struct job *j)
{
	if (j->fd >= 0)
		close(j->fd);
	r->requester[j->requester].pending--;
	j->state = FREE;
}

static void remove_requester(struct router *r, unsigned int i)
{
	for (unsigned int k = 0; k < ROUTER_JOBS; k++)
		if (r->job[k].state != FREE && r->job[k].requester == i)
			free_job(r, &r->job[k]);
	close(r->requester[i].channel);
	r->requester[i].channel = -1;
}

static void answer(struct router *r, unsigned int requester, uint64_t client, uint64_t id, int err,
		   const char *text)
{
	if (requester == CLIENTS)
		r->opts.answer(r->opts.ctx, client, id, err, text);
	/* It has room for the answers to all that may be pending, unless the requester does not read. */
	else if (channel__answer(r->requester[requester].channel, id, err, text))
		remove_requester(r, requester);
}

void router__finish(struct router *r, struct job *j, int err, const char *text)
{
	const struct job done = *j;

	free_job(r, j);
	answer(r, done.requester, done.client, done.id, err, text);
}

/* ---- traces ---- */

static int find_recorder(const struct router *r, int pid, unsigned int *ret, struct error *error)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < ROUTER_RECORDERS; i++)
		if (r->recorder[i].pid && (!pid || r->recorder[i].pid == pid)) {
			*ret = i;
			n++;
		}
	if (!n && pid)
		return error__set(error, -ENOENT, "process %d is not recorded", pid);
	if (!n)
		return error__set(error, -ENOENT, "no process is recorded");
	if (n > 1)
		return error__set(error, -ENOTUNIQ,
				  "%u processes are recorded: the PID of one is required", n);
	if (!r->recorder[*ret].is_ready)
		return error__set(error, -EAGAIN, "process %d is not recorded yet",
				  r->recorder[*ret].pid);
	return 0;
}

static void pass_trace(struct router *r, struct job *j, uint64_t ns, uint64_t now)
{
	struct channel_request request = { .kind = CHANNEL_TRACE, .id = ++r->last_id, .ns = ns };
	struct error error = {};
	int err = find_recorder(r, j->pid, &j->slot, &error);

	if (!err) {
		request.pid = r->recorder[j->slot].pid;
		err = channel__ask(r->recorder[j->slot].channel, &request, j->fd);
	}
	if (err) {
		error__set(&error, err, "the recorder does not answer");
		router__finish(r, j, err, error.text);
		return;
	}
	close(j->fd);
	j->fd = -1;
	j->state = STREAMED;
	j->passed = request.id;
	j->deadline = now + ns + TRACE_PATIENCE;
}

/* ---- requesters ---- */

static bool is_known(const struct router *r, enum channel_kind kind)
{
	for (unsigned int i = 0; i < GATHERS; i++)
		if (r->gather[i].kind == kind)
			return r->gather[i].printer->print;
	return kind == CHANNEL_TRACE;
}

static void take_request(struct router *r, unsigned int requester, uint64_t client,
			 const struct channel_request *q, int fd, uint64_t now)
{
	struct requester *a = &r->requester[requester];
	bool known = is_known(r, q->kind);
	struct job *j = NULL;

	for (unsigned int i = 0; i < ROUTER_JOBS && !j; i++)
		if (r->job[i].state == FREE)
			j = &r->job[i];
	if (!j || a->pending == CHANNEL_PENDING_MAX || !known) {
		close(fd);
		answer(r, requester, client, q->id, known ? -EBUSY : -EOPNOTSUPP,
		       known ? "too many requests at the same time" :
			       "this request is not supported");
		return;
	}
	*j = (struct job){
		.state = QUEUED,
		.kind = q->kind,
		.requester = requester,
		.client = client,
		.id = q->id,
		.pid = q->pid,
		.fd = fd,
	};
	a->pending++;
	if (q->kind == CHANNEL_TRACE)
		pass_trace(r, j, q->ns, now);
}

static void read_requester(struct router *r, unsigned int i, uint64_t now)
{
	struct channel_request request;
	int fd, err = 0;

	for (unsigned int n = 0; n < REQUESTS_AT_ONCE && r->requester[i].channel >= 0; n++) {
		err = channel__take(r->requester[i].channel, &request, &fd);
		if (err == -EAGAIN)
			return;
		r->requester[i].last_request = now;
		if (err)
			remove_requester(r, i);
		else if (request.kind != CHANNEL_ALIVE)
			take_request(r, i, 0, &request, fd, now);
	}
}

/* ---- recorders ---- */

static void take_answer(struct router *r, unsigned int slot, const struct channel_answer *got)
{
	for (unsigned int i = 0; i < GATHERS; i++)
		router_round__take(&r->gather[i], slot, got->id, !got->error);
	for (unsigned int i = 0; i < ROUTER_JOBS; i++) {
		struct job *j = &r->job[i];

		if (j->state == STREAMED && j->slot == slot && j->passed == got->id) {
			router__finish(r, j, got->error, got->text);
			return;
		}
	}
}

/* It has ended, or sent something invalid: what it has not answered fails. */
static void give_up(struct router *r, unsigned int slot)
{
	for (unsigned int i = 0; i < GATHERS; i++)
		router_round__give_up(&r->gather[i], slot);
	for (unsigned int i = 0; i < ROUTER_JOBS; i++)
		if (r->job[i].state == STREAMED && r->job[i].slot == slot)
			router__finish(r, &r->job[i], -ECONNRESET, "the recording ended");
}

static void read_recorder(struct router *r, unsigned int slot)
{
	struct recorder_end *from = &r->recorder[slot];
	struct channel_answer got;
	int err;

	for (unsigned int n = 0; n < REQUESTS_AT_ONCE; n++) {
		err = channel__receive(from->channel, &got);
		if (err == -EAGAIN)
			return;
		if (err) {
			from->is_broken = true;
			from->is_invalid = err != -EPIPE;
			give_up(r, slot);
			return;
		}
		take_answer(r, slot, &got);
	}
}

int router__add_requester(struct router *r, int channel)
{
	for (unsigned int i = 0; i < ROUTER_REQUESTERS; i++)
		if (r->requester[i].channel < 0) {
			r->requester[i] = (struct requester){ .channel = channel };
			return 0;
		}
	close(channel);
	return -EBUSY;
}

static const struct requester *find_requester(const struct router *r, int channel)
{
	for (unsigned int i = 0; i < ROUTER_REQUESTERS; i++)
		if (r->requester[i].channel >= 0 && r->requester[i].channel == channel)
			return &r->requester[i];
	return NULL;
}

bool router__has_requester(const struct router *r, int channel)
{
	return find_requester(r, channel);
}

uint64_t router__last_request(const struct router *r, int channel)
{
	const struct requester *a = find_requester(r, channel);

	return a ? a->last_request : 0;
}

void router__request(struct router *r, uint64_t client, const struct channel_request *request,
		     int fd, uint64_t now)
{
	take_request(r, CLIENTS, client, request, fd, now);
}

void router__add_recorder(struct router *r, unsigned int slot, int pid, const char *name,
			  int channel)
{
	router__remove_recorder(r, slot);
	r->recorder[slot] = (struct recorder_end){ .pid = pid, .channel = channel };
	snprintf(r->recorder[slot].name, ROUTER_NAME, "%s", name);
}

void router__set_ready(struct router *r, unsigned int slot)
{
	r->recorder[slot].is_ready = r->recorder[slot].pid != 0;
}

bool router__take_invalid(struct router *r, unsigned int slot)
{
	bool is_invalid = r->recorder[slot].is_invalid;

	r->recorder[slot].is_invalid = false;
	return is_invalid;
}

void router__remove_recorder(struct router *r, unsigned int slot)
{
	if (!r->recorder[slot].pid)
		return;
	if (!r->recorder[slot].is_broken)
		read_recorder(r, slot); /* answers that it sent before its end */
	give_up(r, slot);
	close(r->recorder[slot].channel);
	r->recorder[slot] = (struct recorder_end){};
}

/* ---- the loop ---- */

unsigned int router__fds(const struct router *r, struct pollfd *fd)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < ROUTER_RECORDERS; i++)
		if (r->recorder[i].pid && !r->recorder[i].is_broken)
			fd[n++] = (struct pollfd){ r->recorder[i].channel, POLLIN, 0 };
	for (unsigned int i = 0; i < ROUTER_REQUESTERS; i++)
		if (r->requester[i].channel >= 0)
			fd[n++] = (struct pollfd){ r->requester[i].channel, POLLIN, 0 };
	return n;
}

static void check_deadlines(struct router *r, uint64_t now)
{
	for (unsigned int i = 0; i < ROUTER_JOBS; i++)
		if (r->job[i].state == STREAMED && now >= r->job[i].deadline)
			router__finish(r, &r->job[i], -ETIMEDOUT, "the recorder does not answer");
}

void router__step(struct router *r, uint64_t now)
{
	for (unsigned int i = 0; i < ROUTER_RECORDERS; i++)
		if (r->recorder[i].pid && !r->recorder[i].is_broken)
			read_recorder(r, i);
	for (unsigned int i = 0; i < ROUTER_REQUESTERS; i++)
		if (r->requester[i].channel >= 0)
			read_requester(r, i, now);
	for (unsigned int i = 0; i < GATHERS; i++)
		router_round__step(r, &r->gather[i], now);
	check_deadlines(r, now);
}

void router__destroy(struct router *r)
{
	if (!r)
		return;
	for (unsigned int i = 0; i < GATHERS; i++)
		router_round__close(&r->gather[i]);
	for (unsigned int i = 0; i < ROUTER_REQUESTERS; i++)
		if (r->requester[i].channel >= 0)
			remove_requester(r, i);
	for (unsigned int i = 0; i < ROUTER_RECORDERS; i++)
		if (r->recorder[i].pid)
			close(r->recorder[i].channel);
	free(r);
}
