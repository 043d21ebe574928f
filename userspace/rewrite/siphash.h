/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SipHash-2-4 (Aumasson and Bernstein): a hash that cannot be predicted or searched for without its
 * key. Not for hash tables, which use lib/hash.h. Used by rewrite/anonymize.c.
 */
#ifndef REWRITE_SIPHASH_H
#define REWRITE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

struct siphash_key {
	uint64_t word[2]; /* little-endian, as in the paper */
};

uint64_t siphash(const struct siphash_key *key, const void *data, size_t len);

#endif
