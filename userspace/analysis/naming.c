// SPDX-License-Identifier: GPL-2.0
/*
 * Names whose lifetime spans generations: see naming.h.
 *
 * Between reader/semantics.c, whose strings are freed with their generation, and the analyses of a
 * whole trace, which keep ids.
 */
#include "analysis/naming.h"

#include <errno.h>
#include <string.h>

int naming__init(struct naming *n)
{
	*n = (struct naming){ .names = intern__create(), .kinds = intern__create() };
	if (!n->names || !n->kinds || intern__cstring(n->kinds, "forever") != KIND_FOREVER)
		return -ENOMEM;
	return 0;
}

void naming__deinit(struct naming *n)
{
	intern__destroy(n->names);
	intern__destroy(n->kinds);
}

/* Most texts are those of a few strings of the generation: compare before hashing. */
int naming__text_kind(struct naming *n, const char *text, size_t len, uint32_t *ret)
{
	uint32_t *recent = &n->recent[(uintptr_t)text / 8 % NAMING_RECENT];
	struct trace_string known = intern__text_at(n->kinds, *recent);
	int err;

	if (len && known.len == len && !memcmp(known.data, text, len)) {
		*ret = *recent;
		return 0;
	}
	err = intern__text(n->kinds, (struct trace_string){ text, (uint32_t)len }, ret);
	if (!err && *ret > KINDS_MAX)
		*ret = KIND_THE_REST;
	else if (!err)
		*recent = *ret;
	return err;
}

int naming__kind(struct naming *n, const struct semantics *m, uint32_t *ret)
{
	char text[TRACE_STRING_MAX + 32]; /* "stop-the-world (" and what stops it */
	size_t before, len;

	if (!m->before[0]) /* almost always */
		return naming__text_kind(n, m->name.data, m->name.len, ret);
	before = strlen(m->before);
	len = before + m->name.len + strlen(m->after);
	if (len > sizeof(text))
		return naming__text_kind(n, m->name.data, m->name.len, ret);
	memcpy(text, m->before, before);
	if (m->name.len)
		memcpy(text + before, m->name.data, m->name.len);
	memcpy(text + before + m->name.len, m->after, strlen(m->after));
	return naming__text_kind(n, text, len, ret);
}

int naming__start_function(struct intern *names, const struct trace_event *ev, uint64_t stack,
			   uint64_t *ret_pc, uint32_t *ret_name)
{
	size_t depth = dictionary__frames(ev->dictionary, stack);
	const struct trace_frame *frame;
	struct trace_string func;

	if (!depth)
		return 0;
	frame = dictionary__frame(ev->dictionary, stack, depth - 1);
	*ret_pc = frame->pc;
	if (!dictionary__string(ev->dictionary, frame->func, &func))
		return 0;
	return intern__text(names, func, ret_name);
}

struct trace_string naming__name_at(const struct naming *n, uint32_t name)
{
	return intern__text_at(n->names, name);
}

struct trace_string naming__kind_at(const struct naming *n, uint32_t kind)
{
	static const char rest[] = "(all others)";

	if (kind == KIND_THE_REST)
		return (struct trace_string){ .data = rest, .len = sizeof(rest) - 1 };
	return intern__text_at(n->kinds, kind);
}
