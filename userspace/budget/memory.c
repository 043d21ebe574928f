// SPDX-License-Identifier: GPL-2.0
/*
 * Memory use of this process: see memory.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "budget/memory.h"

/* A line of /proc/self/status, in bytes. */
static uint64_t status_bytes(const char *name)
{
	FILE *f = fopen("/proc/self/status", "re");
	uint64_t kb = 0;
	char line[128];

	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, name, strlen(name)))
			kb = strtoull(line + strlen(name), NULL, 10);
	fclose(f);
	return kb << 10;
}

void memory__sample(uint64_t *peak)
{
	uint64_t now = status_bytes("RssAnon:") + status_bytes("RssShmem:");

	if (now > *peak)
		*peak = now;
}

void memory__begin(void)
{
	FILE *f = fopen("/proc/self/clear_refs", "we");

	if (!f)
		return;
	fputs("5", f); /* resets the high-water mark only */
	fclose(f);
}

void memory__peak(uint64_t *peak)
{
	uint64_t most = status_bytes("VmHWM:");
	uint64_t file = status_bytes("RssFile:");

	if (most > file && most - file > *peak)
		*peak = most - file;
}
