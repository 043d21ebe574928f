// SPDX-License-Identifier: GPL-2.0
/*
 * Real programs with changed machine code in the functions that offsets are read from: they are read
 * within their bounds, and what is said to be an offset can be one.
 */
#include <stdlib.h>

#include "patched.h"
#include "target/calibrate.h"
#include "target/elf.h"

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
	char text[256];

	if (!p)
		return -1;
	if (!calibrate__read(p->elf, p->pt, &p->version, &offsets, &err)) {
		for (size_t i = 0; i < OFF_COUNT; i++) {
			if (offsets.at[i] > STRUCT_MAX && offsets.at[i] != OFFSET_UNKNOWN &&
			    offsets.at[i] != OFFSET_ABSENT)
				abort();
		}
		calibrate__describe(&offsets, text, sizeof(text));
	} else if (!err.text[0]) {
		abort();
	}
	patched__undo();
	return 0;
}
