/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The commands of gotrace-bpf: one function a verb, one file each. main.c has their table;
 * lib/command.h says what a verb gets and returns.
 */
#ifndef COMMAND_H
#define COMMAND_H

#include <stdbool.h>

#include "lib/command.h"
#include "lib/error.h"

int do_record(int argc, char **argv, struct error *err);
int do_sequence(int argc, char **argv, struct error *err);
int do_recover(int argc, char **argv, struct error *err);
int do_probes(int argc, char **argv, struct error *err);
int do_doctor(int argc, char **argv, struct error *err);

/* The PID that the command line gives, or that of the only process of this name (named.h). */
int parse_pid(const char *text);
/* Digits only, as an operand that is meant as a PID. */
bool is_number(const char *text);

#endif
