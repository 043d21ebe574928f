/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The input of a fuzz target, as a file that is not compressed. Only fuzz_input uses compressed
 * ones: a few bytes can expand to gigabytes, which is slow without being a finding.
 */
#ifndef SELFTESTS_FUZZ_PLAIN_H
#define SELFTESTS_FUZZ_PLAIN_H

#include <stdint.h>

#include "lib/input.h"
#include "lib/unpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline bool is_plain(const uint8_t *data, size_t size)
{
	struct unpack *u;

	if (unpack__create(&u, data, size))
		return false;
	unpack__destroy(u);
	return !u;
}

/* NULL: it is packed. */
static inline struct input *open_plain(const uint8_t *data, size_t size)
{
	struct input *in;

	return is_plain(data, size) && !input__open_memory(&in, data, size, NULL) ? in : NULL;
}

#endif
