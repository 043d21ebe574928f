/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A time range of a trace as a trace of its own, in an unnamed file.
 *
 * Used by gotrace export and gotrace view, whose part begins with the state of that time. Upstream:
 * gotrace/rewriting.h, which reads from the index of the trace if there is one.
 */
#ifndef VIEWS_PART_H
#define VIEWS_PART_H

#include "gotrace/rewriting.h"

/*
 * Writes the part of in->path from in->from to in->to, as `gotrace cut` does. Returns a descriptor at
 * the start of the part, or a negative errno with the reason.
 */
int part__cut(const struct trace_args *in, struct error *error);

#endif
