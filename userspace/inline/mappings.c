// SPDX-License-Identifier: GPL-2.0
/* See mappings.h. The names, which the process chooses, are skipped, however long they are. */
#include "inline/mappings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "target/process/proc.h"

int mappings__each(pid_t pid, int (*fn)(void *ctx, const struct mapping *mapping), void *ctx)
{
	char path[64], line[256];
	struct mapping m;
	bool whole = true, begins;
	unsigned int lines = 0;
	int ret = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = proc__fopen(path);
	if (!f)
		return -errno;
	while (!ret && lines < MAPPINGS_MAX && fgets(line, sizeof(line), f)) {
		begins = whole;
		whole = strchr(line, '\n');
		if (!begins)
			continue;
		lines++;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %15s %" SCNu64, &m.start,
			   &m.end, m.perms, &m.offset, m.dev, &m.inode) == 6)
			ret = fn(ctx, &m);
	}
	fclose(f);
	return ret;
}
