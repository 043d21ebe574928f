/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Opens files that become code of this process, such as libraries: no other user can have changed
 * them.
 */
#ifndef SQL_TRUSTED_H
#define SQL_TRUSTED_H

#include "lib/error.h"

/*
 * A descriptor for reading, close-on-exec. Symbolic links of the path are resolved first. The file and
 * all folders above it must belong to root or to us, and no other user may write to them; in a folder with
 * the sticky bit, others cannot replace what is ours. -EPERM: that is not so; -EINVAL: not a regular
 * file; or another negative errno; with the reason.
 */
int trusted__open(const char *path, struct error *error);

#endif
