/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Real Go programs with a few bytes changed at relevant locations.
 *
 * Target analysis reads some thousands of bytes of a program of megabytes, so random changes would
 * rarely affect it. Therefore an input is not a program but a list of changes, each at one of the
 * locations that are read; fuzz_target, fuzz_pclntab, fuzz_sites, fuzz_calibrate, fuzz_dwarf and
 * fuzz_cache select the kinds of locations. The programs are in build/fuzz/programs.
 */
#ifndef SELFTESTS_FUZZ_PATCHED_H
#define SELFTESTS_FUZZ_PATCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target/infer/buildinfo.h"
#include "target/layout/layout.h"
#include "target/symbols/pclntab.h"

enum place_kind {
	PLACE_HEADERS = 1 << 0,	 /* of the file, segments, sections, and the names of those */
	PLACE_BUILD = 1 << 1,	 /* build info, build ids */
	PLACE_TABLE = 1 << 2,	 /* gopclntab's header, functions' records, pc-value tables */
	PLACE_MODULE = 1 << 3,	 /* module data */
	PLACE_INLINING = 1 << 4, /* inline trees and their tables */
	PLACE_PROBED = 1 << 5,	 /* the code of functions that are probed */
	PLACE_READ = 1 << 6,	 /* and of those that offsets are read from */
	PLACE_SYMBOLS = 1 << 7,	 /* symbols of the runtime's globals */
	PLACE_DWARF = 1 << 8,	 /* abbreviations, the types whose members are sought */
	PLACE_ALL = (1 << 9) - 1,
};

struct patched {
	int fd;			   /* a file in memory with the changed program */
	struct elf_image *elf;	   /* of the unchanged one; what is not headers is read from fd */
	struct pclntab *pt;	   /* of the unchanged one */
	struct go_version version; /* the same */
	struct layout layout;	   /* the same; offsets are 0 if the program is stripped */
};

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* To be called once: reads the programs. Ends the process, with the reason, when there is none. */
void patched__init(unsigned int kinds);
unsigned int patched__programs(void); /* how many there are to choose from, at most 16 */

/*
 * The program that the input makes: its first byte chooses one, and changes follow, as far as the
 * input has whole ones. NULL: no input. What it returns is valid up to patched__undo().
 *
 *	u16 place, u16 where, u8 n & 0x1f bytes; n & 0x20: the file ends there; else, with n & 0x40,
 *	u16 place, u16 where they are copied from, or without it the bytes themselves
 */
const struct patched *patched__apply(const uint8_t *data, size_t size);
void patched__undo(void);

#endif
