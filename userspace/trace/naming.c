// SPDX-License-Identifier: GPL-2.0
/*
 * Names that outlive the generations which have them: see naming.h.
 *
 * Between trace/meaning.c, whose strings die with their generation, and the folds over a whole
 * trace, which keep ids.
 */
#include "trace/naming.h"

#include <errno.h>
#include <string.h>

int naming__init(struct naming *n)
{
	n->names = intern__create();
	n->kinds = intern__create();
	if (!n->names || !n->kinds || intern__cstring(n->kinds, "forever") != KIND_FOREVER)
		return -ENOMEM;
	return 0;
}

void naming__deinit(struct naming *n)
{
	intern__destroy(n->names);
	intern__destroy(n->kinds);
}

int naming__name(struct naming *n, struct trace_string name, uint32_t *ret)
{
	uint32_t id = intern__string(n->names, name.data, name.len);

	if (!id && name.len)
		return -ENOMEM;
	*ret = id;
	return 0;
}

int naming__text_kind(struct naming *n, const char *text, size_t len, uint32_t *ret)
{
	uint32_t id = intern__string(n->kinds, text, len);

	if (!id && len)
		return -ENOMEM;
	*ret = id <= KINDS_MAX ? id : KIND_THE_REST;
	return 0;
}

int naming__kind(struct naming *n, const struct meaning *m, uint32_t *ret)
{
	char text[TRACE_STRING_MAX + 32]; /* "stop-the-world (" and what stops it */
	size_t before = strlen(m->before), len = before + m->name.len + strlen(m->after);

	if (!before || len > sizeof(text))
		return naming__text_kind(n, m->name.data, m->name.len, ret);
	memcpy(text, m->before, before);
	if (m->name.len)
		memcpy(text + before, m->name.data, m->name.len);
	memcpy(text + before + m->name.len, m->after, strlen(m->after));
	return naming__text_kind(n, text, len, ret);
}

int naming__start_function(struct naming *n, const struct trace_event *ev, uint64_t stack,
			   uint64_t *ret_pc, uint32_t *ret_name)
{
	size_t depth = dictionary__frames(ev->words, stack);
	const struct trace_frame *frame;
	struct trace_string func;

	if (!depth)
		return 0;
	frame = dictionary__frame(ev->words, stack, depth - 1);
	*ret_pc = frame->pc;
	if (!dictionary__string(ev->words, frame->func, &func))
		return 0;
	return naming__name(n, func, ret_name);
}

static struct trace_string string_at(const struct intern *in, uint32_t id)
{
	size_t len = 0;
	const char *data = intern__string_at(in, id, &len);

	return (struct trace_string){ .data = data ? data : "", .len = (uint32_t)len };
}

struct trace_string naming__name_at(const struct naming *n, uint32_t name)
{
	return string_at(n->names, name);
}

struct trace_string naming__kind_at(const struct naming *n, uint32_t kind)
{
	static const char rest[] = "(all others)";

	if (kind == KIND_THE_REST)
		return (struct trace_string){ .data = rest, .len = sizeof(rest) - 1 };
	return string_at(n->kinds, kind);
}
