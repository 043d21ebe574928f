/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The footer of a Parquet file: the columns of its table, and what is known about its groups of
 * rows.
 *
 * Upstream: sql/parquet_file.c.
 */
#ifndef SQL_PARQUET_FOOTER_H
#define SQL_PARQUET_FOOTER_H

#include "lib/outbuf.h"
#include "sql/tables.h"

/* Number of the format for the type of a column */
static inline int parquet_type(bool is_text)
{
	return is_text ? 6 /* BYTE_ARRAY */ : 2 /* INT64 */;
}

/* `groups` has the descriptions of the groups, one after another. 0 or -ENOMEM. */
int parquet_footer__put(struct outbuf *footer, const struct table *table, uint64_t rows,
			uint64_t ngroups, const struct outbuf *groups);

#endif
