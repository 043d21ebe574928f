/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is wrong with an option of a command line that getopt refused, in one line.
 *
 * getopt's own line does not say where the options are listed, and argp adds a second one. So verbs
 * are parsed without messages (COMMAND_FLAGS of command.h), and command__key() asks here.
 */
#ifndef LIB_MISTAKE_H
#define LIB_MISTAKE_H

struct argp_state;

/* For ARGP_KEY_ERROR: finds the word and ends in usage_error(). */
_Noreturn void mistake__report(const struct argp_state *state);

#endif
