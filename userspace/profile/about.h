/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a trace of gotrace-bpf reports about the traced program, as far as profiles have it.
 *
 * Between format/private_read.h, whose records it reads, and profile/pprof.h.
 */
#ifndef PROFILE_ABOUT_H
#define PROFILE_ABOUT_H

#include "format/dictionary.h"

#define ABOUT_TEXT_MAX 256 /* bytes; longer texts are left out */

struct about {
	char build_id[ABOUT_TEXT_MAX]; /* hexadecimal; "": not known */
	char program[ABOUT_TEXT_MAX];  /* as its command line names it; "": not known */
};

/* Takes what the dictionary of a generation has. 0 or -ENOMEM. */
int about__read(struct about *a, const struct dictionary *dictionary);

#endif
