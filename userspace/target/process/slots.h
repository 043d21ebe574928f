/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The goroutine that each thread of a process runs: what the probes must know of threads without
 * hits so far (gotrace/slot.h).
 */
#ifndef TARGET_SLOTS_H
#define TARGET_SLOTS_H

#include <stddef.h>
#include <stdint.h>

#include "gotrace/slot.h"
#include "target/layout/layout.h"
#include "target/process/process.h"

struct thread_slot {
	uint32_t tid; /* in our PID namespace */
	struct gt_slot slot;
};

/*
 * Reads the slots of the threads that run a goroutine, into memory that the caller frees. Each
 * goroutine was on its thread at a moment during the call. 0 or a negative errno, as
 * snapshot__read(); *ret is not written on failure. A process whose runtime is not up has none.
 */
int process__read_slots(const struct process *proc, const struct layout *layout,
			struct thread_slot **ret, size_t *ret_n);

#endif
