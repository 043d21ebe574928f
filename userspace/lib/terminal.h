/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a terminal can do, and what its user wants: used wherever escape sequences are written.
 */
#ifndef LIB_TERMINAL_H
#define LIB_TERMINAL_H

#include <stdbool.h>

/* Whether `fd` is a terminal on which a line can be overwritten; not one with TERM=dumb. */
bool terminal__can_redraw(int fd);
/*
 * Whether text on `fd` may be emphasized: if it is a terminal, unless the environment variable
 * NO_COLOR is set and not empty (no-color.org), and not with TERM=dumb. terminal__set_color() takes
 * precedence.
 */
bool terminal__has_color(int fd);
bool terminal__set_color(const char *when); /* "auto", "always", "never"; false: another text */
/* The number of columns; 80 if the terminal does not report it. */
unsigned int terminal__columns(int fd);

#endif
