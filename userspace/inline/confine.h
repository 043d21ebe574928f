/* SPDX-License-Identifier: GPL-2.0 */
/* Takes from a process what it does not need. Each returns 0 or a negative errno. */
#ifndef INLINE_CONFINE_H
#define INLINE_CONFINE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/capability.h>

/* Standard input and output become /dev/null, and all descriptors but stderr and these (at most 16) are closed. */
int confine__keep_only(const int *fds, size_t n);
/* Requires CAP_SYS_CHROOT. */
int confine__enter_empty_root(void);
/* Also sets no_new_privs. Those of `caps` that it does not have, it does not get. */
int confine__keep_capabilities(const cap_value_t *caps, size_t n);
int confine__limit(int what, uint64_t value); /* setrlimit(2), soft and hard */

#endif
