// SPDX-License-Identifier: GPL-2.0
/*
 * Gs, Ms and Ps of the model (model.h): created when first seen, found by address or TID, freed.
 * Upstream: sequencer.c and state*.c. Downstream: boundary.c.
 */
#include "sequence/model.h"
#include "sequence/sequencer_impl.h"

#include <errno.h>
#include <sanitizer/asan_interface.h>
#include <stdlib.h>

/* Larger ids come from invalid records; readers would take them for negative numbers. */
#define GOID_MAX       (1ull << 40)
#define TID_MAX	       (1u << 22) /* the kernel's PID_MAX_LIMIT */
#define PROCS_MAX      4096u
#define THREADS_KEPT   1024 /* number of threads that are never freed */
/* beyond those, a thread without any state is freed when it was silent for so long */
#define THREAD_IDLE_NS 10000000000ull

/* Puts a new object under its key; without memory frees it and sets the sequencer's error. */
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
	struct thread *t = map__get(&s->model.threads, tid);

	if (t || !tid || tid >= TID_MAX)
		return t;
	t = calloc(1, sizeof(*t));
	if (t)
		t->tid = tid;
	return model__add(s, &s->model.threads, tid, t);
}

struct proc *model__proc(struct sequencer *s, uint64_t addr, uint32_t id)
{
	struct proc *p = map__get(&s->model.procs, addr);
	void *value;

	if (p || !addr || id >= PROCS_MAX)
		return p;
	/* A P never moves: another address for a known id is an error. */
	for (size_t i = 0; map__next(&s->model.procs, &i, &value);)
		if (((struct proc *)value)->id == id)
			return value;
	p = calloc(1, sizeof(*p));
	if (p) {
		p->addr = addr;
		p->id = id;
		p->state = PROC_IDLE;
	}
	return model__add(s, &s->model.procs, addr, p);
}

struct proc *model__first_proc(const struct sequencer *s, uint32_t state)
{
	struct proc *p, *first = NULL;
	void *value;

	for (size_t i = 0; map__next(&s->model.procs, &i, &value);) {
		p = value;
		if ((!state || p->state == state) && (!first || p->id < first->id))
			first = p;
	}
	return first;
}

/* The pool's free list is poisoned for AddressSanitizer, which tracks only malloc's memory. */
static struct goroutine *goroutine__alloc(struct sequencer *s)
{
	struct goroutine *g = s->model.free;

	if (g) {
		ASAN_UNPOISON_MEMORY_REGION(g, sizeof(*g));
		s->model.free = (void *)g->m;
	} else {
		g = arena__alloc(&s->model.pool, sizeof(*g));
	}
	if (g)
		*g = (struct goroutine){};
	return g;
}

static void goroutine__free(struct sequencer *s, struct goroutine *g)
{
	free(g->served);
	g->m = (void *)s->model.free;
	s->model.free = g;
	ASAN_POISON_MEMORY_REGION(g, sizeof(*g));
}

int model__expect(struct sequencer *s, size_t n)
{
	int err = map__reserve(&s->model.by_addr, n);

	return err ? err : map__reserve(&s->model.by_id, n);
}

struct goroutine *model__goroutine(struct sequencer *s, uint64_t addr, uint64_t goid)
{
	struct goroutine *g;

	if (s->model.by_id.n >= s->model.goroutines_max) {
		s->stats.dropped++;
		return NULL;
	}
	g = goroutine__alloc(s);
	if (g && map__put(&s->model.by_id, goid, g)) {
		goroutine__free(s, g);
		g = NULL;
	}
	if (!g) {
		s->error = -ENOMEM;
		return NULL;
	}
	g->addr = addr;
	g->id = goid;
	g->last_record = g->first_seen = s->ready ? s->now : 0;
	if (map__put(&s->model.by_addr, addr, g)) {
		map__remove(&s->model.by_id, goid);
		goroutine__free(s, g);
		s->error = -ENOMEM;
		return NULL;
	}
	s->stats.goroutines++;
	return g;
}

/*
 * Remembers the id: readers consume the threads of a generation in an order of their own, so an id
 * that ends and begins again within one generation could appear in the wrong order.
 */
void model__forget(struct sequencer *s, struct goroutine *g)
{
	if (s->runtime.stw == g)
		s->runtime.stw = NULL;
	if (s->losses.watching && g->addr)
		resync__note_stray(s, g->addr, GT_DESTROY, s->now);
	if (map__put(&s->model.ended, g->id, g))
		s->error = -ENOMEM;
	map__remove(&s->model.by_id, g->id);
	if (map__get(&s->model.by_addr, g->addr) == g)
		map__remove(&s->model.by_addr, g->addr);
	open_regions__free(s, g);
	stacks__let_go(s->stacks, g->parked);
	labels__forget_goroutine(s, g->id);
	goroutine__free(s, g);
}

void model__orphan(struct sequencer *s, struct goroutine *g)
{
	map__remove(&s->model.by_addr, g->addr);
	g->addr = 0;
}

bool model__id_valid(uint64_t goid)
{
	return goid && goid < GOID_MAX;
}

bool model__id_taken(const struct sequencer *s, uint64_t goid)
{
	return !model__id_valid(goid) || map__get(&s->model.by_id, goid) ||
	       map__get(&s->model.ended, goid);
}

/* Whether no later record could refer to the thread's state; it is created again if needed. */
static bool is_bare(const struct thread *t)
{
	return !t->g && !t->p && !t->head && !t->exit_time && !t->fix && !t->labels;
}

/*
 * A program may start and end threads without limit. Only kernel events report the end of a thread,
 * and they may be disabled; therefore threads without state are freed after a silence.
 */
static void forget_threads(struct sequencer *s, uint64_t time)
{
	struct map kept = {};
	void *value;

	if (s->model.threads.n <= THREADS_KEPT)
		return;
	for (size_t i = 0; map__next(&s->model.threads, &i, &value);) {
		struct thread *t = value;

		if (is_bare(t) && t->last_record + THREAD_IDLE_NS < time)
			continue;
		if (map__put(&kept, t->tid, t)) {
			map__deinit(&kept);
			return; /* the next call continues */
		}
	}
	for (size_t i = 0; map__next(&s->model.threads, &i, &value);)
		if (!map__get(&kept, ((struct thread *)value)->tid))
			free(value);
	map__deinit(&s->model.threads);
	s->model.threads = kept;
}

void model__boundary(struct sequencer *s, uint64_t time)
{
	map__deinit(&s->model.ended);
	forget_threads(s, time);
}

uint8_t model__reason(struct sequencer *s, const char *text)
{
	struct parked_reasons *p = &s->model.reasons;

	for (unsigned int i = 0; i < p->n; i++)
		if (p->text[i] == text)
			return (uint8_t)(i + 1);
	for (unsigned int i = 0; text && i < p->n; i++)
		if (!strcmp(p->text[i], text))
			return (uint8_t)(i + 1);
	if (!text || p->n == PARKED_REASONS)
		return 0;
	p->text[p->n++] = text;
	return (uint8_t)p->n;
}

void model__deinit(struct sequencer *s)
{
	void *value;

	for (size_t i = 0; map__next(&s->model.threads, &i, &value);) {
		hold__free_list(((struct thread *)value)->head);
		labels__free(value);
	}
	hold__free_list(s->hold.free);
	for (size_t i = 0; map__next(&s->model.by_id, &i, &value);) {
		open_regions__free(s, value);
		stacks__let_go(s->stacks, ((struct goroutine *)value)->parked);
		free(((struct goroutine *)value)->served);
	}
	free(s->user.task_named);
	labels__deinit(s);
	arena__deinit(&s->model.pool);
	map__deinit(&s->model.by_addr);
	map__deinit(&s->model.by_id);
	map__deinit(&s->model.ended);
	map__free(&s->model.procs);
	map__free(&s->model.threads);
}
