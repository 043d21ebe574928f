// SPDX-License-Identifier: GPL-2.0
/*
 * Names of the kinds of records, as listed in gotrace/kinds.h.
 */
#include "lib/kinds.h"

#include "gotrace/record.h"

static const char *const names[GT_KIND_END] = {
#define NAME_OF(number, NAME, name, ...) [GT_##NAME] = #name,
	GT_KINDS(NAME_OF)
};

const char *kind__name(unsigned int kind)
{
	return kind < GT_KIND_END && names[kind] ? names[kind] : "unknown";
}
