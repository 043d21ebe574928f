/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by csymbols.c (finds the file of a PC), csymbols_func.c (its functions) and
 * csymbols_line.c (its lines).
 */
#ifndef TARGET_CSYMBOLS_IMPL_H
#define TARGET_CSYMBOLS_IMPL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "target/elf/elf.h"

#define CSYM_FILE_MAX 256

/* The functions of one file by address, from its symbol table. NULL: none, or no memory. */
struct cfuncs;
struct cfuncs *cfuncs__create(const struct elf_image *elf);
void cfuncs__destroy(struct cfuncs *f);
/* The name of the function at a link-time address, *ret_len bytes without NUL; NULL: none. */
const char *cfuncs__find(const struct cfuncs *f, uint64_t addr, size_t *ret_len);

/* A child process that reads the DWARF of one file. */
struct cline_reader {
	pid_t pid; /* 0: none, or ended */
	int fd;	   /* a socket to it */
};

struct cline {
	uint32_t line; /* 0: unknown */
	char file[CSYM_FILE_MAX];
};

/* Starts it for the file of `fd`. Cannot fail: without a child process all lines are unknown. */
void cline_reader__start(struct cline_reader *r, int fd);
void cline_reader__stop(struct cline_reader *r);
/* Looks up a line. A child process that times out or dies is stopped; *ret then has no line. */
void cline_reader__find(struct cline_reader *r, uint64_t addr, struct cline *ret);

#endif
