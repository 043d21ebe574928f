// SPDX-License-Identifier: GPL-2.0
/* Inlined copies of functions whose calls are recorded: see call_copies.h. */
#include "target/probe/call_copies.h"

#include <stdio.h>
#include <string.h>

#include "lib/log.h"

#define REPORTED_MAX 8 /* functions */

struct search {
	const char *name[CALLS_MAX];
	size_t n;
	struct call_copies *copies;
};

static void note_function(struct call_copies *c, const char *into)
{
	for (size_t i = 0; i < CALL_COPIES_INTO; i++) {
		if (!c->into[i])
			c->into[i] = into;
		if (!strcmp(c->into[i], into))
			return;
	}
	c->more = true;
}

static void note_copy(void *ctx, const char *name, const struct go_func *into)
{
	struct search *s = ctx;

	for (size_t i = 0; i < s->n; i++) {
		if (s->name[i] != name)
			continue;
		s->copies[i].n++;
		note_function(&s->copies[i], into->name);
	}
}

int call_copies__find(const struct calls *calls, const struct pclntab *pt,
		      struct call_copies ret[CALLS_MAX])
{
	struct search s = { .n = calls->n, .copies = ret };

	memset(ret, 0, CALLS_MAX * sizeof(*ret));
	for (size_t i = 0; i < calls->n; i++)
		s.name[i] = calls->func[i].func.name;
	return pclntab__inlined(pt, s.name, s.n, note_copy, &s);
}

void call_copies__format(const struct call_copies *copies, char *ret, size_t size)
{
	size_t len = 0;

	ret[0] = '\0';
	for (size_t i = 0; i < CALL_COPIES_INTO && copies->into[i] && len < size; i++)
		len += (size_t)snprintf(ret + len, size - len, "%s%s", i ? ", " : "",
					copies->into[i]);
	if (copies->more && len < size)
		snprintf(ret + len, size - len, " and others");
}

void call_copies__report(const struct calls *calls, const struct pclntab *pt)
{
	struct call_copies copies[CALLS_MAX];
	size_t reported = 0, more = 0;
	char into[320];

	if (call_copies__find(calls, pt, copies))
		return;
	for (size_t i = 0; i < calls->n; i++) {
		if (!copies[i].n)
			continue;
		if (reported++ >= REPORTED_MAX) {
			more++;
			continue;
		}
		call_copies__format(&copies[i], into, sizeof(into));
		log__msg("not recorded: %zu cop%s of %s that the compiler inlined, in %s",
			 copies[i].n, copies[i].n == 1 ? "y" : "ies", calls->func[i].func.name,
			 into);
	}
	if (more)
		log__msg("not recorded: inlined copies of %zu more functions ('gotrace-bpf probes "
			 "--functions' lists them)",
			 more);
}
