// SPDX-License-Identifier: GPL-2.0
/*
 * Real programs with changed code in functions from which offsets are inferred: reads stay in
 * bounds, and offsets are plausible.
 */
#include <stdlib.h>

#include "target/elf/elf.h"
#include "target/infer/calibrate.h"
#include "patched.h"

#define STRUCT_MAX (1 << 16) /* bytes; a runtime.p has about 10,000 */

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	patched__init(PLACE_READ);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct patched *p = patched__apply(data, size);
	struct offsets offsets;
	struct error err = {};

	if (!p)
		return -1;
	if (!calibrate__read(p->elf, p->pt, &p->version, &offsets, &err)) {
		for (size_t i = 0; i < OFF_COUNT; i++) {
			if (offsets.at[i] > STRUCT_MAX && offsets.at[i] != OFFSET_UNKNOWN &&
			    offsets.at[i] != OFFSET_ABSENT)
				abort();
		}
	} else if (!err.text[0]) {
		abort();
	}
	patched__undo();
	return 0;
}
