/* SPDX-License-Identifier: GPL-2.0 */
/* A seed that is made in memory, and saved: for seeds.c and seeds_memory.c. */
#ifndef FUZZ_SEED_FILE_H
#define FUZZ_SEED_FILE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct bytes {
	uint8_t data[1 << 16];
	size_t len;
};

static inline void put(struct bytes *b, const void *data, size_t len)
{
	if (len > sizeof(b->data) - b->len)
		abort();
	memcpy(b->data + b->len, data, len);
	b->len += len;
}

static inline void put_u16(struct bytes *b, size_t n)
{
	put(b, (uint8_t[]){ n & 0xff, n >> 8 }, 2);
}

/* seeds.c: as TARGET/NAME in the folder of the command line. Ends the process on failure. */
void save(const char *target, const char *name, const struct bytes *b);
/* seeds_memory.c: seeds of the targets whose input the memory of a traced process supplies. */
void save_memory(void);

#endif
