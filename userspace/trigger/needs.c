// SPDX-License-Identifier: GPL-2.0
/*
 * What a recording must contain for a condition: see needs.h.
 */
#include "trigger/needs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "format/kernel.h"
#include "target/layout/layout.h"
#include "target/probe/site.h"

#define CALLS_END 1024 /* no system call has a larger number */

uint32_t condition__sets(const struct condition *c)
{
	switch (c->kind) {
	case TRIGGER_SYSCALL: /* kernel events have the name */
		return SITE_SET(SYSCALL) | (*c->name ? SITE_SET(KERNEL) : 0);
	case TRIGGER_STW:
	case TRIGGER_GC:
		return SITE_SET(GC);
	case TRIGGER_RUNQUEUE:
		return SITE_SET(KERNEL);
	case TRIGGER_HEAP:
		return SITE_SET(HEAP);
	default:
		return 0;
	}
}

static bool is_call(const char *name)
{
	for (uint32_t i = 0; i < CALLS_END; i++)
		if (kernel__syscall(i) && !strcmp(kernel__syscall(i), name))
			return true;
	return false;
}

static int check_block_reason(const struct condition *c, struct error *error)
{
	char known[400] = ""; /* about 300 are used; error.text has 512 */
	const char *reason;
	size_t len = 0;

	for (unsigned int i = 0; (reason = layout__known_block_reason(i)); i++) {
		if (!strcmp(reason, c->name))
			return 0;
		len += snprintf(known + len, len < sizeof(known) ? sizeof(known) - len : 0, "%s%s",
				i ? ", " : "", reason);
	}
	return error__set(error, -EINVAL, "invalid trigger '%s': REASON must be one of: %s",
			  c->text, known);
}

int condition__check(const struct condition *c, uint32_t sets, struct error *error)
{
	uint32_t missing = condition__sets(c) & ~sets;

	if (c->kind == TRIGGER_SYSCALL && *c->name && !is_call(c->name))
		return error__set(error, -EINVAL, "invalid trigger '%s': unknown system call '%s'",
				  c->text, c->name);
	if (c->kind == TRIGGER_BLOCKED && *c->name && check_block_reason(c, error))
		return -EINVAL;
	for (unsigned int i = 0; i < SITE_SETS; i++)
		if (missing >> i & 1)
			return error__set(error, -EINVAL,
					  "trigger '%s' requires set %s in --events", c->text,
					  site_set__name((enum site_set)i));
	return 0;
}
