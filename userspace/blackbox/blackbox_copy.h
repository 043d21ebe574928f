/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A copy of a flight recorder buffer while it records: consistent, although the probes overwrite
 * its oldest records during the copy.
 *
 * Upstream: the module's memory (gotrace/uapi.h). Downstream: blackbox__read(), to which the copy is
 * the memory of a frozen session.
 */
#ifndef BLACKBOX_BLACKBOX_COPY_H
#define BLACKBOX_BLACKBOX_COPY_H

#include <stddef.h>
#include <stdint.h>

struct blackbox_copy {
	void *memory; /* NULL: none */
	size_t bytes;
};

/*
 * Copies the `bytes` of a mapped session, which is trusted like the kernel. The copy is frozen at
 * `time` (CLOCK_MONOTONIC, ns), unless the session is frozen itself: so all records with an earlier
 * time must have been reserved by now. Sub-buffers that are overwritten during the copy are invalid
 * in it; one in which a writer stays for 100 ms is incomplete. 0, -EPROTO: another layout, or
 * -ENOMEM. blackbox_copy__free() *ret.
 */
int blackbox_copy__take(struct blackbox_copy *ret, const void *memory, size_t bytes, uint64_t time);
void blackbox_copy__free(struct blackbox_copy *c); /* zeroed allowed */

#endif
