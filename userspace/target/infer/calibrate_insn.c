// SPDX-License-Identifier: GPL-2.0
/*
 * Loads and decodes a runtime function for calibrate_flow.c.
 *
 * First step of inference. probe/code.c is the equivalent for probe sites.
 */
#include "target/infer/calibrate_code.h"

#include <stdlib.h>

#define FUNCTION_MAX (1 << 16) /* bytes; newproc1 has 1,000, and 4,000 without optimization */

bool steps__read(struct steps *ret, const struct elf_image *elf, const struct go_func *func)
{
	struct steps s = { .func = *func };
	unsigned char *bytes = go_func__load(func, elf, FUNCTION_MAX);

	if (bytes)
		s.step = steps__decode(bytes, func->end - func->entry, func->entry, &s.n);
	free(bytes);
	if (!s.step)
		return false;
	*ret = s;
	return true;
}

void steps__deinit(struct steps *s)
{
	free(s->step);
	s->step = NULL;
	s->n = 0;
}

static int compare_address(const void *key, const void *element)
{
	uint64_t addr = *(const uint64_t *)key, at = ((const struct step *)element)->addr;

	return addr < at ? -1 : addr > at;
}

size_t steps__at(const struct steps *s, uint64_t addr)
{
	const struct step *found = bsearch(&addr, s->step, s->n, sizeof(*s->step), compare_address);

	return found ? (size_t)(found - s->step) : SIZE_MAX;
}
