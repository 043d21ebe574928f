/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which known word a mistyped one is meant to be: for "did you mean" in error messages.
 */
#ifndef LIB_SUGGEST_H
#define LIB_SUGGEST_H

#include <stddef.h>

/*
 * The nearest of `n` words: at most two edits away (a character inserted, removed or replaced, two
 * swapped; one edit for words of up to three characters), or the only one that begins with `text`.
 * NULL: none is.
 */
const char *suggest__word(const char *text, const char *const *words, size_t n);

/* The number of edits; 3 or more if it is more than 2. */
unsigned int suggest__distance(const char *a, const char *b);

#endif
