/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files of `gotrace profile`: profile.c reads the trace, profile_print.c prints its
 * samples as a table. export/stacks.h prints folded stacks.
 */
#ifndef GOTRACE_PROFILE_H
#define GOTRACE_PROFILE_H

#include "profile/profile.h"

/*
 * Print to stdout. 0 or -ENOMEM. `top`: the functions to print; 0: all.
 */
int profile__print_table(const struct samples *s, const struct profile_names *names, uint64_t top);

#endif
