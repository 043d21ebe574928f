/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is recorded, as both recorders need it: recorder.c, which empties the rings, and
 * blackbox_record.c, which lets them go round.
 *
 * Before it: gotrace-bpf/recording.c, with the analysis. After it: session.c.
 */
#ifndef CAPTURE_SUBJECT_H
#define CAPTURE_SUBJECT_H

#include <stdint.h>

#include "capture/rawfile.h"
#include "capture/recorder.h"
#include "capture/session.h"

struct csymbols;

struct session_opts subject__session(const struct recorder_opts *opts);
/*
 * Puts the probes in, once the program's code was found to be what it was analysed as. Half attached on
 * failure: a negative errno and the reason.
 */
int subject__attach(const struct recorder_opts *opts, struct session *session, struct error *err);
/* -ESRCH, and that it executed another program meanwhile. */
int subject__replaced(const struct recorder_opts *opts, struct error *err);
/* For a window that begins at t0, CLOCK_MONOTONIC. */
void subject__facts(const struct recorder_opts *opts, uint64_t t0, struct raw_header *ret);
/* Go's symbols and C's; NULL: without memory for it C code has no names. csymbols__destroy() it. */
struct csymbols *subject__symbols(const struct recorder_opts *opts, struct symbolizer *ret);
/*
 * A descriptor that tells of the signals that end a recording, which must be blocked; the caller
 * closes it. A negative errno and the reason.
 */
int subject__signals(struct error *err);

#endif
