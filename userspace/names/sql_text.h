/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SQL statements without their literals, as names of requests.
 *
 * Used by request_names.c. Independent of the sequencer.
 */
#ifndef NAMES_SQL_TEXT_H
#define NAMES_SQL_TEXT_H

#include <stddef.h>

/*
 * Writes a statement of `len` bytes, which may be cut anywhere, into `ret`, with at most `size`
 * bytes and no terminating zero; what does not fit is left out. Strings and numbers become "?",
 * lists of them "?, ...", comments and white space one blank. Text in double quotes is kept only
 * where it can only be an identifier. Where dialects disagree about the end of a string or comment,
 * the name ends with "...", since what follows may be part of a literal. Returns the number of bytes.
 */
size_t sql_text__shape(const char *text, size_t len, char *ret, size_t size);

#endif
