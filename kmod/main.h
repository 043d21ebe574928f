/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KMOD_MAIN_H
#define KMOD_MAIN_H

#include <linux/types.h>

/* Whether BPF programs can call the module's functions. Any context. */
bool main__has_kfuncs(void);

#endif
