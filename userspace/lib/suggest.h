/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Suggestions for mistyped words: the "did you mean" of error messages.
 */
#ifndef LIB_SUGGEST_H
#define LIB_SUGGEST_H

#include <stddef.h>

/*
 * The nearest of `n` words, at most two edits away (a character inserted, removed or replaced, or
 * two swapped; one edit for words of up to three characters), or the only one that begins with
 * `text`. NULL: none.
 */
const char *suggest__word(const char *text, const char *const *words, size_t n);

/* The number of edits, exact up to 2; 3 or more otherwise. */
unsigned int suggest__distance(const char *a, const char *b);

#endif
