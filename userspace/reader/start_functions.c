// SPDX-License-Identifier: GPL-2.0
/*
 * Collects the start function of each goroutine: see start_functions.h.
 *
 * Upstream: events of the reader, with the dictionary of their generation. Downstream:
 * rewrite/rewrite_prologue.c and reader/index_write.c.
 */
#include "reader/start_functions.h"

#include <errno.h>

/* A program starts goroutines at a few thousand places; beyond this limit none are added. */
#define MEMORY_MAX (64u << 20)

int start_functions__init(struct start_functions *o)
{
	*o = (struct start_functions){ .in = intern__create() };
	return o->in ? 0 : -ENOMEM;
}

void start_functions__deinit(struct start_functions *o)
{
	intern__destroy(o->in);
	map__deinit(&o->g);
	*o = (struct start_functions){};
}

int start_functions__set(struct start_functions *o, uint64_t g, uint32_t stack)
{
	return stack ? map__put(&o->g, g, (void *)(uintptr_t)stack) : 0;
}

uint32_t start_functions__of(const struct start_functions *o, uint64_t g)
{
	return (uint32_t)(uintptr_t)map__get(&o->g, g);
}

/* The outermost frame of a goroutine's stack is its start function. */
static int add_function(struct start_functions *o, const struct dictionary *dictionary, uint64_t g,
			uint64_t stack)
{
	size_t n = dictionary__frames(dictionary, stack);
	const struct trace_frame *f;
	struct trace_string func = {}, file = {};
	struct intern_frame frame;
	uint32_t id;

	if (!n || intern__memory(o->in) > MEMORY_MAX)
		return 0;
	f = dictionary__frame(dictionary, stack, n - 1);
	frame = (struct intern_frame){
		.pc = f->pc,
		.line = f->line < UINT32_MAX ? (uint32_t)f->line : UINT32_MAX,
	};
	dictionary__string(dictionary, f->func, &func);
	dictionary__string(dictionary, f->file, &file);
	if (intern__text(o->in, func, &frame.func) || intern__text(o->in, file, &frame.file))
		return -ENOMEM;
	id = intern__stack(o->in, &frame, 1);
	return id ? start_functions__set(o, g, id) : -ENOMEM;
}

int start_functions__event(struct start_functions *o, const struct trace_event *ev)
{
	uint64_t stack;

	switch (ev->type) {
	case EV_GO_CREATE:
	case EV_GO_CREATE_BLOCKED:
		return add_function(o, ev->dictionary, ev->arg[0], ev->arg[1]);
	case EV_GO_STATUS:
	case EV_GO_STATUS_STACK:
		if (start_functions__of(o, ev->arg[0]))
			return 0;
		stack = ev->type == EV_GO_STATUS ? dictionary__start(ev->dictionary, ev->arg[0]) :
						   ev->arg[3];
		return add_function(o, ev->dictionary, ev->arg[0], stack);
	case EV_GO_STOP:
	case EV_GO_BLOCK:
	case EV_GO_SYSCALL_BEGIN:
		return start_functions__of(o, ev->g) ?
			       0 :
			       add_function(o, ev->dictionary, ev->g, ev->arg[1]);
	case EV_GO_DESTROY:
	case EV_GO_DESTROY_SYSCALL:
		map__remove(&o->g, ev->g);
		return 0;
	default:
		return 0;
	}
}

uint32_t start_functions__copy_stack(struct intern *to, const struct intern *from, uint32_t stack)
{
	const struct intern_frame *frame;
	struct intern_frame copy;
	size_t n;

	frame = intern__stack_at(from, stack, &n);
	copy = *frame;
	if (intern__text(to, intern__text_at(from, frame->func), &copy.func) ||
	    intern__text(to, intern__text_at(from, frame->file), &copy.file))
		return 0;
	return intern__stack(to, &copy, 1);
}
