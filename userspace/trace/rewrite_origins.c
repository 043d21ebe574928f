// SPDX-License-Identifier: GPL-2.0
/*
 * Which function each goroutine began with: see rewrite_origins.h.
 *
 * Before it: events as delivered, with the words of their generation. After it: the prologue of a
 * part of a trace, and the index.
 */
#include "trace/rewrite_origins.h"

#include <errno.h>

/* A program starts goroutines in a few thousand places; whoever has more goes without names. */
#define MEMORY_MAX (64u << 20)

int origins__init(struct origins *o)
{
	*o = (struct origins){ .in = intern__create() };
	return o->in ? 0 : -ENOMEM;
}

void origins__deinit(struct origins *o)
{
	intern__destroy(o->in);
	map__deinit(&o->g);
	*o = (struct origins){};
}

int origins__set(struct origins *o, uint64_t g, uint32_t stack)
{
	return stack ? map__put(&o->g, g, (void *)(uintptr_t)stack) : 0;
}

uint32_t origins__of(const struct origins *o, uint64_t g)
{
	return (uint32_t)(uintptr_t)map__get(&o->g, g);
}

static uint32_t intern_word(struct intern *in, const struct dictionary *words, uint64_t id)
{
	struct trace_string s;

	return dictionary__string(words, id, &s) ? intern__string(in, s.data, s.len) : 0;
}

/* The outermost frame of a goroutine's stack is the function that it began with. */
static int learn(struct origins *o, const struct dictionary *words, uint64_t g, uint64_t stack)
{
	size_t n = dictionary__frames(words, stack);
	const struct trace_frame *f;
	struct intern_frame frame;
	uint32_t id;

	if (!n || intern__memory(o->in) > MEMORY_MAX)
		return 0;
	f = dictionary__frame(words, stack, n - 1);
	frame = (struct intern_frame){
		.pc = f->pc,
		.func = intern_word(o->in, words, f->func),
		.file = intern_word(o->in, words, f->file),
		.line = f->line < UINT32_MAX ? (uint32_t)f->line : UINT32_MAX,
	};
	id = intern__stack(o->in, &frame, 1);
	return id ? origins__set(o, g, id) : -ENOMEM;
}

int origins__event(struct origins *o, const struct trace_event *ev)
{
	switch (ev->type) {
	case EV_GO_CREATE:
	case EV_GO_CREATE_BLOCKED:
		return learn(o, ev->words, ev->arg[0], ev->arg[1]);
	case EV_GO_STATUS_STACK:
		return origins__of(o, ev->arg[0]) ? 0 : learn(o, ev->words, ev->arg[0], ev->arg[3]);
	case EV_GO_STOP:
	case EV_GO_BLOCK:
	case EV_GO_SYSCALL_BEGIN:
		return origins__of(o, ev->g) ? 0 : learn(o, ev->words, ev->g, ev->arg[1]);
	case EV_GO_DESTROY:
	case EV_GO_DESTROY_SYSCALL:
		map__remove(&o->g, ev->g);
		return 0;
	default:
		return 0;
	}
}

uint32_t origins__copy_stack(struct intern *to, const struct intern *from, uint32_t stack)
{
	const struct intern_frame *frame;
	struct intern_frame copy;
	const char *text;
	size_t n, len;

	frame = intern__stack_at(from, stack, &n);
	copy = *frame;
	text = intern__string_at(from, frame->func, &len);
	copy.func = text ? intern__string(to, text, len) : 0;
	text = intern__string_at(from, frame->file, &len);
	copy.file = text ? intern__string(to, text, len) : 0;
	return intern__stack(to, &copy, 1);
}
