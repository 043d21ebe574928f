/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The inline probes of one recording: `record --probes=inline`.
 *
 * Upstream: capture/setup.c and drain.c. Downstream: choose.c, guardian.c, inline_rings.c. The
 * program's code has them from inline_probes__install() until inline_probes__remove(), or until the
 * guardian has noticed that this process has ended.
 */
#ifndef INLINE_INLINE_PROBES_H
#define INLINE_INLINE_PROBES_H

#include <stdbool.h>
#include <stdint.h>

#include "gotrace/record.h"
#include "lib/error.h"
#include "target/elf/elf.h"
#include "target/layout/layout.h"
#include "target/modules/modules.h"
#include "target/probe/site.h"
#include "target/process/process.h"
#include "target/symbols/pclntab.h"

struct inline_probes;

/* All borrowed until inline_probes__close(). */
struct inline_opts {
	const struct process *process;
	const struct elf_image *elf;
	const struct pclntab *pclntab;
	const struct layout *layout;
	const struct site_list *sites;
	const struct go_modules *modules; /* the plugins of the process */
	unsigned int stack_depth;
};

typedef int (*inline_record_fn)(void *ctx, unsigned int ring, const struct gt_record *rec,
				size_t size);

/* Changes nothing yet. -ENOTSUP or -EBUSY with the reason if it refuses. */
int inline_probes__create(struct inline_probes **ret, const struct inline_opts *opts,
			  struct error *error);
uint64_t inline_probes__which(const struct inline_probes *p); /* bits, by enum gt_probe */

/*
 * Puts the probes into the process, before any uprobe; they do not record yet. On failure nothing
 * has been changed.
 */
int inline_probes__install(struct inline_probes *p, struct error *error);
int inline_probes__start(struct inline_probes *p, struct error *error);

/*
 * Whether the process has overwritten its rings; or another tracer or a debugger has changed an
 * instruction with an inline probe, looked up every 100 ms: it would restore what it takes for the
 * original byte. Then the probes are removed at once, the user is informed, and the recording is to end.
 */
bool inline_probes__disturbed(struct inline_probes *p, uint64_t now);
/* Takes the time of the next drain: CLOCK_MONOTONIC, ns. */
uint64_t inline_probes__now(struct inline_probes *p);
/*
 * Passes each record up to that time to `fn`, with rings from 0 on. *ret_complete: there are no
 * others. 0, or what `fn` returned.
 */
int inline_probes__drain(struct inline_probes *p, uint64_t now, inline_record_fn fn, void *ctx,
			 bool *ret_complete);
unsigned int inline_probes__fill(const struct inline_probes *p); /* percent of the fullest ring */
/* Adds the records dropped, by kind, and returns their sum without stacks. */
uint64_t inline_probes__lost(struct inline_probes *p, uint64_t lost[GT_KIND_END]);
/* How long the thread that made system calls was held by ptrace, ns; the others ran. */
uint64_t inline_probes__held_ns(const struct inline_probes *p);
/* The largest error of the times of records, ns: see inline_clock.h. */
uint64_t inline_probes__clock_error_ns(const struct inline_probes *p);
uint64_t inline_probes__bytes(const struct inline_probes *p); /* of the rings */

/* Restores the program's code; the records in the rings stay. A failure is reported to the user. */
void inline_probes__remove(struct inline_probes *p);
void inline_probes__close(struct inline_probes *p); /* NULL allowed */

#endif
