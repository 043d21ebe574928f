// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as the snapshot of a target, printed as metrics: labels, numbers and histograms. A line of
 * the output is a comment or a sample, whatever the names contain.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "metrics/metrics.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Names in the labels of the target are as untrusted. */
static void make_name(const uint8_t *data, size_t size, char name[16])
{
	size_t len = size < 15 ? size : 15;

	memcpy(name, data, len);
	name[len] = '\0';
}

static void check_lines(const char *text)
{
	const char *end;

	for (; *text; text = end + 1) {
		end = strchr(text, '\n');
		if (!end || (strncmp(text, "# ", 2) && strncmp(text, "gotrace_", 8)))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct metrics_target targets[2] = { { .pid = 1, .snapshot = data, .size = size } };
	struct error error = {};
	char name[16], *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return 0;
	make_name(data, size, name);
	targets[1] = (struct metrics_target){ 2, name, data, size / 2 };
	if (metrics__print(out, targets, 2, &error))
		abort();
	fclose(out);
	check_lines(text);
	free(text);
	return 0;
}
