/* SPDX-License-Identifier: GPL-2.0 */
/*
 * gotrace-bpf recover --list: the black boxes that there are.
 */
#ifndef BLACKBOX_LIST_H
#define BLACKBOX_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/error.h"

struct kmod;

/* A length of time into `text`, which is returned: "4.2 s", "17 min". */
const char *blackbox__span(uint64_t ns, char *text, size_t size);
/* To stdout, as a table or as JSON. */
int blackbox__list(struct kmod *kmod, bool json, struct error *err);
/*
 * The PID of who has it open; 0: nobody, or it is not known. *ret_ended: nobody records into it any
 * more.
 */
int blackbox__owner(struct kmod *kmod, const char *name, bool *ret_ended);

#endif
