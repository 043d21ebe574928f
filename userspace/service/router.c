// SPDX-License-Identifier: GPL-2.0
/*
 * Requests and their results: see router.h.
 *
 * A trace goes to one recorder, which gets the asker's stream. Other results are gathered: all
 * recorders are asked at the same time, each writes its part to a memory file, and all requests that
 * had arrived before get a result. Requests that arrive meanwhile wait for the next one, so that a
 * result is never older than its request, and any number of them costs no more than one at a time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "service/channel.h"
#include "service/router.h"

#define CLIENTS		 ROUTER_ASKERS /* all of the control socket: an asker without a channel */
#define REQUESTS_AT_ONCE 16	       /* of an asker, per step */
#define TRACE_PATIENCE	 (60 * 1000000000ull) /* ns beyond the length of the trace */

struct recorder_end {
	int pid; /* 0: free */
	int channel;
	bool is_ready, is_broken;
	bool is_invalid; /* it is broken because of an invalid message */
};

struct asker {
	int channel;	      /* -1: free */
	uint64_t heard;	      /* when it last sent a request; CLOCK_MONOTONIC, ns */
	unsigned int pending; /* jobs */
};

#define GATHERS 3

enum job_state { FREE, QUEUED, GATHERED, STREAMED };

struct job {
	enum job_state state;
	enum channel_kind kind;
	unsigned int asker;
	uint64_t client;   /* of the asker CLIENTS */
	uint64_t id;	   /* the asker's */
	int pid;	   /* 0: all */
	int fd;		   /* the asker's memory file; -1 for a trace, which its recorder has */
	uint64_t passed;   /* STREAMED: the id that the recorder knows */
	unsigned int slot; /* of that recorder */
	uint64_t deadline;
};

struct part {
	int pid; /* of a recorder that is asked; 0: none */
	bool waits, has_result;
	int memory;
};

/* A round of questions to all recorders. */
struct gather {
	enum channel_kind kind, asks; /* of the jobs, and of the recorders */
	const struct router_printer *printer;
	bool is_active;
	uint64_t id, deadline;
	struct part part[ROUTER_RECORDERS];
};

struct router {
	struct router_opts opts;
	struct recorder_end recorder[ROUTER_RECORDERS];
	struct asker asker[ROUTER_ASKERS + 1];
	struct job job[ROUTER_JOBS];
	struct gather gather[GATHERS];
	uint64_t last_id; /* of a question to a recorder */
};

struct router *router__create(const struct router_opts *opts)
{
	struct router *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->opts = *opts;
	for (unsigned int i = 0; i < ROUTER_ASKERS; i++)
		r->asker[i].channel = -1;
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
	r->asker[j->asker].pending--;
	j->state = FREE;
}

static void remove_asker(struct router *r, unsigned int i)
{
	for (unsigned int k = 0; k < ROUTER_JOBS; k++)
		if (r->job[k].state != FREE && r->job[k].asker == i)
			free_job(r, &r->job[k]);
	close(r->asker[i].channel);
	r->asker[i].channel = -1;
}

static void answer(struct router *r, unsigned int asker, uint64_t client, uint64_t id, int err,
		   const char *text)
{
	if (asker == CLIENTS)
		r->opts.answer(r->opts.ctx, client, id, err, text);
	/* It has room for the answers to all that may be pending, unless the asker does not read. */
	else if (channel__answer(r->asker[asker].channel, id, err, text))
		remove_asker(r, asker);
}

static void finish(struct router *r, struct job *j, int err, const char *text)
{
	const struct job done = *j;

	free_job(r, j);
	answer(r, done.asker, done.client, done.id, err, text);
}

/* ---- rounds ---- */

static void end_part(struct part *p, bool has_result)
{
	p->waits = false;
	p->has_result = has_result;
}

static void ask_part(struct router *r, struct gather *g, unsigned int slot)
{
	const struct channel_request request = { .kind = g->asks, .id = g->id };
	struct recorder_end *to = &r->recorder[slot];
	struct part *p = &g->part[slot];

	*p = (struct part){ .pid = to->pid, .memory = -1 };
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
			.is_ready = r->recorder[i].pid == p->pid && r->recorder[i].is_ready,
		};
		if (p->has_result && !channel__get(p->memory, g->printer->max, &data, &to->size))
			to->data = data;
		++*n;
	}
	qsort(part, *n, sizeof(*part), by_pid);
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
	finish(r, j, err, error.text);
}

static void close_round(struct gather *g)
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
	close_round(g);
}

static void step_round(struct router *r, struct gather *g, uint64_t now)
{
	if (g->is_active && (!waits(g) || now >= g->deadline))
		end_round(r, g);
	if (!g->is_active)
		begin_round(r, g, now);
	if (g->is_active && !waits(g))
		end_round(r, g);
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
		finish(r, j, err, error.text);
		return;
	}
	close(j->fd);
	j->fd = -1;
	j->state = STREAMED;
	j->passed = request.id;
	j->deadline = now + ns + TRACE_PATIENCE;
}

/* ---- askers ---- */

static bool is_known(const struct router *r, enum channel_kind kind)
{
	for (unsigned int i = 0; i < GATHERS; i++)
		if (r->gather[i].kind == kind)
			return r->gather[i].printer->print;
	return kind == CHANNEL_TRACE;
}

static void take_request(struct router *r, unsigned int asker, uint64_t client,
			 const struct channel_request *q, int fd, uint64_t now)
{
	struct asker *a = &r->asker[asker];
	bool known = is_known(r, q->kind);
	struct job *j = NULL;

	for (unsigned int i = 0; i < ROUTER_JOBS && !j; i++)
		if (r->job[i].state == FREE)
			j = &r->job[i];
	if (!j || a->pending == CHANNEL_PENDING_MAX || !known) {
		close(fd);
		answer(r, asker, client, q->id, known ? -EBUSY : -EOPNOTSUPP,
		       known ? "too many requests at the same time" :
			       "this request is not supported");
		return;
	}
	*j = (struct job){
		.state = QUEUED,
		.kind = q->kind,
		.asker = asker,
		.client = client,
		.id = q->id,
		.pid = q->pid,
		.fd = fd,
	};
	a->pending++;
	if (q->kind == CHANNEL_TRACE)
		pass_trace(r, j, q->ns, now);
}

static void read_asker(struct router *r, unsigned int i, uint64_t now)
{
	struct channel_request request;
	int fd, err = 0;

	for (unsigned int n = 0; n < REQUESTS_AT_ONCE && r->asker[i].channel >= 0; n++) {
		err = channel__take(r->asker[i].channel, &request, &fd);
		if (err == -EAGAIN)
			return;
		r->asker[i].heard = now;
		if (err)
			remove_asker(r, i);
		else if (request.kind != CHANNEL_ALIVE)
			take_request(r, i, 0, &request, fd, now);
	}
}

/* ---- recorders ---- */

static void take_part(struct gather *g, unsigned int slot, const struct channel_answer *got)
{
	if (g->is_active && g->id == got->id && g->part[slot].waits)
		end_part(&g->part[slot], !got->error);
}

static void take_answer(struct router *r, unsigned int slot, const struct channel_answer *got)
{
	for (unsigned int i = 0; i < GATHERS; i++)
		take_part(&r->gather[i], slot, got);
	for (unsigned int i = 0; i < ROUTER_JOBS; i++) {
		struct job *j = &r->job[i];

		if (j->state == STREAMED && j->slot == slot && j->passed == got->id) {
			finish(r, j, got->error, got->text);
			return;
		}
	}
}

/* It has ended, or sent something invalid: what it has not answered fails. */
static void give_up(struct router *r, unsigned int slot)
{
	for (unsigned int i = 0; i < GATHERS; i++)
		end_part(&r->gather[i].part[slot], r->gather[i].part[slot].has_result);
	for (unsigned int i = 0; i < ROUTER_JOBS; i++)
		if (r->job[i].state == STREAMED && r->job[i].slot == slot)
			finish(r, &r->job[i], -ECONNRESET, "the recording ended");
}

static void read_recorder(struct router *r, unsigned int slot)
{
	struct recorder_end *from = &r->recorder[slot];
	struct channel_answer got;
	int err;

	for (unsigned int n = 0; n < REQUESTS_AT_ONCE; n++) {
		err = channel__hear(from->channel, &got);
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

int router__add_asker(struct router *r, int channel)
{
	for (unsigned int i = 0; i < ROUTER_ASKERS; i++)
		if (r->asker[i].channel < 0) {
			r->asker[i] = (struct asker){ .channel = channel };
			return 0;
		}
	close(channel);
	return -EBUSY;
}

static const struct asker *find_asker(const struct router *r, int channel)
{
	for (unsigned int i = 0; i < ROUTER_ASKERS; i++)
		if (r->asker[i].channel >= 0 && r->asker[i].channel == channel)
			return &r->asker[i];
	return NULL;
}

bool router__has_asker(const struct router *r, int channel)
{
	return find_asker(r, channel);
}

uint64_t router__heard(const struct router *r, int channel)
{
	const struct asker *a = find_asker(r, channel);

	return a ? a->heard : 0;
}

void router__request(struct router *r, uint64_t client, const struct channel_request *request,
		     int fd, uint64_t now)
{
	take_request(r, CLIENTS, client, request, fd, now);
}

void router__add_recorder(struct router *r, unsigned int slot, int pid, int channel)
{
	router__remove_recorder(r, slot);
	r->recorder[slot] = (struct recorder_end){ .pid = pid, .channel = channel };
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
	for (unsigned int i = 0; i < ROUTER_ASKERS; i++)
		if (r->asker[i].channel >= 0)
			fd[n++] = (struct pollfd){ r->asker[i].channel, POLLIN, 0 };
	return n;
}

bool router__is_busy(const struct router *r)
{
	for (unsigned int i = 0; i < ROUTER_JOBS; i++)
		if (r->job[i].state != FREE)
			return true;
	return false;
}

static void check_deadlines(struct router *r, uint64_t now)
{
	for (unsigned int i = 0; i < ROUTER_JOBS; i++)
		if (r->job[i].state == STREAMED && now >= r->job[i].deadline)
			finish(r, &r->job[i], -ETIMEDOUT, "the recorder does not answer");
}

void router__step(struct router *r, uint64_t now)
{
	for (unsigned int i = 0; i < ROUTER_RECORDERS; i++)
		if (r->recorder[i].pid && !r->recorder[i].is_broken)
			read_recorder(r, i);
	for (unsigned int i = 0; i < ROUTER_ASKERS; i++)
		if (r->asker[i].channel >= 0)
			read_asker(r, i, now);
	for (unsigned int i = 0; i < GATHERS; i++)
		step_round(r, &r->gather[i], now);
	check_deadlines(r, now);
}

void router__destroy(struct router *r)
{
	if (!r)
		return;
	for (unsigned int i = 0; i < GATHERS; i++)
		close_round(&r->gather[i]);
	for (unsigned int i = 0; i < ROUTER_ASKERS; i++)
		if (r->asker[i].channel >= 0)
			remove_asker(r, i);
	for (unsigned int i = 0; i < ROUTER_RECORDERS; i++)
		if (r->recorder[i].pid)
			close(r->recorder[i].channel);
	free(r);
}
