/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by session.c, which loads and attaches, and session_programs.c, which chooses; nobody else's.
 */
#ifndef CAPTURE_SESSION_IMPL_H
#define CAPTURE_SESSION_IMPL_H

#include "capture/session.h"

struct bpf_program;
struct gotrace_bpf;

/* The program that a probe's sites run; some serve more than one probe. */
struct bpf_program *session__program_of(const struct gotrace_bpf *skel, enum gt_probe probe);
/* Whether the program has the probe's sites and the recording wants them. */
bool session__wants(const struct session_opts *opts, enum gt_probe probe);
/*
 * Of most probes the sites are alike, and the programs need not look at each one's cookie, unless
 * the compiler inlined what they stand for.
 */
bool session__has_inlined_sites(const struct site_list *sites);

#endif
