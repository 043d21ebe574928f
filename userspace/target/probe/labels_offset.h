/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a goroutine has the pointer to its labels: g.labels, found in the function that sets it.
 *
 * Upstream: target/probe/code.c. Downstream: capture/labels.c.
 */
#ifndef TARGET_LABELS_OFFSET_H
#define TARGET_LABELS_OFFSET_H

#include "target/elf/elf.h"
#include "target/symbols/pclntab.h"

/* In bytes; GT_NO_OFFSET: the program sets no labels, or the function is not as expected. */
uint32_t labels_offset__find(const struct elf_image *elf, const struct pclntab *pt);

#endif
