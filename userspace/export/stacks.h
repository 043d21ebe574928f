/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Exports stacks of a trace, with the time that goroutines spent in them: for speedscope, and as
 * folded stacks for flame graphs.
 *
 * Upstream: profile/profile.h. Downstream: `gotrace export` and `gotrace profile --folded`.
 */
#ifndef EXPORT_STACKS_H
#define EXPORT_STACKS_H

#include "print/print.h"
#include "profile/profile.h"
#include "reader/timeline.h"

/*
 * These read the timeline to its end. 0 or a negative errno with the reason.
 *
 * Speedscope: one profile of all time by state; one of CPU samples and one of threads without a
 * CPU, if the trace has them.
 */
int stacks__speedscope(struct timeline *t, struct outbuf *out, struct error *error);
/* All time by state. */
int stacks__folded(struct timeline *t, struct outbuf *out, struct error *error);

/* One line per stack of functions: root;...;leaf VALUE. 0 or -ENOMEM. */
int stacks__print_folded(struct out *o, const struct samples *s);
/* The reason of an error of profile.h: returns `err`. */
int stacks__too_much(int err, struct error *error);

#endif
