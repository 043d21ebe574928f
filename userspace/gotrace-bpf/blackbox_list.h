/* SPDX-License-Identifier: GPL-2.0 */
/*
 * gotrace-bpf recover --list: the existing flight recorder buffers. Upstream: capture/kmod.h.
 */
#ifndef BLACKBOX_LIST_H
#define BLACKBOX_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/error.h"

struct kmod;

/* Formats a duration into `text`, which is returned: "4.2 s", "17 min". */
const char *blackbox__span(uint64_t ns, char *text, size_t size);
/* Prints the list to stdout, as a table or as JSON. */
int blackbox__list(struct kmod *kmod, bool json, struct error *error);
/*
 * The PID of the process that has the buffer open; 0: none, or unknown. *ret_ended: its recording
 * has ended.
 */
int blackbox__owner(struct kmod *kmod, const char *name, bool *ret_ended);

#endif
