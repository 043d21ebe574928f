/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Struct offsets by Go release, from real toolchains: for target/layout_merge.c alone.
 *
 * offsets_table.c is made by `make offsets`; selftests/check-long/offsets.sh makes it again.
 */
#ifndef TARGET_OFFSETS_TABLE_H
#define TARGET_OFFSETS_TABLE_H

#include <stddef.h>

#include "target/offsets.h"

/* Releases 1.minor.from to 1.minor.to; all members are known, or OFFSET_ABSENT. */
struct offsets_row {
	unsigned int minor, from, to;
	uint32_t at[OFF_COUNT];
};

/* The rows by release, the oldest first; NULL behind the last. */
const struct offsets_row *offsets_table__row(size_t n);

#endif
