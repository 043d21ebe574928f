/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Text that another process has written: it may not be terminated, and nothing in it may affect a
 * terminal or a line.
 */
#ifndef LIB_PRINTABLE_H
#define LIB_PRINTABLE_H

#include <stddef.h>

/*
 * Ends the text within its `size` bytes, the last of which is not part of it, replaces what is not
 * printable ASCII with '?', and clears what follows it.
 */
void printable__clean(char *text, size_t size);

#endif
