// SPDX-License-Identifier: GPL-2.0
/*
 * The preset `grpc`: calls, unary or streaming, that google.golang.org/grpc servers answer, by their
 * own transport or by that for net/http.
 *
 * All calls pass (*Server).handleStream, also those of unknown methods, on a goroutine that has no
 * other call. Its transport's WriteStatus receives the status, of which the client sees the first; if
 * the connection is broken, it may not be called. handleStream returns on several paths, so each is
 * probed. The structs changed with versions of the module, which are compared with the tags of its
 * repository. selftests/check/requests_grpc.sh compares the results with those of programs.
 */
#include "target/probe/presets_impl.h"

#define SINCE	       20
#define UNTIL	       27

/* Versions of the module. */
#define V_FIRST	       37
#define V_LAST	       85
/* The first with a ServerStream, which embeds *Stream; WriteStatus is no longer exported. */
#define V_POINTER      69
#define V_VALUE	       77 /* the first whose ServerStream embeds Stream, as its first member */

#define TRANSPORT      "google.golang.org/grpc/internal/transport."
#define STREAM	       TRANSPORT "Stream"
#define STATUS	       "google.golang.org/grpc/internal/status.Status"
#define PROTO_STATUS   "google.golang.org/genproto/googleapis/rpc/status.Status"
#define HANDLE_STREAM  "google.golang.org/grpc.(*Server).handleStream"

#define LAST_OF(minor) RELEASE(minor, RELEASE_LAST)
#define ALL	       RELEASE(V_FIRST, 0), LAST_OF(V_LAST)

enum { METHOD, EMBEDDED, STATUS_PROTO, CODE };

static const struct preset_member members[] = {
	{ METHOD, STREAM, "method", RELEASE(V_FIRST, 0), LAST_OF(65), 80 },
	{ METHOD, STREAM, "method", RELEASE(66, 0), LAST_OF(V_POINTER - 1), 88 },
	{ METHOD, STREAM, "method", RELEASE(V_POINTER, 0), LAST_OF(V_VALUE - 1), 24 },
	{ METHOD, STREAM, "method", RELEASE(V_VALUE, 0), LAST_OF(V_LAST), 16 },
	{ EMBEDDED, TRANSPORT "ServerStream", "Stream", RELEASE(V_POINTER, 0), LAST_OF(V_VALUE - 1),
	  0 },
	{ STATUS_PROTO, STATUS, "s", ALL, 0 },
	{ CODE, PROTO_STATUS, "Code", ALL, 40 },
};

#define STREAM_ARG PRESET_REG(GPR_ARG4)

/* (s *Server) handleStream(t transport.ServerTransport, stream *transport.ServerStream) */
#define BEGINS(since, until, ...)                                                                  \
	{                                                                                          \
		HANDLE_STREAM,                                                                     \
		GT_REQUEST_BEGINS,                                                                 \
		since,                                                                             \
		until,                                                                             \
		true,                                                                              \
		{ { STREAM_ARG, .path = { __VA_ARGS__ } } },                                       \
		{},                                                                                \
	}

/* (t *http2Server) writeStatus(s *ServerStream, st *status.Status) error */
#define RESULT(func, since, until, required)                                                       \
	{                                                                                          \
		TRANSPORT func,                                                                    \
		GT_REQUEST_RESULT,                                                                 \
		since,                                                                             \
		until,                                                                             \
		required,                                                                          \
		{},                                                                                \
		{ PRESET_REG(GPR_ARG3), .size = 4, .path = { STATUS_PROTO + 1, CODE + 1 } },       \
	}

static const struct preset_func funcs[] = {
	BEGINS(V_FIRST, V_POINTER - 1, METHOD + 1),
	BEGINS(V_POINTER, V_VALUE - 1, EMBEDDED + 1, METHOD + 1),
	BEGINS(V_VALUE, V_LAST, METHOD + 1),
	RESULT("(*http2Server).WriteStatus", V_FIRST, V_POINTER - 1, true),
	RESULT("(*http2Server).writeStatus", V_POINTER, V_LAST, true),
	RESULT("(*serverHandlerTransport).WriteStatus", V_FIRST, V_POINTER - 1, false),
	RESULT("(*serverHandlerTransport).writeStatus", V_POINTER, V_LAST, false),
	{ HANDLE_STREAM, GT_REQUEST_RETURNS, V_FIRST, V_LAST, true, {}, {} },
};

/* The package with the status has moved to a module of its own. */
static const char *const status_modules[] = { "google.golang.org/genproto/googleapis/rpc",
					      "google.golang.org/genproto", NULL };

const struct preset preset_grpc = {
	.what = "grpc-go server",
	.since = SINCE,
	.until = UNTIL,
	.module = "google.golang.org/grpc",
	.module_since = V_FIRST,
	.module_until = V_LAST,
	.structs_of = status_modules,
	.structs_latest = "v0.0.0-20260817212433-",
	.func = funcs,
	.member = members,
	.nfuncs = sizeof(funcs) / sizeof(funcs[0]),
	.nmembers = sizeof(members) / sizeof(members[0]),
};
