/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Takes the probes out of the target, even if the recorder is killed meanwhile. Upstream: probes.c.
 */
#ifndef CAPTURE_DETACH_H
#define CAPTURE_DETACH_H

struct bpf_link;

/*
 * Destroys `n` links and returns when the kernel has removed their breakpoints. Waits for all of
 * them at the same time, which takes 60 ms or more.
 */
void detach__links(struct bpf_link **link, unsigned int n);

#endif
