// SPDX-License-Identifier: GPL-2.0
/*
 * The preset `sql`: statements that programs give to database/sql, with whatever driver.
 *
 * All methods that execute a statement call one of these, which the compiler does not inline. A
 * request is the call: waiting for a connection and repeated attempts belong to it; reading the rows
 * does not, nor does preparing a statement. No function is called at the end on all paths, so each
 * return is probed; the error is among the results.
 */
#include "target/probe/presets_impl.h"

#define SINCE 20
#define UNTIL 27

enum { STMT_QUERY };

static const struct preset_member members[] = {
	{ STMT_QUERY, "database/sql.Stmt", "query", RELEASE(SINCE, 0), RELEASE(UNTIL, RELEASE_LAST),
	  8 },
};

/* (receiver, ctx context.Context, query string, args ...any) */
#define GIVEN	 { PRESET_REG(GPR_ARG4), PRESET_REG(GPR_ARG5) }
/* (s *Stmt, ...) */
#define PREPARED { PRESET_REG(GPR_ARG1), .path = { STMT_QUERY + 1 } }

/* The results are (*Rows, error), or (Result, error). */
static const struct preset_func funcs[] = {
	PRESET_CALL("database/sql.(*DB).QueryContext", GPR_ARG2, GIVEN),
	PRESET_CALL("database/sql.(*DB).ExecContext", GPR_ARG3, GIVEN),
	PRESET_CALL("database/sql.(*Conn).QueryContext", GPR_ARG2, GIVEN),
	PRESET_CALL("database/sql.(*Conn).ExecContext", GPR_ARG3, GIVEN),
	PRESET_CALL("database/sql.(*Tx).QueryContext", GPR_ARG2, GIVEN),
	PRESET_CALL("database/sql.(*Tx).ExecContext", GPR_ARG3, GIVEN),
	PRESET_CALL("database/sql.(*Stmt).QueryContext", GPR_ARG2, PREPARED),
	PRESET_CALL("database/sql.(*Stmt).ExecContext", GPR_ARG3, PREPARED),
};

const struct preset preset_sql = {
	.what = "call of database/sql that executes a statement",
	.since = SINCE,
	.until = UNTIL,
	.latest = preset_latest_go,
	.func = funcs,
	.member = members,
	.nfuncs = sizeof(funcs) / sizeof(funcs[0]),
	.nmembers = sizeof(members) / sizeof(members[0]),
};
