/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a trace of gotrace-bpf reports about the traced program, as far as profiles and the metadata of uploads have it.
 *
 * Between format/private_read.h, whose records it reads, profile/pprof.h and ship/facts.h.
 */
#ifndef PROFILE_ABOUT_H
#define PROFILE_ABOUT_H

#include "format/dictionary.h"

#define ABOUT_TEXT_MAX 256 /* bytes; longer texts are left out */

struct about {
	char build_id[ABOUT_TEXT_MAX];	 /* hexadecimal; "": not known */
	char program[ABOUT_TEXT_MAX];	 /* as its command line names it; "": not known */
	char go_version[ABOUT_TEXT_MAX]; /* "go1.26.8"; "": not known */
	char tool[ABOUT_TEXT_MAX];	 /* the recorder: "gotrace-bpf 0.1"; "": not known */
};

/* Takes what the dictionary of a generation has. 0 or -ENOMEM. */
int about__read(struct about *a, const struct dictionary *dictionary);

#endif
