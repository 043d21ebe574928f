/* SPDX-License-Identifier: GPL-2.0 */
/*
 * UTF-8, and which characters are white space or printable according to Go's unicode package.
 *
 * Used by text/quote.c and text/text_read.c: the bytes of the text form of traces depend on it. Also the
 * columns that characters take on a terminal, for lib/log.c and print/screen.c.
 */
#ifndef LIB_UNICODE_H
#define LIB_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UTF8_MAX	    4 /* bytes per character */
#define UNICODE_REPLACEMENT 0xfffdu

/*
 * Decode the character at `p`, which has `len` > 0 bytes; returns how many bytes it takes. An
 * invalid byte counts as U+FFFD of one byte; a genuine U+FFFD takes three.
 */
size_t utf8__decode(const unsigned char *p, size_t len, uint32_t *ret);
/* How many bytes a character takes, if it is valid, by its first byte. */
size_t utf8__length(unsigned char first);
/* Write a character, at most UTF8_MAX bytes; an invalid one is written as U+FFFD. */
size_t utf8__encode(uint32_t c, unsigned char *to);

/*
 * Names chosen by a target or a trace may contain anything. Replaces, in place, what a terminal
 * could interpret as a command (C0, C1) or display in another order, and invalid UTF-8, by question
 * marks.
 */
void utf8__make_printable(char *text);

bool unicode__is_char(uint32_t c); /* neither a surrogate nor beyond U+10FFFF */
bool unicode__is_space(uint32_t c);
bool unicode__is_print(uint32_t c); /* letters, marks, numbers, punctuation, symbols, U+0020 */

/* Columns that a printable character takes on a terminal: 0 (a combining mark), 1 or 2 (wide). */
unsigned int unicode__columns(uint32_t c);
/* How many of the `len` bytes of a text fit in `columns`, with the marks of the last character. */
size_t utf8__cut(const char *text, size_t len, unsigned int columns);

#endif
