// SPDX-License-Identifier: GPL-2.0
/* Text of another process: see printable.h. */
#include "lib/printable.h"

#include <string.h>

void printable__clean(char *text, size_t size)
{
	size_t len = strnlen(text, size - 1);

	for (size_t i = 0; i < len; i++)
		if (text[i] < ' ' || text[i] > '~')
			text[i] = '?';
	memset(text + len, 0, size - len);
}
