/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files of `gotrace alloc`: alloc.c reads the trace, alloc_print.c prints the result.
 */
#ifndef VIEWS_ALLOC_H
#define VIEWS_ALLOC_H

#include "gotrace/annotations.h"
#include "heap/heap.h"

struct alloc_report {
	const struct heap *heap;
	const struct analysed_time *time;
	enum heap_key by;
	size_t rows; /* number to print */
};

extern const char *const alloc_keys[HEAP_KEYS]; /* values of --by */

/* Print to stdout. */
void alloc__print_table(const struct alloc_report *r);
void alloc__print_json(const struct alloc_report *r);

#endif
