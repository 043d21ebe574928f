// SPDX-License-Identifier: GPL-2.0
/*
 * Results of the supervisor that fit in memory, and the requests that wait for them: see struct
 * http_page of front_impl.h. They are bounded, in size and in how many clients may leave unread.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "service/front_impl.h"

/* Bytes. The metrics of 64 targets with 64 names each, of 60 bytes, have 48 MB. */
#define PAGE_MAX CHANNEL_RESULT_MAX
#define HELD_MAX (2u * PAGE_MAX) /* of all pages that are being read */

void http_body__release(struct http_body *b)
{
	if (!b || --b->refs)
		return;
	b->front->held -= b->size;
	free(b->data);
	free(b);
}

static struct http_body *new_body(struct front *f, char *data, size_t size)
{
	struct http_body *b = malloc(sizeof(*b));

	if (!b)
		return NULL;
	*b = (struct http_body){ .front = f, .refs = 1, .size = size, .data = data };
	f->held += size;
	return b;
}

static bool in_round(const struct http_request *r, const struct http_page *p)
{
	return r && r->waits && &r->front->pages[r->page] == p && r->round == p->round;
}

/* The request that ends had `err` and `text`, or the result `body`. */
static void finish(struct front *f, struct http_page *p, struct http_body *body, int err,
		   const char *text)
{
	p->id = 0;
	if (p->memory >= 0)
		close(p->memory);
	p->memory = -1;
	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		struct http_request *r = f->connections[i].request;

		if (!in_round(r, p))
			continue;
		r->waits = false;
		r->body = body;
		if (body)
			body->refs++;
		else
			http_request__fail(r, err, text);
		http_request__resume(r);
	}
}

/* Sends the request to the supervisor. 0 or a negative errno. */
static int start(struct front *f, struct http_page *p)
{
	struct channel_request request = {
		.kind = p == &f->pages[PAGE_TARGETS] ? CHANNEL_TARGETS : CHANNEL_METRICS,
		.id = ++f->last_id,
	};
	int err;

	p->round++;
	p->memory = channel__memory();
	if (p->memory < 0)
		return p->memory;
	err = channel__ask(f->channel_fd, &request, p->memory);
	if (err)
		return err; /* the caller calls finish(), which closes the file */
	p->id = request.id;
	p->deadline = f->now + f->answer_ns;
	return 0;
}

static bool has_waiting(const struct front *f, enum page_kind kind)
{
	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		const struct http_request *r = f->connections[i].request;

		if (r && r->waits && r->page == kind)
			return true;
	}
	return false;
}

/* For the requests that came while the last one was on its way. */
static void start_next(struct front *f, struct http_page *p)
{
	int err;

	if (!has_waiting(f, (enum page_kind)(p - f->pages)))
		return;
	err = start(f, p);
	if (err)
		finish(f, p, NULL, err, "");
}

void http_page__ask(struct http_request *r, enum page_kind kind)
{
	struct http_page *p = &r->front->pages[kind];
	bool on_its_way = p->id;
	int err = on_its_way ? 0 : start(r->front, p);

	if (err) {
		finish(r->front, p, NULL, err, "");
		http_request__fail(r, err, "");
		return;
	}
	r->waits = true;
	r->page = kind;
	r->round = p->round + on_its_way;
	http_request__suspend(r);
}

/* Clients that do not read must not keep others from being answered. */
static void shut_readers(struct front *f)
{
	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		const struct http_request *r = f->connections[i].request;

		if (f->connections[i].fd >= 0 && r && r->body)
			http_connection__shut(&f->connections[i]);
	}
}

static struct http_body *read_body(struct front *f, struct http_page *p, int *ret_err)
{
	struct http_body *body;
	void *data;
	size_t size;

	*ret_err = channel__get(p->memory, PAGE_MAX, &data, &size);
	if (*ret_err)
		return NULL;
	if (f->held + size > HELD_MAX) {
		shut_readers(f);
		*ret_err = -EBUSY;
		free(data);
		return NULL;
	}
	body = new_body(f, data, size);
	*ret_err = body ? 0 : -ENOMEM;
	if (!body)
		free(data);
	return body;
}

bool http_page__answer(struct front *f, const struct channel_answer *answer)
{
	for (size_t i = 0; i < PAGES; i++) {
		struct http_page *p = &f->pages[i];
		struct http_body *body = NULL;
		int err = answer->error;

		if (!p->id || p->id != answer->id)
			continue;
		if (!err)
			body = read_body(f, p, &err);
		finish(f, p, body, err, answer->text);
		http_body__release(body);
		start_next(f, p);
		return true;
	}
	return false;
}

void http_page__expire(struct front *f)
{
	for (size_t i = 0; i < PAGES; i++) {
		struct http_page *p = &f->pages[i];

		if (!p->id || f->now < p->deadline)
			continue;
		finish(f, p, NULL, -ETIMEDOUT, "the supervisor did not answer in time");
		start_next(f, p);
	}
}
