/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A seed of selftests/fuzz/fuzz_blackbox.c.
 */
#ifndef SELFTESTS_BLACKBOX_SEED_H
#define SELFTESTS_BLACKBOX_SEED_H

#include <stddef.h>
#include <stdint.h>

/* Writes a seed to ret, which has space for `max` bytes; returns its length. */
size_t blackbox_seed(unsigned int rings, unsigned int records, uint8_t *ret, size_t max);

#endif
