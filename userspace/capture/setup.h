/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The setup of a recording that both recorders share: recorder.c, which drains the rings, and
 * blackbox_record.c, whose rings overwrite their oldest records.
 *
 * Upstream: gotrace-bpf/recording.c, with the analysis of the program. Downstream: probes.c.
 */
#ifndef CAPTURE_SETUP_H
#define CAPTURE_SETUP_H

#include <stdint.h>

#include "capture/probes.h"
#include "capture/recorder.h"
#include "rawfile/rawfile.h"

struct csymbols;
struct hits;
struct modules_symbols;
struct inline_probes;

/* The options of the probes. `is_inline`: bits, by enum gt_probe, of those that are inline. */
struct probes_opts setup__probes(const struct recorder_opts *opts, uint64_t is_inline);
/*
 * Measures what a trap takes on this machine, for the times of derived events. *ret goes on
 * measuring (capture/hits.h); NULL: that is not possible here.
 */
void setup__measure(struct probes_opts *opts, struct hits **ret);
/*
 * Checks that the program's code in memory is that of the analysed file, and attaches the probes.
 * On failure, a negative errno and the reason, some may be attached.
 */
int setup__attach(const struct recorder_opts *opts, struct probes *probes,
		  struct inline_probes *inl, struct error *error);
/*
 * Adds the plugins of opts->modules, from number `first` on, to the probes: they are attached by the next
 * attach, or with `now` by this call. One that cannot be recorded is named in a message, and does not fail
 * the recording. `why`: a reason for all of them; NULL: none.
 */
void setup__plugins(const struct recorder_opts *opts, struct probes *probes, size_t first, bool now,
		    const char *why);
/* Names the files with a Go runtime of their own that the process has loaded since the analysis or the last call. */
void setup__libraries(const struct recorder_opts *opts);
/* Returns -ESRCH, with the reason that the process executed another program. */
int setup__replaced(const struct recorder_opts *opts, struct error *error);
/* The header of the raw file, for a window that starts at t0 (CLOCK_MONOTONIC, ns). */
void setup__facts(const struct recorder_opts *opts, const struct probes *probes, uint64_t t0,
		  struct raw_header *ret);
/*
 * The symbolizer for Go code, with plugins, and C code. The caller releases the results with
 * csymbols__destroy() and then free(). NULL: out of memory, and *ret names other code only.
 */
struct csymbols *setup__symbols(const struct recorder_opts *opts, struct symbolizer *ret,
				struct modules_symbols **ret_plugins);
/*
 * A signalfd for the signals that end a recording, which must be blocked; the caller closes it. A
 * negative errno and the reason on failure.
 */
int setup__signals(struct error *error);
/* Adds SIGUSR1, which asks a flight recorder for a snapshot, to that signalfd. As above. */
int setup__snapshot_signal(int fd, struct error *error);

#endif
