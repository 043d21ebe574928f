/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The commands of gotrace-bpf: one function per verb, each in a file of its own. main.c has their
 * table; lib/command.h describes the arguments and results of a verb.
 */
#ifndef COMMAND_H
#define COMMAND_H

#include <stdbool.h>

#include "format/spec.h"
#include "lib/command.h"
#include "lib/error.h"
#include "lib/verbs.h"

#define DECLARE(verb, ...) int do_##verb(int argc, char **argv, struct error *error);
RECORDER_VERBS(DECLARE)
#undef DECLARE

/*
 * Options that several verbs have. --raw is the former name of --save-input, and is kept as an
 * alias that --help does not list.
 */
#define OPT_SAVE_INPUT 0x1001
#define SAVE_INPUT_OPTION                                                                          \
	{ "save-input", OPT_SAVE_INPUT, "FILE", 0, "also save the records, for 'replay'", 0 },     \
		{ "raw", OPT_SAVE_INPUT, "FILE", OPTION_HIDDEN, NULL, 0 }
#define VERBOSE_OPTION                                                                             \
	{ "verbose", 'v', NULL, 0, "print more, also the kernel's log of rejected programs", 0 }
#define FORMAT_HELP                                                                                \
	"first Go release that can read the trace (default: one that the program's release reads)"

/* The PID that the command line gives, or that of the only process of this name (named.h). */
int parse_pid(const char *text);
/* Digits only: an operand that is taken as a PID. */
bool is_number(const char *text);

#endif
