// SPDX-License-Identifier: GPL-2.0
/* The functions of conditions func: see trigger_functions.h. */
#include "trigger_functions.h"

static void remove_others(struct trigger_functions *ret, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (ret->func[i].conditions)
			ret->func[ret->n++] = ret->func[i];
}

/* A function that several patterns match is recorded once, with the name of the first pattern. */
int trigger_functions__find(struct trigger_functions *ret, const struct record_args *a,
			    const struct calls *calls, struct error *error)
{
	uint64_t matching;
	int err = 0;

	for (size_t i = 0; i < a->triggers.n && !err; i++) {
		if (a->condition[i].kind != TRIGGER_FUNC)
			continue;
		err = calls__matching(calls, a->condition[i].name, &matching, error);
		for (size_t j = 0; !err && j < calls->n; j++) {
			if (!(matching >> j & 1))
				continue;
			ret->func[j].region = calls->func[j].name;
			ret->func[j].conditions |= 1u << i;
		}
	}
	remove_others(ret, calls->n);
	return err;
}
