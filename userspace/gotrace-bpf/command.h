/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The commands of gotrace-bpf: one function a verb, one file each. main.c has their table;
 * lib/command.h says what a verb gets and returns.
 */
#ifndef COMMAND_H
#define COMMAND_H

#include "lib/command.h"
#include "lib/error.h"

int do_record(int argc, char **argv, struct error *err);
int do_sequence(int argc, char **argv, struct error *err);
int do_recover(int argc, char **argv, struct error *err);
int do_probes(int argc, char **argv, struct error *err);
int do_doctor(int argc, char **argv, struct error *err);

/* A PID of the command line; not one: usage_error(). */
int parse_pid(const char *text);

#endif
