// SPDX-License-Identifier: GPL-2.0
/*
 * Reads several generations at once: see reader/parallel.h.
 *
 * Each worker decodes the next generation of the trace, one worker at a time, and orders it with a
 * guessed state (reader/order_guess.h) in a reader of its own. The calling thread takes the
 * generations in their order: it merges the state if the guess was right, and otherwise orders the
 * generation again with the caller's reader, as without workers. That reader also ends the trace, so
 * all errors are its own. A worker's errors are never reported.
 */
#include "reader/parallel.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "reader/order_guess.h"
#include "reader/reader_impl.h"

#define STACK (512u << 10)
#define SMALL (8u << 20) /* bytes of generations that are always permitted */

enum slot_state { SLOT_FREE, SLOT_READING, SLOT_READ };

/* A worker, and the generation that it reads. */
struct slot {
	struct pool *pool;
	pthread_t thread;
	enum slot_state state;
	uint64_t index;	 /* of the generation in the trace */
	uint64_t number; /* that the trace gives it */
	uint64_t offset; /* of its first batch */
	struct reader *reader;
	void *result;
	bool followed; /* see struct reader */
	bool good;     /* read to its end, with its guess */
};

struct pool {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	const struct parallel_ops *ops;
	struct reader *reader; /* the caller's */
	struct slot *slot;
	unsigned int slots;
	bool decoding; /* a thread uses the decoder */
	bool stop;
	uint64_t decoded; /* number of generations */
	size_t largest;	  /* bytes of a generation */
	bool ended;	  /* the decoder returned `end`, with `reason` */
	int end;
	struct error reason;
	uint64_t last_number; /* of the generation taken last */
};

/* Prepares a reader whose generation has been decoded. Returns 0 or a negative errno. */
static int begin_part(struct reader *r, bool is_first)
{
	int err = 0;

	order__deinit(&r->order);
	if (is_first)
		order__init(&r->order);
	else
		err = reader__guess(r);
	r->nheap = 0;
	r->extra = 0;
	r->sample = r->gen.nsamples;
	r->last_time = is_first ? 0 : INT64_MIN;
	r->overflow = false;
	r->sync = (struct trace_sync){};
	r->at_sync = r->done = false;
	r->given = true;
	r->given_result = 1;
	r->reason = (struct error){};
	return err;
}

/* ---- workers; all with the lock held, which some release meanwhile ---- */

/*
 * Whether memory for one more generation would be too much. As the batches of generations are released
 * while they are read, 1 + 5/8 (n - 1) generations keep n workers busy that begin one after the other.
 */
static bool is_full(const struct pool *pool)
{
	return block_pool__bytes(pool->reader->blocks) >
	       pool->largest / 8 * 5 * (pool->slots - 1) + SMALL;
}

/* Called by reader/blocks.c. */
static void notice_room(void *context)
{
	struct pool *pool = context;

	pthread_mutex_lock(&pool->lock);
	pthread_cond_broadcast(&pool->changed);
	pthread_mutex_unlock(&pool->lock);
}

/* Decodes the next generation into the slot. Returns false if there is none for it. */
static bool decode(struct slot *slot)
{
	struct pool *pool = slot->pool;
	struct generation *gen = &slot->reader->gen;
	struct error reason = {};
	int err;

	while ((pool->decoding || is_full(pool)) && !pool->stop && !pool->ended)
		pthread_cond_wait(&pool->changed, &pool->lock);
	if (pool->ended || pool->stop)
		return false;
	pool->decoding = true;
	slot->index = pool->decoded;
	pthread_mutex_unlock(&pool->lock);
	err = decoder__next(pool->reader->decoder, gen, &reason);
	pthread_mutex_lock(&pool->lock);
	pool->decoding = false;
	slot->followed = !decoder__pending(pool->reader->decoder);
	if (err > 0) {
		slot->state = SLOT_READING;
		slot->number = gen->number;
		slot->offset = gen->offset;
		if (pool->largest < gen->bytes)
			pool->largest = gen->bytes;
		pool->decoded++;
	} else {
		pool->ended = true;
		pool->end = err;
		pool->reason = reason;
	}
	pthread_cond_broadcast(&pool->changed);
	return err > 0;
}

static void *work(void *arg)
{
	struct slot *slot = arg;
	struct pool *pool = slot->pool;
	struct error ignored = {};
	int err;

	pthread_mutex_lock(&pool->lock);
	while (decode(slot)) {
		pthread_mutex_unlock(&pool->lock);
		memset(slot->result, 0, pool->ops->size);
		ignored.text[0] = '\0';
		err = begin_part(slot->reader, !slot->index);
		slot->good = !err && !pool->ops->read(slot->result, slot->reader, &ignored);
		pthread_mutex_lock(&pool->lock);
		slot->state = SLOT_READ;
		pthread_cond_broadcast(&pool->changed);
		while (slot->state != SLOT_FREE && !pool->stop)
			pthread_cond_wait(&pool->changed, &pool->lock);
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

/* ---- the calling thread ---- */

/* Waits for the worker that reads the generation. NULL: the trace ends before it. */
static struct slot *wait_for(struct pool *pool, uint64_t index)
{
	struct slot *found = NULL;

	pthread_mutex_lock(&pool->lock);
	while (!found && !(pool->ended && pool->decoded == index)) {
		for (unsigned int i = 0; i < pool->slots; i++)
			if (pool->slot[i].state == SLOT_READ && pool->slot[i].index == index)
				found = &pool->slot[i];
		if (!found)
			pthread_cond_wait(&pool->changed, &pool->lock);
	}
	pthread_mutex_unlock(&pool->lock);
	return found;
}

/*
 * A generation that the worker could not read to its end still has its memory, for which the next one
 * may wait: is_full().
 */
static void release(struct pool *pool, struct slot *slot)
{
	generation__clear(&slot->reader->gen);
	pthread_mutex_lock(&pool->lock);
	slot->state = SLOT_FREE;
	pthread_cond_broadcast(&pool->changed);
	pthread_mutex_unlock(&pool->lock);
}

/*
 * The time of the last event of the slot's generation. Times are made to increase, so events of the
 * generation before that are later than its first ones move these: event n gets at least the time of
 * the last event before plus n. Returns false if these numbers are too large.
 */
static bool end_of(const struct pool *pool, const struct slot *slot, int64_t *ret)
{
	const struct reader *part = slot->reader;
	uint64_t events = pool->ops->events(slot->result);
	int64_t moved;

	if (part->overflow || events > INT64_MAX ||
	    __builtin_add_overflow(pool->reader->last_time, (int64_t)events, &moved))
		return false;
	*ret = moved > part->last_time ? moved : part->last_time;
	return true;
}

/*
 * Brings the caller's reader behind the generation that the worker has read. Returns 1; 0 if it must
 * be read again; or -ENOMEM.
 */
static int take(struct pool *pool, struct slot *slot)
{
	struct reader *r = pool->reader, *part = slot->reader;
	int64_t end = part->last_time;
	struct order first;
	int ret = 1;

	if (!slot->good)
		return 0;
	if (!slot->index) {
		first = r->order;
		r->order = part->order;
		part->order = first;
	} else {
		/* The rules compare numbers of generations, which the guess takes as new. */
		if (slot->number <= pool->last_number || !end_of(pool, slot, &end))
			return 0;
		ret = order__merge(&r->order, &part->order);
	}
	if (ret > 0) {
		r->last_time = end;
		r->sync.n++;
		r->generations++;
	}
	return ret;
}

/* Decodes the worker's generation again, whose batches have been released, for the caller's reader. */
static int decode_again(struct pool *pool, struct slot *slot, struct error *reason)
{
	struct reader *r = pool->reader;
	int err;

	pthread_mutex_lock(&pool->lock);
	while (pool->decoding)
		pthread_cond_wait(&pool->changed, &pool->lock);
	pool->decoding = true;
	pthread_mutex_unlock(&pool->lock);
	err = decoder__repeat(r->decoder, slot->offset, &r->gen, reason);
	pthread_mutex_lock(&pool->lock);
	pool->decoding = false;
	pthread_cond_broadcast(&pool->changed);
	pthread_mutex_unlock(&pool->lock);
	return err;
}

/* Reads the worker's generation with the caller's reader. Returns as ops->read(). */
static int read_again(struct pool *pool, struct slot *slot, void *result, struct error *error)
{
	struct reader *r = pool->reader;
	struct error reason = {};
	int ret = decode_again(pool, slot, &reason);

	r->followed = slot->followed;
	reader__give(r, ret, &reason);
	ret = pool->ops->read(result, r, error);
	if (!ret)
		generation__clear(&r->gen); /* its memory is for the workers */
	return ret;
}

static int take_all(struct pool *pool, void *total, void *result, struct error *error)
{
	struct reader *r = pool->reader;
	struct slot *slot;
	int err;

	r->part = true;
	for (uint64_t index = 0; (slot = wait_for(pool, index)); index++) {
		err = take(pool, slot);
		if (err < 0)
			return error__set(error, err, "out of memory");
		if (err) {
			pool->ops->add(total, slot->result, r->last_time);
		} else {
			memset(result, 0, pool->ops->size);
			err = read_again(pool, slot, result, error);
			pool->ops->add(total, result, r->last_time);
			if (err || reader__left_out(r))
				return err;
		}
		if (pool->last_number < slot->number)
			pool->last_number = slot->number;
		release(pool, slot);
	}
	r->part = r->followed = r->release = false;
	reader__give(r, pool->end, &pool->reason);
	memset(result, 0, pool->ops->size);
	err = pool->ops->read(result, r, error);
	pool->ops->add(total, result, r->last_time);
	return err;
}

static void stop(struct pool *pool, unsigned int started)
{
	pthread_mutex_lock(&pool->lock);
	pool->stop = true;
	pthread_cond_broadcast(&pool->changed);
	pthread_mutex_unlock(&pool->lock);
	for (unsigned int i = 0; i < started; i++)
		pthread_join(pool->slot[i].thread, NULL);
}

/* With a small stack, since a limit on memory counts all of it. */
static int create_thread(struct slot *slot)
{
	pthread_attr_t attr;
	int err = pthread_attr_init(&attr);

	if (err)
		return err;
	err = pthread_attr_setstacksize(&attr, STACK) ?:
		      pthread_create(&slot->thread, &attr, work, slot);
	pthread_attr_destroy(&attr);
	return err;
}

/* Starts as many workers as possible, possibly none. Returns 0 or -ENOMEM. */
static int start(struct pool *pool, unsigned int *ret_started)
{
	struct slot *slot;

	for (unsigned int i = 0; i < pool->slots; i++) {
		slot = &pool->slot[i];
		slot->pool = pool;
		slot->result = malloc(pool->ops->size);
		slot->reader = reader__create_part(pool->reader);
		if (!slot->result || !slot->reader)
			return -ENOMEM;
		slot->reader->release = true;
	}
	for (; *ret_started < pool->slots; ++*ret_started) {
		slot = &pool->slot[*ret_started];
		if (create_thread(slot))
			break;
	}
	return 0;
}

static void free_slots(struct pool *pool)
{
	for (unsigned int i = 0; pool->slot && i < pool->slots; i++) {
		reader__destroy(pool->slot[i].reader);
		free(pool->slot[i].result);
	}
	free(pool->slot);
}

int parallel__read(struct reader *r, unsigned int jobs, const struct parallel_ops *ops, void *total,
		   struct error *error)
{
	struct pool pool = {
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.changed = PTHREAD_COND_INITIALIZER,
		.ops = ops,
		.reader = r,
		.slots = jobs,
	};
	unsigned int started = 0;
	void *result;
	int err;

	if (jobs < 2 || r->v1 || r->opts.described || !input__seekable(r->in))
		return ops->read(total, r, error);
	r->release = true;
	r->own_blocks.freed = notice_room;
	r->own_blocks.context = &pool;
	result = malloc(ops->size);
	pool.slot = calloc(jobs, sizeof(*pool.slot));
	err = result && pool.slot ? start(&pool, &started) : -ENOMEM;
	if (err)
		error__set(error, err, "out of memory");
	else if (started)
		err = take_all(&pool, total, result, error);
	stop(&pool, started);
	free_slots(&pool);
	r->own_blocks.freed = NULL;
	free(result);
	if (err || started)
		return err;
	r->release = false;
	return ops->read(total, r, error);
}
