// SPDX-License-Identifier: GPL-2.0
/*
 * Arbitrary bytes as a configuration file. Each name and value is in the text, not empty, and without
 * blanks around it; lines ascend; a failure has a reason and a line.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "service/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct text {
	const char *start, *end;
	unsigned int line;
};

static void require(bool so)
{
	if (!so)
		abort();
}

static void look_at(const struct text *text, const char *word)
{
	size_t len = strlen(word);

	require(len && word >= text->start && word + len <= text->end);
	require(!strchr(" \t", word[0]) && !strchr(" \t", word[len - 1]));
}

static int note_line(void *ctx, unsigned int line, const char *name, const char *value)
{
	struct text *text = ctx;

	require(line > text->line);
	text->line = line;
	look_at(text, name);
	look_at(text, value);
	return strcmp(name, "stop") ? 0 : -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = malloc(size + 1);
	struct text text = { copy, copy + size, 0 };
	struct error error = {};
	unsigned int line = 0;
	int err;

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	err = config__split(copy, size, note_line, &text, &line, &error);
	require(err ? line >= 1 && (err == -1 || error.text[0]) : !error.text[0]);
	free(copy);
	return 0;
}
