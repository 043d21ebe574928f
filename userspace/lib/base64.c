// SPDX-License-Identifier: GPL-2.0
/*
 * Encodes bytes as text: see base64.h. Three bytes make four characters of 6 bits each.
 */
#include "lib/base64.h"

#include <stdint.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64__encode(char *to, const void *data, size_t len)
{
	const uint8_t *from = data;

	for (size_t i = 0; i < len; i += 3) {
		size_t n = len - i < 3 ? len - i : 3;
		uint32_t word = (uint32_t)from[i] << 16;

		word |= n > 1 ? (uint32_t)from[i + 1] << 8 : 0;
		word |= n > 2 ? from[i + 2] : 0;
		*to++ = digits[word >> 18];
		*to++ = digits[word >> 12 & 63];
		*to++ = n > 1 ? digits[word >> 6 & 63] : '=';
		*to++ = n > 2 ? digits[word & 63] : '=';
	}
	*to = 0;
}
