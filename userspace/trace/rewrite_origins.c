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

/* 0 or -ENOMEM. *ret 0: there is no such string, or it is empty. */
static int intern_word(struct intern *in, const struct trace_string *s, uint32_t *ret)
{
	*ret = s->len ? intern__string(in, s->data, s->len) : 0;
	return s->len && !*ret ? -ENOMEM : 0;
}

/* The outermost frame of a goroutine's stack is the function that it began with. */
static int learn(struct origins *o, const struct dictionary *words, uint64_t g, uint64_t stack)
{
	size_t n = dictionary__frames(words, stack);
	const struct trace_frame *f;
	struct trace_string func = {}, file = {};
	struct intern_frame frame;
	uint32_t id;

	if (!n || intern__memory(o->in) > MEMORY_MAX)
		return 0;
	f = dictionary__frame(words, stack, n - 1);
	frame = (struct intern_frame){
		.pc = f->pc,
		.line = f->line < UINT32_MAX ? (uint32_t)f->line : UINT32_MAX,
	};
	dictionary__string(words, f->func, &func);
	dictionary__string(words, f->file, &file);
	if (intern_word(o->in, &func, &frame.func) || intern_word(o->in, &file, &frame.file))
		return -ENOMEM;
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

static struct trace_string string_at(const struct intern *in, uint32_t id)
{
	size_t len = 0;
	const char *text = intern__string_at(in, id, &len);

	return (struct trace_string){ text, text ? (uint32_t)len : 0 };
}

uint32_t origins__copy_stack(struct intern *to, const struct intern *from, uint32_t stack)
{
	const struct intern_frame *frame;
	struct intern_frame copy;
	struct trace_string func, file;
	size_t n;

	frame = intern__stack_at(from, stack, &n);
	copy = *frame;
	func = string_at(from, frame->func);
	file = string_at(from, frame->file);
	if (intern_word(to, &func, &copy.func) || intern_word(to, &file, &copy.file))
		return 0;
	return intern__stack(to, &copy, 1);
}
