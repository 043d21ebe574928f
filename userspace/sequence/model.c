// SPDX-License-Identifier: GPL-2.0
/*
 * Gs, Ms and Ps of model.h: made when first met, found by address or TID, freed.
 */
#include "sequence/model.h"

#include <errno.h>
#include <sanitizer/asan_interface.h>
#include <stdlib.h>

/* What is beyond these is a broken record's; readers take such numbers for negative ones. */
#define GOID_MAX	 (1ull << 40)
#define TID_MAX		 (1u << 22) /* the kernel's PID_MAX_LIMIT */
#define PROCS_MAX	 4096u
#define GOROUTINES_BLOCK (48u << 10)
#define THREADS_KEPT	 1024 /* whatever they do */
#define THREAD_IDLE_NS                                                                             \
	10000000000ull /* beyond those, one that is bare and silent for so long goes */

/* Puts a fresh object under its key; on no memory frees it and makes the sequencer fail. */
static void *model__add(struct sequencer *s, struct map *map, uint64_t key, void *object)
{
	if (object && map__put(map, key, object)) {
		free(object);
		object = NULL;
	}
	if (!object)
		s->error = -ENOMEM;
	return object;
}

struct thread *model__thread(struct sequencer *s, uint32_t tid)
{
	struct thread *t = map__get(&s->m, tid);

	if (t || !tid || tid >= TID_MAX)
		return t;
	t = calloc(1, sizeof(*t));
	if (t)
		t->tid = tid;
	return model__add(s, &s->m, tid, t);
}

struct proc *model__proc(struct sequencer *s, uint64_t addr, uint32_t id)
{
	struct proc *p = map__get(&s->p, addr);
	void *value;

	if (p || !addr || id >= PROCS_MAX)
		return p;
	/* A P never moves: another address of a known id can only be wrong. */
	for (size_t i = 0; map__next(&s->p, &i, &value);)
		if (((struct proc *)value)->id == id)
			return value;
	p = calloc(1, sizeof(*p));
	if (p) {
		p->addr = addr;
		p->id = id;
		p->state = PROC_IDLE;
	}
	return model__add(s, &s->p, addr, p);
}

struct proc *model__first_proc(const struct sequencer *s, uint32_t state)
{
	struct proc *p, *first = NULL;
	void *value;

	for (size_t i = 0; map__next(&s->p, &i, &value);) {
		p = value;
		if ((!state || p->state == state) && (!first || p->id < first->id))
			first = p;
	}
	return first;
}

/* What lies in the pool's list is poisoned for AddressSanitizer, which knows of malloc's only. */
static struct goroutine *goroutine__alloc(struct sequencer *s)
{
	struct goroutine *g = s->free_g;

	if (g) {
		ASAN_UNPOISON_MEMORY_REGION(g, sizeof(*g));
		s->free_g = (void *)g->m;
	} else {
		if (!s->goroutines)
			s->goroutines = blocks__create(GOROUTINES_BLOCK);
		g = s->goroutines ? blocks__take(s->goroutines, sizeof(*g)) : NULL;
	}
	if (g)
		*g = (struct goroutine){};
	return g;
}

static void goroutine__free(struct sequencer *s, struct goroutine *g)
{
	g->m = (void *)s->free_g;
	s->free_g = g;
	ASAN_POISON_MEMORY_REGION(g, sizeof(*g));
}

int model__expect(struct sequencer *s, size_t n)
{
	int err = map__reserve(&s->g, n);

	return err ? err : map__reserve(&s->id, n);
}

struct goroutine *model__goroutine(struct sequencer *s, uint64_t addr, uint64_t goid)
{
	struct goroutine *g;

	if (s->id.n >= s->goroutines_max) {
		s->stats.dropped++;
		return NULL;
	}
	g = goroutine__alloc(s);
	if (g && map__put(&s->id, goid, g)) {
		goroutine__free(s, g);
		g = NULL;
	}
	if (!g) {
		s->error = -ENOMEM;
		return NULL;
	}
	g->addr = addr;
	g->id = goid;
	g->told = g->born = s->ready ? s->now : 0;
	if (map__put(&s->g, addr, g)) {
		map__remove(&s->id, goid);
		goroutine__free(s, g);
		s->error = -ENOMEM;
		return NULL;
	}
	s->stats.goroutines++;
	return g;
}

/*
 * Readers consume a generation's threads in their own order: an id that ends and begins again
 * within one generation could be met the wrong way round.
 */
void model__forget(struct sequencer *s, struct goroutine *g)
{
	if (s->stw == g)
		s->stw = NULL;
	if (s->losses.watching && g->addr)
		resnapshot__note_stray(s, g->addr, GT_DESTROY, s->now);
	if (map__put(&s->ended, g->id, g))
		s->error = -ENOMEM;
	map__remove(&s->id, g->id);
	if (map__get(&s->g, g->addr) == g)
		map__remove(&s->g, g->addr);
	regions__free(s, g);
	goroutine__free(s, g);
}

void model__orphan(struct sequencer *s, struct goroutine *g)
{
	map__remove(&s->g, g->addr);
	g->addr = 0;
}

bool model__id_valid(uint64_t goid)
{
	return goid && goid < GOID_MAX;
}

bool model__id_taken(const struct sequencer *s, uint64_t goid)
{
	return !model__id_valid(goid) || map__get(&s->id, goid) || map__get(&s->ended, goid);
}

/* It has nothing that a later record could refer to: one that comes makes it anew. */
static bool is_bare(const struct thread *t)
{
	return !t->g && !t->p && !t->head && !t->exit_time && !t->fix;
}

/*
 * A program may start and end threads for ever. That one has ended only records of the kernel tell, which may not be
 * wanted; so it is one that says nothing.
 */
static void forget_threads(struct sequencer *s, uint64_t time)
{
	struct map kept = {};
	void *value;

	if (s->m.n <= THREADS_KEPT)
		return;
	for (size_t i = 0; map__next(&s->m, &i, &value);) {
		struct thread *t = value;

		if (is_bare(t) && t->told + THREAD_IDLE_NS < time)
			continue;
		if (map__put(&kept, t->tid, t)) {
			map__deinit(&kept);
			return; /* another time */
		}
	}
	for (size_t i = 0; map__next(&s->m, &i, &value);)
		if (!map__get(&kept, ((struct thread *)value)->tid))
			free(value);
	map__deinit(&s->m);
	s->m = kept;
}

void model__boundary(struct sequencer *s, uint64_t time)
{
	map__deinit(&s->ended);
	forget_threads(s, time);
}

void model__deinit(struct sequencer *s)
{
	struct held *h, *next;
	void *value;

	for (size_t i = 0; map__next(&s->m, &i, &value);) {
		for (h = ((struct thread *)value)->head; h; h = next) {
			next = h->next;
			free(h);
		}
		free(value);
	}
	for (h = s->free_held; h; h = next) {
		next = h->next;
		free(h);
	}
	for (size_t i = 0; map__next(&s->id, &i, &value);)
		regions__free(s, value);
	free(s->task_named);
	for (size_t i = 0; map__next(&s->p, &i, &value);)
		free(value);
	blocks__destroy(s->goroutines);
	map__deinit(&s->g);
	map__deinit(&s->id);
	map__deinit(&s->ended);
	map__deinit(&s->p);
	map__deinit(&s->m);
}
