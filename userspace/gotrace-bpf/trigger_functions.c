// SPDX-License-Identifier: GPL-2.0
/* The functions of conditions func: see trigger_functions.h. */
#include "trigger_functions.h"

/* A function that several patterns match is recorded once, with the name of the first pattern. */
static void add(struct trigger_functions *ret, const struct calls *calls,
		const struct calls *matching, size_t condition)
{
	for (size_t i = 0; i < calls->n; i++) {
		size_t j = 0;

		while (j < matching->n && matching->func[j].func.entry != calls->func[i].func.entry)
			j++;
		if (j == matching->n)
			continue;
		ret->func[i].region = calls->func[i].name;
		ret->func[i].conditions |= 1u << condition;
	}
}

static void remove_others(struct trigger_functions *ret, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (ret->func[i].conditions)
			ret->func[ret->n++] = ret->func[i];
}

int trigger_functions__find(struct trigger_functions *ret, const struct record_args *a,
			    const struct analysis *an, const struct calls *calls,
			    struct error *error)
{
	int err = 0;

	for (size_t i = 0; i < a->triggers.n && !err; i++) {
		struct call_pattern pattern = { a->condition[i].name, NULL, GT_AS_REGION };
		struct calls matching = {};

		if (a->condition[i].kind != TRIGGER_FUNC)
			continue;
		err = calls__add(&matching, an->elf, an->pclntab, &pattern, error);
		add(ret, calls, &matching, i);
		calls__deinit(&matching);
	}
	remove_others(ret, calls->n);
	return err;
}
