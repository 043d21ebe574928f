/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is known about the files of selected programs: whether they are Go programs, and, if
 * recordings of a file have failed, when another process of it may be recorded.
 *
 * A table of constant size: a new entry may replace that of another file. Used by gotrace-bpf/targets.c.
 */
#ifndef SELECTION_PROGRAM_FILES_H
#define SELECTION_PROGRAM_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Identifies the contents of a file, unless its owner resets the time of modification. */
struct program_file {
	uint64_t dev, ino, size, modified; /* ns */
};

struct program_entry {
	struct program_file file;
	bool not_go;
	bool reported; /* why it cannot be recorded */
	unsigned int
		failures; /* recordings that failed or were too short, since one that was not */
	uint64_t retry;	  /* CLOCK_MONOTONIC, ns: not before this time */
};

struct program_files;

struct program_files *program_files__create(void); /* NULL: no memory */
void program_files__destroy(struct program_files *t);

/* The file of the program that a process runs, without waiting for its file system. False: none. */
bool program_file__of_process(pid_t pid, struct program_file *ret);
/* The entry of a file, a new one if there is none. Valid until the next call. */
struct program_entry *program_files__get(struct program_files *t, const struct program_file *file);
/* Another recording has failed, or ended before it began. The third and further ones are delayed. */
void program_entry__failed(struct program_entry *e, uint64_t now);
void program_entry__recorded(struct program_entry *e);

#endif
