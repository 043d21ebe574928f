/* SPDX-License-Identifier: GPL-2.0 */
/* What the start function of a goroutine says about it. */
#ifndef FORMAT_START_H
#define FORMAT_START_H

#include <stdbool.h>

#include "format/dictionary.h"

/*
 * Whether the runtime starts goroutines with this function for itself. Not those of the program: its
 * first one, coroutines, and those that C threads enter. (As isSystemGoroutine() in
 * runtime/traceback.go, where the last ones have no start function.) An empty name is unknown: false.
 */
bool start__is_runtimes(struct trace_string function);

#endif
