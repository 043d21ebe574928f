/* SPDX-License-Identifier: GPL-2.0 */
/* Where the memory of memory.h is, and the first bytes of an input that has one. */
#ifndef FUZZ_MEMORY_INPUT_H
#define FUZZ_MEMORY_INPUT_H

#include <stdint.h>

#define MEMORY 0x1000ull
#define LIST_MS                                                                                    \
	0x10000000ull /* `ms` blocks of LIST_BLOCK bytes; word LIST_LINK leads to the next */
#define LIST_PS	   0x20000000ull /* `ps` words: `p` */
#define LIST_BLOCK 64
#define LIST_LINK  5
#define LIST_MAX   1024
#define READS_MAX  4096

/* The first bytes of an input. */
struct memory_input {
	uint16_t reads;	 /* until the process ends; 0: READS_MAX */
	uint16_t ms, ps; /* entries of the lists */
	uint16_t after;	 /* reads, until `value` is written; 0: it is not */
	uint64_t at;	 /* where */
	uint64_t value;
	uint64_t p;
};

#endif
