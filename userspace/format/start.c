// SPDX-License-Identifier: GPL-2.0
/* See start.h. */
#include "format/start.h"

bool start__is_runtimes(struct trace_string function)
{
	static const char *const programs[] = { "runtime.main", "runtime.corostart",
						"runtime.handleAsyncEvent", "runtime.cgocallback" };

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		if (trace_string__equals(function, programs[i]))
			return false;
	return trace_string__begins(function, "runtime.");
}
