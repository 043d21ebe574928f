// SPDX-License-Identifier: GPL-2.0
/*
 * Requests: tasks that begin and end at calls of different functions (gotrace/request.h).
 *
 * A goroutine has at most one open request of a preset, which begins with the outermost call. A
 * request whose handler has panicked has no step that ends it. It ends with the next record that
 * shows that its frame is gone: the end of the function or goroutine that called the handler, or
 * another call.
 * Upstream: state.c; the records are those of bpf/request.bpf.c. Downstream: open_regions.c.
 */
#include "sequence/open_regions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "sequence/boundary.h"
#include "sequence/sequencer_impl.h"

#define STATUS_DEFAULT 200 /* net/http writes it if the handler has not set one */
#define STATUS_MAX     999
#define GRPC_CODE_MAX  99 /* so that different texts are few */

/* Index of the innermost open request of the preset, plus 1; 0: none. */
static uint32_t find_request(const struct goroutine *g, enum gt_preset preset)
{
	uint32_t i = g->regions ? g->regions->n : 0;

	while (i && !(g->regions->open[i - 1].request &&
		      g->regions->open[i - 1].request->preset == preset))
		i--;
	return i;
}

static void write_log(struct step *st, uint64_t task, const char *category, const char *message)
{
	struct intern *in = st->s->opts.intern;

	STEP_EMIT(st, EV_USER_LOG, task, intern__cstring(in, category),
		  intern__cstring(in, message), 0);
}

/* The statuses are few: their texts are permanent. */
static void log_status(struct step *st, uint64_t task, uint32_t status)
{
	char text[16];

	if (status == GT_REQUEST_NO_NUMBER || status > STATUS_MAX)
		return;
	snprintf(text, sizeof(text), "%u", status ? status : STATUS_DEFAULT);
	write_log(st, task, "status", text);
}

static void log_error(struct step *st, uint64_t task)
{
	write_log(st, task, "error", "the call returned an error");
}

/* The code of gRPC that the client receives. */
static void log_result(struct step *st, const struct gt_request *rec, struct open_region *open)
{
	char text[16];

	if (open->request->has_result || rec->number == GT_REQUEST_NO_NUMBER)
		return;
	open->request->has_result = true;
	if (rec->number > GRPC_CODE_MAX)
		snprintf(text, sizeof(text), "other");
	else
		snprintf(text, sizeof(text), "%u", rec->number);
	write_log(st, open->task, "grpc-status", text);
	if (rec->number)
		log_error(st, open->task);
}

/* What the number of the last step is, by preset. */
static void log_outcome(struct step *st, const struct gt_request *rec,
			const struct open_region *open)
{
	uint64_t task = open->task;
	bool has_number = rec->number != GT_REQUEST_NO_NUMBER, failed = false;

	switch (rec->preset) {
	case GT_PRESET_HTTP:
		log_status(st, task, rec->number);
		break;
	case GT_PRESET_HTTP_CLIENT: /* there is no response */
		log_status(st, task, rec->number);
		failed = !has_number;
		break;
	case GT_PRESET_GRPC: /* there was no status to send */
		failed = !open->request->has_result;
		break;
	case GT_PRESET_SQL:
	case GT_PRESET_DNS:
	case GT_PRESET_GRPC_CLIENT:
		failed = has_number && rec->number;
		break;
	}
	if (failed)
		log_error(st, task);
}

/* Ends the request at index `found` - 1, and what is open inside of it: those frames are gone. */
static void end_request(struct step *st, uint32_t found)
{
	struct regions *r = st->t->g->regions;

	open_requests__resolve(st->s, r->open[found - 1].request);
	while (r->n >= found)
		open_regions__end(st, r, 0);
}

/* ---- from the arrival to the answer ---- */

/* NULL: no memory (s->error is set). */
static struct served *served__get(struct sequencer *s, struct goroutine *g)
{
	if (!g->served)
		g->served = calloc(1, sizeof(*g->served));
	if (!g->served)
		s->error = -ENOMEM;
	return g->served;
}

/*
 * What is read while the handler runs is the body of its request, and what came before the handler
 * ended is the rest of that: the arrival of a request that a client has sent before the answer to the
 * last one is known only if another goroutine has read it meanwhile.
 */
static void note_read(struct served *served, const struct gt_socket *socket, bool own)
{
	if (own && socket->connection != served->connection) {
		served->connection = socket->connection;
		served->arrived = 0;
	}
	if (socket->connection != served->connection || !socket->arrived ||
	    (own && socket->arrived < served->ended))
		return;
	if (!served->arrived)
		served->arrived = socket->arrived;
	served->latest = socket->arrived;
}

/*
 * By HTTP/2 a goroutine that reads frames, or the one for which it does so, creates a goroutine for each
 * request, and does not read on before.
 */
static void note_frames(struct sequencer *s, const struct gt_socket *socket, struct served *owner)
{
	struct goroutine *caller = map__get(&s->model.by_addr, socket->caller);
	struct served *served = caller ? served__get(s, caller) : NULL;

	if (owner && socket->connection == owner->connection)
		owner->last_read = socket->arrived;
	if (served)
		served->last_read = socket->arrived;
}

void open_requests__created(struct goroutine *g, const struct goroutine *creator)
{
	g->given = creator && creator->served ? creator->served->last_read : 0;
}

/* Its object is the goroutine that reads the connection, which another one may have read ahead of it. */
void open_requests__socket(struct sequencer *s, const struct gt_record *rec)
{
	const struct gt_socket *socket = (const void *)(rec + 1);
	struct goroutine *g = map__get(&s->model.by_addr, rec->object);
	bool own = socket->what == GT_SOCKET_READ;
	struct served *served;

	if (socket->what >= GT_SOCKET_WHATS || socket->arrived > rec->time) {
		s->stats.dropped++;
		return;
	}
	served = g ? served__get(s, g) : NULL;
	if (socket->what != GT_SOCKET_WROTE && socket->bytes)
		note_frames(s, socket, served);
	if (!served)
		return;
	if (socket->what == GT_SOCKET_WROTE) {
		if (served->writing && socket->connection == served->connection)
			open_requests__note_time(s, &(struct private_request){ served->writing,
									       g->id, rec->time,
									       REQUEST_ANSWERED });
		return;
	}
	if (own && find_request(g, GT_PRESET_HTTP))
		return;
	if (own)
		served->writing = 0;
	if (socket->bytes)
		note_read(served, socket, own);
}

/*
 * When the request of the step's goroutine, which begins, arrived; time 0: unknown. The first one of a
 * connection with TLS is what came last before it: the handshake came first.
 */
static struct private_request find_arrival(const struct step *st, const struct gt_request *rec,
					   const struct served *served)
{
	bool tls = rec->number && rec->number != GT_REQUEST_NO_NUMBER;
	const struct goroutine *g = st->t->g;
	struct private_request ret = { .g = g->id, .what = REQUEST_ARRIVED };

	if (served->arrived) {
		ret.time = tls && !served->ended ? served->latest : served->arrived;
	} else if (g->given && !served->ended) {
		ret.time = g->given;
	} else if (g->network_ready > served->ended) {
		ret.what = REQUEST_READY;
		ret.time = g->network_ready;
	} else {
		ret.what = REQUEST_READ;
		ret.time = served->ended;
		if (!ret.time && g->first_seen > st->s->t0)
			ret.time = g->first_seen;
	}
	if (ret.time > st->time)
		ret.time = 0;
	return ret;
}

/* Begins the region and task of a request that arrived earlier. False: it is not written. */
static bool begin_served(struct step *st, const struct gt_request *rec,
			 const struct open_region *region)
{
	struct served *served = served__get(st->s, st->t->g);
	struct private_request arrival;
	bool begun;

	if (!served)
		return false;
	arrival = find_arrival(st, rec, served);
	served->arrived = served->latest = served->writing = 0;
	st->s->requests.begins = arrival.time;
	begun = open_regions__begin(st, region, 0);
	st->s->requests.begins = 0;
	arrival.task = open_regions__task(st->t->g);
	if (begun && arrival.time)
		open_requests__note_time(st->s, &arrival);
	return begun;
}

/* `answers`: its handler has returned, and its answer may still have to be written. */
static void note_end(struct step *st, const struct open_region *open, bool answers)
{
	struct served *served =
		open->request->preset == GT_PRESET_HTTP ? served__get(st->s, st->t->g) : NULL;

	if (!served)
		return;
	served->ended = st->time;
	served->writing = answers ? open->task : 0;
}

/* ---- steps ---- */

static enum apply_result request_begins(struct step *st, const struct gt_request *rec)
{
	struct open_region region = { .depth = rec->depth,
				      .is_task = true,
				      .inherits = rec->inherited };
	struct goroutine *g = st->t->g;

	if (g->regions)
		calls__end(st, g->regions, rec->depth, false);
	if (find_request(g, rec->preset))
		return DONE; /* a call on behalf of the same request */
	region.request = open_requests__add(st->s, rec->preset, rec->text, st->time);
	if (!region.request)
		return DONE;
	if (rec->preset == GT_PRESET_HTTP ? begin_served(st, rec, &region) :
					    open_regions__begin(st, &region, 0))
		return DONE;
	open_requests__remove(st->s, region.request);
	return step__drop(st);
}

static enum apply_result request_ends(struct step *st, const struct gt_request *rec, uint32_t found)
{
	struct open_region *open = &st->t->g->regions->open[found - 1];

	if (rec->step == GT_REQUEST_RETURNS && rec->depth != open->depth)
		return DONE; /* a call on behalf of the same request, or one whose begin was lost */
	if (!open->request->part[REQUEST_BETTER])
		open_requests__name(st->s, open->request, rec->text[0], st->time);
	log_outcome(st, rec, open);
	note_end(st, open, true);
	end_request(st, found);
	return DONE;
}

/*
 * The handler did not return, or the request would have ended before: it has panicked, unless it has
 * taken over the connection.
 */
static void end_unfinished(struct step *st, uint32_t found)
{
	struct open_region *open = &st->t->g->regions->open[found - 1];

	if (!open->request->is_taken)
		write_log(st, open->task, "error", "the handler did not return");
	note_end(st, open, false);
	end_request(st, found);
}

void open_requests__end_innermost(struct step *st)
{
	end_unfinished(st, st->t->g->regions->n);
}

void open_requests__leave(struct step *st)
{
	uint32_t found;

	for (enum gt_preset preset = 0; preset < GT_PRESETS; preset++) {
		while ((found = find_request(st->t->g, preset)))
			end_unfinished(st, found);
	}
}

uint64_t sequencer__request_arrival(const struct sequencer *s)
{
	return s->requests.begins;
}

/* Steps of requests that began before the window have no effect. */
enum apply_result apply_request(struct step *st)
{
	const struct gt_request *rec = st->payload;
	struct open_region *open;
	uint32_t found;

	if (!rec->depth || rec->depth > CALL_DEPTH_MAX || rec->preset >= GT_PRESETS ||
	    rec->step >= GT_REQUEST_STEPS || rec->inherited > 1)
		return step__drop(st);
	if (rec->step == GT_REQUEST_BEGINS)
		return request_begins(st, rec);
	found = find_request(st->t->g, rec->preset);
	if (!found)
		return DONE;
	if (rec->step == GT_REQUEST_ENDS || rec->step == GT_REQUEST_RETURNS)
		return request_ends(st, rec, found);
	open = &st->t->g->regions->open[found - 1];
	if (rec->step == GT_REQUEST_LEFT)
		end_unfinished(st, found);
	else if (rec->step == GT_REQUEST_TAKEN)
		open->request->is_taken = true;
	else if (rec->step == GT_REQUEST_RESULT)
		log_result(st, rec, open);
	else
		open_requests__name(st->s, open->request, rec->text[0], st->time);
	return DONE;
}
