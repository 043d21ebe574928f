/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Why goroutines wait when a file begins: the PRIVATE_PARKED records of its first generation.
 *
 * Statuses of the trace format have no reason. Upstream: format/private_read.c. Downstream:
 * reader/semantics.c. The bytes are untrusted: what follows an invalid one in a record is ignored.
 */
#ifndef FORMAT_PARKED_READ_H
#define FORMAT_PARKED_READ_H

#include <stdint.h>

#include "format/dictionary.h"

#define PARKED_TEXTS_MAX 255 /* different reasons; further ones are ignored */

/* Reads those of a dictionary, mostly none, to its member `parked`. 0 or -ENOMEM. */
int parked_list__load(struct dictionary *dictionary);
void parked_list__deinit(struct parked_list *l);

/* The reason of a goroutine, as long as the dictionary's entries; empty: unknown. */
struct trace_string parked_list__reason(const struct parked_list *l, uint64_t goid);
/* For how many ns a goroutine had waited, at least, when the file began; 0: unknown. */
int64_t parked_list__waited(const struct parked_list *l, uint64_t goid);

#endif
