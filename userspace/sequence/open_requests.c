// SPDX-License-Identifier: GPL-2.0
/* Requests that are open, and their names: see open_requests.h. */
#include "sequence/open_requests.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/hash.h"
#include "sequence/open_regions.h"
#include "sequence/sequencer_impl.h"
#include "writer/private_write.h"

static void list(struct open_requests *requests, struct request *r)
{
	r->next = requests->unnamed;
	r->link = &requests->unnamed;
	if (r->next)
		r->next->link = &r->next;
	requests->unnamed = r;
}

static void unlist(struct request *r)
{
	if (!r->link)
		return;
	*r->link = r->next;
	if (r->next)
		r->next->link = r->link;
	r->link = NULL;
}

static struct text *hold(struct sequencer *s, uint64_t number, uint64_t time)
{
	struct text *text = texts__hold(s->texts, number, time);

	s->stats.text_misses += !text && number != GT_TEXT_EMPTY;
	return text;
}

struct request *open_requests__add(struct sequencer *s, enum gt_preset preset,
				   const uint64_t text[2], uint64_t time)
{
	struct request *r = calloc(1, sizeof(*r));

	if (r)
		r->id = intern__reserve(s->opts.intern);
	if (!r || !r->id) {
		free(r);
		s->error = -ENOMEM;
		return NULL;
	}
	r->preset = preset;
	for (size_t i = 0; i < 2; i++)
		r->part[i] = hold(s, text[i], time);
	r->bytes = (uint32_t)(sizeof(*r) + texts__size(r->part[0]) + texts__size(r->part[1])) +
		   GT_TEXT_MAX;
	list(&s->requests, r);
	return r;
}

void open_requests__remove(struct sequencer *s, struct request *r)
{
	if (!r)
		return;
	open_requests__resolve(s, r);
	for (size_t i = 0; i < REQUEST_PARTS; i++)
		texts__release(r->part[i]);
	free(r);
}

size_t open_requests__size(const struct request *r)
{
	return r ? r->bytes : 0;
}

void open_requests__name(struct sequencer *s, struct request *r, uint64_t text, uint64_t time)
{
	struct text *better = r->has_name ? NULL : hold(s, text, time);

	if (!better)
		return;
	texts__release(r->part[REQUEST_BETTER]);
	r->part[REQUEST_BETTER] = better;
}

uint32_t open_requests__id(const struct request *r)
{
	return r->id;
}

/* The permanent id of a name; that of "other" if there are too many. 0: no memory. */
static uint32_t name_id(struct sequencer *s, const char *name, size_t len)
{
	struct open_requests *requests = &s->requests;
	uint64_t hash = hash__bytes(name, len);
	void *known = map__get(&requests->names, hash);
	uint32_t id;

	if (known)
		return (uint32_t)(uintptr_t)known;
	if (requests->names.n >= requests->max)
		return intern__cstring(s->opts.intern, REQUEST_OTHER);
	id = intern__string(s->opts.intern, name, len);
	if (id && map__put(&requests->names, hash, (void *)(uintptr_t)id))
		return 0;
	return id;
}

static size_t make_name(const struct request *r, char ret[REQUEST_NAME_SIZE])
{
	struct request_part part[REQUEST_PARTS];

	for (size_t i = 0; i < REQUEST_PARTS; i++)
		part[i].text = texts__bytes(r->part[i], &part[i].len);
	return request_name__make(r->preset, part, ret);
}

size_t sequencer__request_name(const struct sequencer *s, uint64_t goid, uint64_t task, char *ret)
{
	const struct goroutine *g = map__get(&s->model.by_id, goid);
	const struct regions *r = g ? g->regions : NULL;

	for (uint32_t i = r ? r->n : 0; i; i--)
		if (r->open[i - 1].request && r->open[i - 1].task == task)
			return make_name(r->open[i - 1].request, ret);
	return 0;
}

void open_requests__resolve(struct sequencer *s, struct request *r)
{
	char name[REQUEST_NAME_SIZE];
	uint32_t id;

	if (r->has_name)
		return;
	id = name_id(s, name, make_name(r, name));
	if (!id)
		s->error = -ENOMEM;
	intern__resolve(s->opts.intern, r->id, id);
	r->id = id;
	r->has_name = true;
	unlist(r);
}

void open_requests__resolve_all(struct sequencer *s)
{
	while (s->requests.unnamed)
		open_requests__resolve(s, s->requests.unnamed);
}

void open_requests__note_time(struct sequencer *s, const struct private_request *time)
{
	struct open_requests *r = &s->requests;
	int err = private__append_request(&r->times, &r->last_time, time, NULL);

	if (err)
		s->error = err;
}

int open_requests__end_generation(struct sequencer *s)
{
	struct open_requests *r = &s->requests;
	int err = 0;

	if (r->times.len)
		err = private__record(s->opts.writer, PRIVATE_REQUESTS, r->times.data,
				      r->times.len);
	r->times.len = 0;
	r->last_time = (struct private_request){};
	return err;
}

/* The requests belong to regions, which are freed before. */
void open_requests__deinit(struct open_requests *requests)
{
	outbuf__deinit(&requests->times);
	map__deinit(&requests->names);
}
