/* SPDX-License-Identifier: GPL-2.0 */
/* Merges the sources of struct offsets. Downstream: target/layout/layout.c only. */
#ifndef TARGET_LAYOUT_MERGE_H
#define TARGET_LAYOUT_MERGE_H

#include "lib/error.h"
#include "target/elf/go_version.h"
#include "target/infer/offsets.h"

struct layout_merged {
	/* An offset in bytes, or OFFSET_ABSENT where the release has no such member. */
	uint32_t at[OFF_COUNT];
	char source[192];  /* "DWARF, machine code (20 of 29) and the table agree" */
	char warning[384]; /* empty: an exact release of the table */
};

/*
 * Merges the program's DWARF and machine code (NULL: none) with the table of releases.
 *
 * All sources that have a member must agree: otherwise -EPROTO, with the member, the sources and
 * their values. A release in the table needs no other source. Others (newer, between two patch
 * releases that differ, or modified) need DWARF, or machine code that reveals at least half of the
 * members; the missing ones are then those of the nearest release, if it agrees on all the others.
 * -ENODATA with the remedy: too few are known. *ret is not written on failure.
 */
int layout_merge(const struct go_version *version, const struct offsets *dwarf,
		 const struct offsets *code, struct layout_merged *ret, struct error *error);

#endif
