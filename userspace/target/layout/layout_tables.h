/* SPDX-License-Identifier: GPL-2.0 */
/* The texts and numbers of each Go release. Downstream: target/layout/layout.c only. */
#ifndef TARGET_LAYOUT_TABLES_H
#define TARGET_LAYOUT_TABLES_H

#include "target/layout/layout.h"

/* The releases whose programs can be recorded: minor numbers. Newer ones are taken for the newest. */
unsigned int layout_tables__oldest(void);
unsigned int layout_tables__newest(void);
/* Fills in the facts of release 1.`minor`; false if it is not in the tables. */
bool layout_tables__fill(unsigned int minor, struct layout *ret);

/* Before 1.22: the reason that the tracer of the release does not distinguish; NULL: none. */
const char *layout_tables__plain_block(const struct layout *l, unsigned int block,
				       unsigned int wait);

#endif
