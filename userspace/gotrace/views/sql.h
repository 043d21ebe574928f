/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files of `gotrace sql`: sql.c runs the query, sql_print.c prints its result.
 */
#ifndef VIEWS_SQL_H
#define VIEWS_SQL_H

#include "lib/error.h"
#include "sql/query.h"

enum sql_form { SQL_TABLE, SQL_CSV, SQL_JSON };

/*
 * Prints all rows to stdout. CSV is that of RFC 4180 with line feeds; a table is for people: it is
 * as wide as the first rows need. 0 or a negative errno with the reason, which may come after some
 * rows.
 */
int sql__print(struct query *q, enum sql_form form, struct error *error);
/* Prints the text of a plan. The same. */
int sql__print_plan(struct query *q, struct error *error);

#endif
