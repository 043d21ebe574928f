/* SPDX-License-Identifier: GPL-2.0 */
/* The capabilities of this thread. Downstream: the checks of inline/choose_process.c and of doctor. */
#ifndef LIB_CAPABILITY_H
#define LIB_CAPABILITY_H

#include <stdbool.h>

/* Whether a capability (number of linux/capability.h) is effective. */
bool capability__has(int cap);

#endif
