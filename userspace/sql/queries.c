// SPDX-License-Identifier: GPL-2.0
/*
 * The named queries: see queries.h. The Makefile makes the elements of the array from sql/queries/.
 */
#include "sql/queries.h"

const struct named_query named_queries[] = {
#include "sql/named_queries.h"
};

const size_t named_queries_count = sizeof(named_queries) / sizeof(*named_queries);
