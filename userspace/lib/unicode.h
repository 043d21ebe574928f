/* SPDX-License-Identifier: GPL-2.0 */
/*
 * UTF-8, and which characters are white space or can be printed, as Go's unicode package has it.
 *
 * Asked by trace/quote.c and trace/text_read.c, which write and read the text form of traces: there
 * Go's opinion on each character decides what the bytes are.
 */
#ifndef LIB_UNICODE_H
#define LIB_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UTF8_MAX	    4 /* bytes of a character */
#define UNICODE_REPLACEMENT 0xfffdu

/*
 * The character at `p`, which has `len` > 0 bytes, into *ret; returns how many bytes it takes. What
 * is no well-formed character is one of one byte, U+FFFD; a true U+FFFD takes three.
 */
size_t utf8__decode(const unsigned char *p, size_t len, uint32_t *ret);
/* Writes a character, at most UTF8_MAX bytes; one that is none is written as U+FFFD. */
size_t utf8__encode(uint32_t c, unsigned char *to);

/*
 * For a terminal: a name that a target or a trace chose may hold anything. What a terminal could
 * take for a command (C0, C1), or show in another order than it is written, and what is no UTF-8
 * becomes a question mark, in place.
 */
void utf8__make_printable(char *text);

bool unicode__is_char(uint32_t c); /* neither half a surrogate pair nor beyond U+10FFFF */
bool unicode__is_space(uint32_t c);
bool unicode__is_print(uint32_t c); /* letters, marks, numbers, punctuation, symbols, U+0020 */

#endif
