/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Base64 (RFC 4648, with padding), for bytes in JSON: report/lanes_print.c.
 */
#ifndef LIB_BASE64_H
#define LIB_BASE64_H

#include <stddef.h>

/* Bytes of the text for `len` bytes, with its final byte 0. */
#define BASE64_SIZE(len) (((len) + 2) / 3 * 4 + 1)

/* Writes BASE64_SIZE(len) bytes to `to`. */
void base64__encode(char *to, const void *data, size_t len);

#endif
