// SPDX-License-Identifier: GPL-2.0
/* Any bytes behind the header of a trace of Go 1.5 to 1.21, or behind that of seed 004. */
#include <string.h>

#include "read.h"

#define HEADER 16 /* bytes, of all but "gotrace" with its NUL */

static const char *const headers[] = {
	"go 1.5 trace",	 "go 1.7 trace",  "go 1.8 trace",  "go 1.9 trace", "go 1.10 trace",
	"go 1.11 trace", "go 1.19 trace", "go 1.21 trace", "gotrace",
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char header[HEADER] = {};
	size_t len = HEADER;
	uint8_t *trace;
	unsigned int i;

	if (size >= 2 && !memcmp(data, "go", 2)) { /* it has one: a seed */
		read_both_ways(data, size);
		return 0;
	}
	if (!size)
		return 0;
	i = data[0] % (sizeof(headers) / sizeof(*headers));
	memcpy(header, headers[i], strlen(headers[i]));
	if (!strcmp(header, "gotrace"))
		len = sizeof("gotrace");
	trace = malloc(len + size - 1);
	memcpy(trace, header, len);
	memcpy(trace + len, data + 1, size - 1);
	read_both_ways(trace, len + size - 1);
	free(trace);
	return 0;
}
