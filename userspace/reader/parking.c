// SPDX-License-Identifier: GPL-2.0
/* Why goroutines wait, and what ends that: see parking.h. */
#include "reader/parking.h"

#include <string.h>

#define INFERRED   " (inferred)"
#define PARK	   "runtime.gopark" /* the innermost function of each goroutine that is parked */
#define FRAMES_MAX 4		    /* from there to the function that parks for one reason */
#define POLL	   "internal/poll." /* of functions that end waits for the network */
#define SYSTEM	   "runtime.systemstack_switch" /* calls those that start the world */

/* Those that call gopark() and goparkunlock() in the sources of Go 1.21 to 1.27. */
static const struct {
	const char *function, *reason;
} parking[] = {
	{ "runtime.chanrecv", "chan receive" INFERRED },
	{ "runtime.selectgo", "select" INFERRED },
	{ "runtime.netpollblock", "network" INFERRED },
	{ "runtime.semacquire1", "sync" INFERRED },
	{ "time.Sleep", "sleep" INFERRED },
	{ "sync.runtime_notifyListWait", "sync.(*Cond).Wait" INFERRED },
	{ "runtime.chansend", "chan send" INFERRED },
	{ "runtime.block", "forever" INFERRED },
	{ "runtime.gcBgMarkWorker", "system goroutine wait" INFERRED },
	{ "runtime.bgsweep", "GC background sweeper wait" INFERRED },
	{ "runtime.forcegchelper", "system goroutine wait" INFERRED },
	{ "runtime.(*scavengerState).park", "system goroutine wait" INFERRED },
	{ "runtime.(*scavengerState).sleep", "sleep" INFERRED },
	{ "runtime.runfinq", "system goroutine wait" INFERRED },
	{ "runtime.runFinalizers", "system goroutine wait" INFERRED },
	{ "runtime.(*cleanupQueue).dequeue", "system goroutine wait" INFERRED },
	{ "runtime.gcParkAssist", "GC mark assist wait for work" INFERRED },
	{ "runtime.gcWaitOnMark", "wait until GC ends" INFERRED },
	{ "runtime.gcParkStrongFromWeak", "GC weak to strong wait" INFERRED },
	{ "runtime.updateMaxProcsGoroutine", "system goroutine wait" INFERRED },
	{ "runtime.ReadTrace", "system goroutine wait" INFERRED },
	{ "internal/synctest.Run", "synctest" INFERRED },
	{ "internal/synctest.Wait", "synctest" INFERRED },
};

static bool is_function(const struct dictionary *d, uint64_t stack, size_t frame, const char *name)
{
	struct trace_string have;

	return dictionary__string(d, dictionary__frame(d, stack, frame)->func, &have) &&
	       trace_string__equals(have, name);
}

struct trace_string parking__reason(const struct dictionary *d, uint64_t stack)
{
	size_t n = dictionary__frames(d, stack);

	if (!n || !is_function(d, stack, 0, PARK))
		return (struct trace_string){};
	for (size_t f = 1; f < n && f < FRAMES_MAX; f++)
		for (size_t i = 0; i < sizeof(parking) / sizeof(*parking); i++)
			if (is_function(d, stack, f, parking[i].function))
				return (struct trace_string){ parking[i].reason,
							      strlen(parking[i].reason) };
	return (struct trace_string){};
}

bool parking__is(struct trace_string reason, const char *name)
{
	return trace_string__begins(reason, name) &&
	       (reason.len == strlen(name) ||
		trace_string__equals((struct trace_string){ reason.data + strlen(name),
							    reason.len - (uint32_t)strlen(name) },
				     INFERRED));
}

/* Its innermost function begins with `text`. */
static bool is_in(const struct dictionary *d, uint64_t stack, const char *text)
{
	struct trace_string name;

	return dictionary__frames(d, stack) &&
	       dictionary__string(d, dictionary__frame(d, stack, 0)->func, &name) &&
	       trace_string__begins(name, text);
}

bool parking__ended_by_goroutine(const struct trace_event *ev, uint64_t stack,
				 struct trace_string reason)
{
	if (ev->g == TRACE_NO_G || parking__is(reason, "sleep"))
		return false;
	if (!reason.len)
		return !is_in(ev->dictionary, stack, SYSTEM);
	return !parking__is(reason, "network") || is_in(ev->dictionary, stack, POLL);
}
