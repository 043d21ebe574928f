// SPDX-License-Identifier: GPL-2.0
/* The option --min-duration: see min_duration.h. */
#include "min_duration.h"

#include <stddef.h>
#include <string.h>

#include "lib/opts.h"
#include "command.h"

static const char events_of_p[] =
	"the P runs other goroutines meanwhile, and a trace without these events is invalid";
static const char counted_as_cpu[] =
	"without these events the time would count as time on a CPU, of the wrong thread";
static const char are_few[] = "there are few of them";

/* Kinds of waits that are always written. */
static const struct {
	const char *name, *why;
} always[] = {
	{ "blocked", events_of_p },	{ "runnable", events_of_p }, { "offcpu", counted_as_cpu },
	{ "runqueue", counted_as_cpu }, { "stw", are_few },	     { "gc", are_few },
};

static void refuse_kind(const char *text, size_t len)
{
	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		if (strlen(always[i].name) == len && !memcmp(always[i].name, text, len))
			usage_error("invalid minimum duration '%s': waits of kind %s cannot be "
				    "left out: %s",
				    text, always[i].name, always[i].why);
	usage_error("invalid minimum duration '%s': unknown kind, expected syscall:TIME", text);
}

void min_duration__parse(const char *text, uint64_t *ret_syscall_ns)
{
	static const char kind[] = "syscall";
	const char *colon = strchr(text, ':');
	size_t len = colon ? (size_t)(colon - text) : strlen(text);
	uint64_t ns;

	if (len != strlen(kind) || memcmp(text, kind, len) != 0)
		refuse_kind(text, len);
	if (!colon || !opts__duration(colon + 1, &ns) || !ns || ns > MIN_DURATION_MAX)
		usage_error("invalid minimum duration '%s': expected a time of at most 1s, such as "
			    "syscall:1ms",
			    text);
	*ret_syscall_ns = ns;
}
