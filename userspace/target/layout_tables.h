/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The texts and numbers of each Go release, for target/layout.c alone.
 */
#ifndef TARGET_LAYOUT_TABLES_H
#define TARGET_LAYOUT_TABLES_H

#include "target/layout.h"

/* Fills in the facts of the release; false: not in the tables. */
bool layout_tables__fill(unsigned int minor, struct layout *ret);

/* Before 1.22: the reason that the release's own tracer does not tell apart; NULL: none. */
const char *layout_tables__plain_block(const struct layout *l, unsigned int block,
				       unsigned int wait);

#endif
