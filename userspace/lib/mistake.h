/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reports an option that getopt rejected, in one line.
 *
 * getopt's own message does not mention --help, and argp adds a second line. Commands are
 * therefore parsed without messages (COMMAND_FLAGS of command.h), and command__key() calls this
 * function.
 */
#ifndef LIB_MISTAKE_H
#define LIB_MISTAKE_H

struct argp_state;

/* For ARGP_KEY_ERROR: find the mistake and report it with usage_error(). */
_Noreturn void mistake__report(const struct argp_state *state);

#endif
