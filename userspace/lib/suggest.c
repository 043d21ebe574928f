// SPDX-License-Identifier: GPL-2.0
/*
 * Suggestions for mistyped words: see suggest.h.
 *
 * The distance is the optimal string alignment distance, computed row by row. Words of more than
 * WORD_MAX bytes are distant from all others.
 */
#include <string.h>

#include "lib/suggest.h"

#define WORD_MAX 64
#define FAR	 3 /* edits */

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

unsigned int suggest__distance(const char *a, const char *b)
{
	size_t la = strlen(a), lb = strlen(b), i, j;
	unsigned int row[3][WORD_MAX + 1], *now, *before, *earlier;

	if (la > WORD_MAX || lb > WORD_MAX)
		return FAR;
	for (j = 0; j <= lb; j++)
		row[0][j] = (unsigned int)j;
	for (i = 1; i <= la; i++) {
		now = row[i % 3];
		before = row[(i + 2) % 3];
		earlier = row[(i + 1) % 3];
		now[0] = (unsigned int)i;
		for (j = 1; j <= lb; j++) {
			now[j] = least(before[j], now[j - 1]) + 1;
			now[j] = least(now[j], before[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				now[j] = least(now[j], earlier[j - 2] + 1);
		}
	}
	return row[la % 3][lb];
}

const char *suggest__word(const char *text, const char *const *words, size_t n)
{
	size_t len = strlen(text), begun = 0, i;
	unsigned int best = len <= 3 ? 1 : 2, distance;
	const char *nearest = NULL, *longer = NULL;

	for (i = 0; i < n; i++) {
		distance = suggest__distance(text, words[i]);
		if (distance < best || (distance == best && !nearest)) {
			best = distance;
			nearest = words[i];
		}
		if (len >= 2 && !strncmp(words[i], text, len)) {
			longer = words[i];
			begun++;
		}
	}
	return nearest ? nearest : begun == 1 ? longer : NULL;
}
