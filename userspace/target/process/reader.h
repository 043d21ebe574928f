/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads of a target's memory that may block.
 *
 * Downstream: live.c, snapshot.c, text.c. A read faults pages in. The provider of such a page, a
 * userfaultfd handler or a FUSE file system, may never answer; then only SIGKILL ends the wait. So
 * all functions that read a target's memory (process__check_layout(), text__check(),
 * snapshot__read()) run in a separate thread. If one of its reads blocks, the thread is abandoned:
 * the caller continues without the result, and the thread ends with this process.
 */
#ifndef TARGET_READER_H
#define TARGET_READER_H

#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "lib/error.h"

#define READER_PATIENCE_MS 5000 /* ms, for one read; swapping on a busy machine is slow */
#define READER_SIGNAL_MS   200	/* ms, if SIGINT, SIGTERM or SIGHUP is pending */

typedef int (*reader_fn)(void *ctx);

/*
 * Calls `fn` in a thread with a copy of *ctx (`size` bytes), which is copied back after it has
 * returned. Meanwhile calls `between` (NULL: nothing) every few milliseconds in the caller's
 * thread. Returns the result of fn, or the errno of `between`. -ETIMEDOUT or -EINTR: a read blocks,
 * so fn does not return and *ctx is unchanged.
 */
int reader__run(reader_fn fn, void *ctx, size_t size, int (*between)(void *), void *between_ctx);
/* Sets the message for -ETIMEDOUT and -EINTR, which it returns. */
int reader__blocked(int err, pid_t pid, struct error *error);

/* process_vm_readv(), the only call of fn that may block. */
ssize_t reader__vm_read(pid_t pid, const struct iovec *local, const struct iovec *remote, size_t n);

#endif
