/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads of a target's memory that may block.
 *
 * A read faults pages in. The provider of such a page, a userfaultfd handler or a FUSE file
 * system, may never answer; then only SIGKILL ends the wait. So all functions that read a target's
 * memory (process__check_layout(), text__check(), snapshot__read()) run in a thread of their own,
 * which is abandoned when one of its reads blocks: the caller goes on without the result, and the
 * thread ends with this process.
 */
#ifndef TARGET_READER_H
#define TARGET_READER_H

#include <sys/types.h>
#include <sys/uio.h>

#include "lib/error.h"

#define READER_PATIENCE_MS 5000 /* for one read: a swapped page of a busy machine takes long, too */
#define READER_SIGNAL_MS   200	/* the same when SIGINT, SIGTERM or SIGHUP is pending */

typedef int (*reader_fn)(void *ctx);

/*
 * Calls `fn` in a thread with a copy of *ctx (`size` bytes), which is copied back when it has
 * returned. Meanwhile calls `between` (NULL: nothing) every few milliseconds in the caller's
 * thread. Returns what fn returned, or the errno of `between`. -ETIMEDOUT or -EINTR: one of its
 * reads blocks, so fn does not return and *ctx is as before.
 */
int reader__run(reader_fn fn, void *ctx, size_t size, int (*between)(void *), void *between_ctx);
/* The reason for -ETIMEDOUT and -EINTR, which it returns. */
int reader__blocked(int code, pid_t pid, struct error *err);

/* process_vm_readv(), which is all that fn may wait for. */
ssize_t reader__vm_read(pid_t pid, const struct iovec *local, const struct iovec *remote, size_t n);

#endif
