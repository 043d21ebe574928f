/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How presets_*.c describe a preset: shared by them and presets.c only.
 */
#ifndef TARGET_PRESETS_IMPL_H
#define TARGET_PRESETS_IMPL_H

#include "target/arch/arch.h"
#include "target/probe/presets.h"

/* A release 1.minor.patch as a number. */
#define RELEASE(minor, patch) ((minor) * 1000 + (patch))
#define RELEASE_LAST	      999 /* patch: all of a minor release that are still to come */

/* The offset of a struct's member in some releases. */
struct preset_member {
	unsigned int id; /* of the preset; several rows with the same: other releases */
	const char *type, *name;
	unsigned int since, until; /* RELEASE() */
	gt_u16 offset;
};

#define PRESET_PATH 4 /* members that lead to a value */

/* Where a value is: a register of the call, and members, by id + 1, that lead to it. */
struct preset_value {
	unsigned char reg;     /* enum gpr + 1; 0: there is none */
	unsigned char len_reg; /* the same, of a text in registers */
	unsigned char size;    /* of a number */
	unsigned char path[PRESET_PATH];
};

/* A function, in the releases 1.since to 1.until. */
struct preset_func {
	const char *name;
	enum gt_request_step step;
	unsigned int since, until;
	bool required; /* the program does not have the library without it */
	struct preset_value text[2], number;
};

struct preset {
	const char *what; /* what a program lacks that has no such function */
	unsigned int since, until;
	const struct preset_func *func;
	const struct preset_member *member;
	size_t nfuncs, nmembers;
};

extern const struct preset preset_http;

#define PRESET_REG(gpr) ((gpr) + 1)

/* The offset of member `id` in a RELEASE(); GT_NO_OFFSET: it has none, or it is unknown. */
uint32_t preset__offset(const struct preset *preset, unsigned int id, unsigned int release);

#endif
