/* SPDX-License-Identifier: GPL-2.0 */
/* Variables and structs of a Go runtime in the memory that fuzz_snapshot.c reads. */
#ifndef FUZZ_RUNTIME_H
#define FUZZ_RUNTIME_H

#include <stdint.h>

#define FUZZ_PID 7 /* of the process, and the TID of its main thread */

struct fuzz_g {
	uint64_t stack_lo, stack_hi, m, goid, startpc, parent, sp, bp;
	uint32_t status;
	uint8_t wait_reason, pad[3];
	uint64_t end; /* reads of a member at the end have 8 bytes */
};

/* Not larger than LIST_BLOCK, and alllink is word LIST_LINK. */
struct fuzz_m {
	uint64_t g0, procid, curg, p, oldp, alllink, skip;
	uint8_t block_reason, pad[7];
};

struct fuzz_p {
	uint64_t m, gc_mode;
	uint32_t id, status;
	uint64_t end;
};

/* The globals, at the begin of the memory. */
struct fuzz_runtime {
	uint64_t allglen, allgptr, allp[3], allm, gomaxprocs;
};

#endif
