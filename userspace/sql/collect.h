/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rows of several tables of one trace, read in one pass and kept in memory: for the tables that
 * are usually small, reading the trace once per table takes longer than writing them.
 *
 * Upstream: sql/tables.h. Downstream: sql/scan.c, which delivers them in place of reading the
 * trace.
 */
#ifndef SQL_COLLECT_H
#define SQL_COLLECT_H

#include "sql/source.h"
#include "sql/tables.h"

#define COLLECTED_MAX (64u << 20) /* bytes of all rows */

struct collected {
	bool has[TABLES]; /* by index of tables[] */
	struct rows rows[TABLES];
};

/*
 * Reads the tables for which `wanted` is set. Returns 1; 0 without rows, if they exceed
 * COLLECTED_MAX; or a negative errno with the reason, which names the trace.
 */
int collected__read(struct collected **ret, const struct source *source,
		    const struct reader_opts *reader, const bool wanted[TABLES],
		    struct error *error);
void collected__destroy(struct collected *c); /* NULL is allowed */

#endif
