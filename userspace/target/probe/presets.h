/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Presets: requests of known libraries (record --requests). The functions at which a request begins,
 * gets a name or ends, and the values that are read there, as a table for the BPF program.
 *
 * Upstream: target/symbols/pclntab.c, code.c; presets_*.c have the functions and offsets of each
 * library, by release. Downstream: capture/probes.c attaches the sites and loads the table.
 */
#ifndef TARGET_PRESETS_H
#define TARGET_PRESETS_H

#include "gotrace/request.h"
#include "target/probe/site.h"

/* Names for `--requests`, by enum gt_preset. */
extern const char *const preset_names[GT_PRESETS];

struct presets {
	struct gt_request_site table[GT_REQUEST_SITES];
	size_t n;
	struct site *site; /* with the index of its row as its cookie */
	size_t nsites, cap;
};

/*
 * Adds the functions of a preset. On failure a negative errno and the reason: -ENOENT if the program
 * does not have the library, -ENOTSUP if it has a version that is not known, or a function cannot be
 * probed. The caller releases *presets with presets__deinit() in any case.
 */
int presets__add(struct presets *presets, enum gt_preset preset, const struct elf_image *elf,
		 const struct pclntab *pt, const struct go_version *version, struct error *error);

void presets__deinit(struct presets *presets);

/* Appends the sites to a list whose array the caller frees. 0 or -ENOMEM. */
int presets__join(const struct presets *presets, struct site_list *sites);

#endif
