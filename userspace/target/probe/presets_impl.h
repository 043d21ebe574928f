/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How presets_*.c describe a preset: shared by them and presets.c only.
 */
#ifndef TARGET_PRESETS_IMPL_H
#define TARGET_PRESETS_IMPL_H

#include "target/arch/arch.h"
#include "target/probe/presets.h"

/* A release 1.minor.patch as a number. */
#define RELEASE(minor, patch)  ((minor) * 1000u + (patch))
#define RELEASE_MINOR(release) ((release) / 1000)
#define RELEASE_LAST	       999 /* patch: all of a minor release that were examined */

/*
 * The offset of a struct's member in some releases. Rows of one id in the same minor release have
 * the same type and name.
 */
struct preset_member {
	unsigned int id; /* of the preset, below PRESET_MEMBERS */
	const char *type, *name;
	unsigned int since, until; /* RELEASE() */
	gt_u16 offset;
};

#define PRESET_MEMBERS 32

#define PRESET_PATH    4 /* members that lead to a value */

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
	const char *what;	    /* for "the program has no ..." */
	unsigned int since, until;  /* minor releases of Go with these functions and arguments */
	const unsigned int *latest; /* the latest releases whose offsets were examined, up to 0 */
	/* Not NULL: releases of functions and members are those of this module, all were examined. */
	const char *module;
	unsigned int module_since, module_until; /* its minor releases */
	/*
	 * Modules with other structs, up to NULL, of which the first counts that the program has, and
	 * the latest version v0.0.0-DATE-... that was examined.
	 */
	const char *const *structs_of;
	const char *structs_latest;
	const struct preset_func *func;
	const struct preset_member *member;
	size_t nfuncs, nmembers;
};

/* For presets of the standard library. */
extern const unsigned int preset_latest_go[];

extern const struct preset preset_http;
extern const struct preset preset_sql;
extern const struct preset preset_http_client;
extern const struct preset preset_dns;
extern const struct preset preset_grpc_client;
extern const struct preset preset_grpc;

#define PRESET_REG(gpr) ((gpr) + 1)

/*
 * The rows of a function whose call is a request, in the releases of SINCE to UNTIL: its entry, with
 * the texts `...`, and its returns, at which the number is in the register `result`.
 */
#define PRESET_CALL(func, result, ...)                                                             \
	{ func, GT_REQUEST_BEGINS, SINCE, UNTIL, false, { __VA_ARGS__ }, {} },                     \
	{                                                                                          \
		func, GT_REQUEST_RETURNS, SINCE, UNTIL, false, {}, { PRESET_REG(result) },         \
	}

/*
 * presets_offsets.c: the offsets of all members by id, from the program's DWARF or else the table;
 * GT_NO_OFFSET: the release, of Go or of the module, lacks it. -ENOTSUP and the reason: neither has
 * them.
 */
int preset__offsets(const struct preset *preset, const struct elf_image *elf,
		    const struct go_version *version, uint32_t ret[PRESET_MEMBERS],
		    struct error *error);

#endif
