// SPDX-License-Identifier: GPL-2.0
/*
 * Predictions of the numbers of events: see event_model.h.
 */
#include "pack/event_model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Kinds of contexts, the first part of each hash, and of mixers, of which each has 16. */
enum { TYPE = 1, STACK, STACK_NEW, TIME, GUESS = 16, VALUE = 512 };

int event_model__init(struct event_model *m, struct predictor *p, unsigned int log2)
{
	*m = (struct event_model){ .p = p, .log2 = log2 };
	m->goroutine = calloc((size_t)1 << log2, sizeof(*m->goroutine));
	return m->goroutine ? 0 : -ENOMEM;
}

void event_model__deinit(struct event_model *m)
{
	free(m->goroutine);
	m->goroutine = NULL;
}

bool event_model__supports(unsigned int type)
{
	const struct ev_spec *spec = type < EV_COUNT ? spec__event(type) : NULL;

	return spec && spec->timed && type != EV_CLOCK_SNAPSHOT;
}

static struct model_goroutine *goroutine(struct event_model *m, uint64_t g)
{
	return &m->goroutine[pack__index(g, m->log2)];
}

static uint64_t *guess(const struct event_model *m, uint64_t a, uint64_t b)
{
	return predictor__guess(m->p, a, b);
}

/* A stack that is none of the candidates: often a new one, otherwise some are frequent. */
static uint64_t code_other_stack(struct event_model *m, uint8_t type, uint64_t b, uint64_t stack)
{
	struct coder *c = m->p->coder;
	uint64_t a = pack__hash(STACK_NEW, type);
	unsigned int bits = m->max_stack ? 64 - (unsigned int)__builtin_clzll(m->max_stack) : 0;
	unsigned int low = bits < 8 ? bits : 8, high, lower;

	if (coder__bit(c, a, a + 1, STACK_NEW * 64, stack == m->max_stack + 1))
		return m->max_stack + 1;
	if (bits > 16 || coder__bit(c, STACK_NEW, a + 2, STACK_NEW * 64 + 1, stack >> bits != 0))
		return coder__number(c, a + 3, pack__hash(a, bits), STACK_NEW * 64 + 32, stack);
	high = coder__symbol(c, a + 4, pack__hash(b, 1), STACK_NEW * 64 + 16, bits - low,
			     (unsigned int)(stack >> low) & 0xff);
	lower = coder__symbol(c, pack__hash(a, 2 + high), pack__hash(b, 2 + high),
			      STACK_NEW * 64 + 24, low, (unsigned int)stack & 0xff);
	return (uint64_t)high << low | lower;
}

static uint64_t code_stack(struct event_model *m, struct model_thread *t, uint8_t type,
			   uint64_t stack)
{
	struct model_goroutine *g = goroutine(m, t->g);
	uint64_t *by_history = guess(m, pack__hash(type, t->g), g->stack);
	uint64_t *by_last = guess(m, type, pack__hash(t->stack, t->last[0]));
	uint64_t *by_g = guess(m, pack__hash(type, t->g), MODEL_NONE);
	const uint64_t candidate[] = { *by_last, *by_history, *by_g };
	uint64_t a = pack__hash(STACK, type), b = pack__hash(a, t->stack), known;

	if (predictor__one_of(m->p, a, b, STACK * 64, candidate, 3, stack, &known))
		stack = known;
	else
		stack = code_other_stack(m, type, b, stack);
	if (stack > m->max_stack)
		m->max_stack = stack;
	*by_history = *by_last = *by_g = stack;
	g->stack = t->stack = stack;
	return stack;
}

void event_model__begin_event(struct event_model *m, struct model_thread *t, struct model_event *e)
{
	const struct ev_spec *spec;
	const struct model_goroutine *g = goroutine(m, t->g);
	uint64_t a = pack__hash(TYPE, t->last[0] | t->last[1] << 8), stack = t->stack;
	uint64_t b = pack__hash(pack__hash(TYPE + 100, t->last[0]),
				t->g == MODEL_NONE ? MODEL_NONE : g->stack);

	e->type = (uint8_t)coder__symbol(m->p->coder, a, b, TYPE * 64 + t->last[0] % 8 * 8, 6,
					 e->type);
	spec = event_model__supports(e->type) ? spec__event(e->type) : NULL;
	if (!spec) {
		e->type = 0;
		return;
	}
	if (spec->nargs > 1 && spec->arg[spec->nargs - 1].type == ARG_STACK) {
		e->number[spec->nargs - 1] = code_stack(m, t, e->type, e->number[spec->nargs - 1]);
		stack = t->stack;
	}
	a = pack__hash(TIME, e->type | t->last[0] << 8);
	b = pack__hash(pack__hash(TIME, stack), e->type | t->last[0] << 8);
	e->number[0] = coder__number(m->p->coder, a, b, TIME * 64, e->number[0]);
}

static void forget_ready(struct event_model *m, unsigned int i)
{
	m->nready--;
	memmove(&m->ready[i], &m->ready[i + 1], (m->nready - i) * sizeof(m->ready[0]));
}

static void drop_ready(struct event_model *m, uint64_t g)
{
	for (unsigned int i = m->nready; i--;)
		if (m->ready[i].g == g) {
			forget_ready(m, i);
			return;
		}
}

static void add_ready(struct event_model *m, uint64_t g, uint64_t p)
{
	if (m->nready == MODEL_READY)
		forget_ready(m, 0);
	m->ready[m->nready++] = (struct ready){ g, p };
}

/* The goroutine that a thread starts. */
static uint64_t code_started(struct event_model *m, struct model_thread *t, uint8_t type,
			     uint64_t g)
{
	uint64_t newest = MODEL_NONE, oldest = MODEL_NONE, any = MODEL_NONE;
	uint64_t *follows = guess(m, GUESS + 200, t->g);
	uint64_t a = pack__hash(GUESS, type | t->last[0] << 8), b;

	for (unsigned int i = 0; i < m->nready; i++) {
		if (m->ready[i].p == t->p) {
			newest = m->ready[i].g;
			if (oldest == MODEL_NONE)
				oldest = newest;
		} else if (any == MODEL_NONE) {
			any = m->ready[i].g;
		}
	}
	b = pack__hash(a, (newest == MODEL_NONE) | (oldest == newest) << 1 |
				  (any == MODEL_NONE) << 2 | (*follows == newest) << 3 |
				  t->last[1] << 8);
	uint64_t candidate[] = { newest, oldest, any, *follows, t->g };

	g = predictor__candidate(m->p, a, b, GUESS * 64, candidate, 5, g);
	*follows = g;
	drop_ready(m, g);
	return g;
}

static uint64_t code_woken(struct event_model *m, struct model_thread *t, uint64_t stack,
			   uint64_t g)
{
	uint64_t *by_g = guess(m, GUESS + 300, pack__hash(t->g, stack));
	uint64_t *by_stack = guess(m, GUESS + 301, stack);
	uint64_t *by_last = guess(m, GUESS + 302, pack__hash(*by_stack, t->g));
	uint64_t candidate[] = { *by_g, *by_last, *by_stack };
	uint64_t a = pack__hash(GUESS + 1, stack), b = pack__hash(a, t->last[0] | t->last[1] << 8);

	g = predictor__candidate(m->p, a, b, GUESS * 64 + 64, candidate, 3, g);
	*by_g = *by_stack = *by_last = g;
	return g;
}

static uint64_t code_created(struct event_model *m, struct model_thread *t, uint64_t g)
{
	uint64_t *last = &m->last_created[t->p % 256];
	uint64_t candidate[] = { *last + 1, (m->max_g + 15) / 16 * 16 + 1, m->max_g + 1 };
	uint64_t a = pack__hash(GUESS + 2, *last % 16), b = pack__hash(a, m->max_g == *last);

	g = predictor__candidate(m->p, a, b, GUESS * 64 + 128, candidate, 3, g);
	*last = g;
	return g;
}

static uint64_t code_seq(struct event_model *m, uint8_t type, uint64_t *last, uint64_t seq)
{
	uint64_t candidate[] = { *last + 1 };
	uint64_t a = pack__hash(GUESS + 3, type);

	*last = predictor__candidate(m->p, a, a + 1, GUESS * 64 + 192, candidate, 1, seq);
	return *last;
}

static uint64_t code_value(struct event_model *m, struct model_thread *t,
			   const struct model_event *e, unsigned int i, uint64_t key,
			   uint64_t value)
{
	uint64_t *last = &m->last[e->type][i];
	uint64_t kind = pack__hash(VALUE + e->type, i);
	uint64_t *by_key = guess(m, kind, key), *by_m = guess(m, kind + 1, t->m);
	uint64_t candidate[] = { *by_key, *by_m, *last + 1, *last };
	uint64_t b = pack__hash(kind, key);

	value = predictor__candidate(m->p, kind, b, VALUE + e->type * 32 + i * 160, candidate, 4,
				     value);
	*by_key = *by_m = *last = value;
	return value;
}

static uint64_t code_arg(struct event_model *m, struct model_thread *t, struct model_event *e,
			 const struct ev_spec *spec, unsigned int i)
{
	uint64_t v = e->number[i];
	uint64_t stack =
		spec->arg[spec->nargs - 1].type == ARG_STACK ? e->number[spec->nargs - 1] : 0;

	switch (spec->arg[i].type) {
	case ARG_G:
		switch (e->type) {
		case EV_GO_START:
		case EV_GO_SWITCH:
		case EV_GO_SWITCH_DESTROY:
			return code_started(m, t, e->type, v);
		case EV_GO_UNBLOCK:
			return code_woken(m, t, stack, v);
		case EV_GO_CREATE:
		case EV_GO_CREATE_BLOCKED:
		case EV_GO_CREATE_SYSCALL:
			return code_created(m, t, v);
		}
		return code_value(m, t, e, i, t->g, v);
	case ARG_SEQ:
		if (e->type == EV_GC_ACTIVE || e->type == EV_GC_BEGIN || e->type == EV_GC_END)
			break;
		if (spec->arg[i - 1].type == ARG_G)
			return code_seq(m, e->type, &goroutine(m, e->number[1])->seq, v);
		return code_seq(
			m, e->type,
			&m->proc_seq[(spec->arg[i - 1].type == ARG_P ? e->number[1] : t->p) % 256],
			v);
	case ARG_P:
		return code_value(m, t, e, i, t->p, v);
	case ARG_M:
		return code_value(m, t, e, i, m->proc_m[e->number[1] % 256], v);
	default:
		break;
	}
	return code_value(m, t, e, i, stack, v);
}

static void follow(struct event_model *m, struct model_thread *t, const struct model_event *e)
{
	const uint64_t *n = e->number;

	switch (e->type) {
	case EV_PROC_START:
		t->p = n[1];
		m->proc_m[n[1] % 256] = t->m;
		break;
	case EV_PROC_STATUS:
		m->proc_seq[n[1] % 256] = 0;
		if (n[2] == PROC_RUNNING || n[2] == PROC_SYSCALL) {
			t->p = n[1];
			m->proc_m[n[1] % 256] = t->m;
		}
		break;
	case EV_GO_CREATE:
	case EV_GO_CREATE_SYSCALL:
	case EV_GO_CREATE_BLOCKED:
		goroutine(m, n[1])->seq = 0;
		if (n[1] > m->max_g)
			m->max_g = n[1];
		if (e->type == EV_GO_CREATE)
			add_ready(m, n[1], t->p);
		if (e->type == EV_GO_CREATE_SYSCALL)
			t->g = n[1];
		break;
	case EV_GO_STATUS:
	case EV_GO_STATUS_STACK:
		goroutine(m, n[1])->seq = 0;
		if (n[1] > m->max_g)
			m->max_g = n[1];
		if (n[3] == GO_RUNNING || (n[3] == GO_SYSCALL && n[2] == t->m))
			t->g = n[1];
		break;
	case EV_GO_START:
	case EV_GO_SWITCH:
	case EV_GO_SWITCH_DESTROY:
		t->g = n[1];
		break;
	case EV_GO_STOP:
		add_ready(m, t->g, t->p);
		break;
	case EV_GO_UNBLOCK:
		add_ready(m, n[1], t->p);
		break;
	case EV_GO_SYSCALL_END_BLOCKED:
		add_ready(m, t->g, MODEL_NONE);
		break;
	}
	t->last[2] = t->last[1];
	t->last[1] = t->last[0];
	t->last[0] = e->type;
}

void event_model__end_event(struct event_model *m, struct model_thread *t, struct model_event *e)
{
	const struct ev_spec *spec = spec__event(e->type);
	unsigned int n = spec->nargs;

	if (n > 1 && spec->arg[n - 1].type == ARG_STACK)
		n--;
	for (unsigned int i = 1; i < n; i++)
		e->number[i] = code_arg(m, t, e, spec, i);
	follow(m, t, e);
}
