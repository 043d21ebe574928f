/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by csymbols.c (which file a PC is in) and the two that look into it: csymbols_func.c and
 * csymbols_line.c.
 */
#ifndef TARGET_CSYMBOLS_IMPL_H
#define TARGET_CSYMBOLS_IMPL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "target/elf.h"

#define CSYM_FILE_MAX 256

/* The functions of one file by address, from its symbol table. NULL: it has none. */
struct cfuncs;
struct cfuncs *cfuncs__create(const struct elf_image *elf);
void cfuncs__destroy(struct cfuncs *f);
/* The name of the function that holds a link-time address, `*ret_len` bytes of it; NULL: none. */
const char *cfuncs__find(const struct cfuncs *f, uint64_t addr, size_t *ret_len);

/* A child process that reads one file's DWARF. */
struct cline_reader {
	pid_t pid; /* 0: none (any more) */
	int fd;	   /* a socket to it */
};

struct cline {
	uint32_t line; /* 0: not known */
	char file[CSYM_FILE_MAX];
};

/* Starts it for the file behind `fd`. Never fails: without a child no line is known. */
void cline_reader__start(struct cline_reader *r, int fd);
void cline_reader__stop(struct cline_reader *r);
/* A child that takes too long or dies is given up; *ret is then as for no line. */
void cline_reader__find(struct cline_reader *r, uint64_t addr, struct cline *ret);

#endif
