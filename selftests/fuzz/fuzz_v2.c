// SPDX-License-Identifier: GPL-2.0
/* Any bytes as a trace: strictly and leniently. */
#include "read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_both_ways(data, size);
	return 0;
}
