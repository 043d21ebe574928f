// SPDX-License-Identifier: GPL-2.0
/*
 * The preset `http`: requests to net/http servers, by HTTP/1 and by net/http's own HTTP/2.
 *
 * Both call serverHandler.ServeHTTP, on a goroutine that has no other request. HTTP/1 then calls
 * (*response).finishRequest, unless the handler has panicked or taken over the connection: then the
 * deferred function of (*conn).serve follows. HTTP/2 calls (*http2responseWriter).handlerDone, or the
 * goroutine ends.
 *
 * Request.Pattern is set by ServeMux, maybe on a copy of the request; HandlerFunc.ServeHTTP
 * receives that copy. From 1.27 on HTTP/2 has no reference to the request when it ends: what
 * ServeMux finds names it, if the handler is no HandlerFunc. selftests/check/requests_http.sh
 * compares the offsets with the DWARF of programs.
 */
#include "target/probe/presets_impl.h"

#define SINCE	      20
#define UNTIL	      27
#define FIRST	      RELEASE(SINCE, 0)
#define LAST	      RELEASE(UNTIL, RELEASE_LAST)
/* HTTP/2 was part of the package up to Go 1.26, and is a package of its own from 1.27 on. */
#define BUNDLED	      RELEASE(26, RELEASE_LAST)
#define PACKAGE	      RELEASE(27, 0)
#define PATTERN_SINCE 23 /* Request.Pattern */

enum {
	METHOD,
	URL,
	TLS,
	PATTERN,
	PATH,
	RESPONSE_REQ,
	RESPONSE_STATUS,
	H2_STATE,
	H2_REQ,
	H2_STATUS
};

static const struct preset_member members[] = {
	{ METHOD, "net/http.Request", "Method", FIRST, LAST, 0 },
	{ URL, "net/http.Request", "URL", FIRST, LAST, 16 },
	{ TLS, "net/http.Request", "TLS", FIRST, LAST, 208 },
	{ PATTERN, "net/http.Request", "Pattern", RELEASE(PATTERN_SINCE, 0), LAST, 232 },
	{ PATH, "net/url.URL", "Path", FIRST, LAST, 56 },
	{ RESPONSE_REQ, "net/http.response", "req", FIRST, LAST, 8 },
	{ RESPONSE_STATUS, "net/http.response", "status", FIRST, RELEASE(26, 10), 120 },
	{ RESPONSE_STATUS, "net/http.response", "status", RELEASE(26, 11), LAST, 128 },
	{ H2_STATE, "net/http.http2responseWriter", "rws", FIRST, BUNDLED, 0 },
	{ H2_REQ, "net/http.http2responseWriterState", "req", FIRST, BUNDLED, 8 },
	{ H2_STATUS, "net/http.http2responseWriterState", "status", FIRST, BUNDLED, 72 },
	{ H2_STATE, "net/http/internal/http2.responseWriter", "rws", PACKAGE, LAST, 0 },
	{ H2_STATUS, "net/http/internal/http2.responseWriterState", "status", PACKAGE, LAST, 240 },
};

#define ARG1 PRESET_REG(GPR_ARG1)
#define ARG4 PRESET_REG(GPR_ARG4)

static const struct preset_func funcs[] = {
	/* (sh serverHandler) ServeHTTP(rw ResponseWriter, req *Request) */
	{ "net/http.serverHandler.ServeHTTP",
	  GT_REQUEST_BEGINS,
	  SINCE,
	  UNTIL,
	  true,
	  { { ARG4, .path = { METHOD + 1 } }, { ARG4, .path = { URL + 1, PATH + 1 } } },
	  { ARG4, .size = 8, .path = { TLS + 1 } } },
	/* (f HandlerFunc) ServeHTTP(w ResponseWriter, r *Request) */
	{ "net/http.HandlerFunc.ServeHTTP",
	  GT_REQUEST_NAMED,
	  PATTERN_SINCE,
	  UNTIL,
	  false,
	  { { ARG4, .path = { PATTERN + 1 } } },
	  {} },
	/* (mux *ServeMux) findHandler(r *Request) (h Handler, patStr string, ...) */
	{ "net/http.(*ServeMux).findHandler",
	  GT_REQUEST_FOUND,
	  27,
	  UNTIL,
	  false,
	  { { PRESET_REG(GPR_ARG3), .len_reg = PRESET_REG(GPR_ARG4) } },
	  {} },
	/* (w *response) finishRequest() */
	{ "net/http.(*response).finishRequest",
	  GT_REQUEST_ENDS,
	  SINCE,
	  UNTIL,
	  true,
	  { { ARG1, .path = { RESPONSE_REQ + 1, PATTERN + 1 } } },
	  { ARG1, .size = 8, .path = { RESPONSE_STATUS + 1 } } },
	/* (w *http2responseWriter) handlerDone() */
	{ "net/http.(*http2responseWriter).handlerDone",
	  GT_REQUEST_ENDS,
	  SINCE,
	  26,
	  false,
	  { { ARG1, .path = { H2_STATE + 1, H2_REQ + 1, PATTERN + 1 } } },
	  { ARG1, .size = 8, .path = { H2_STATE + 1, H2_STATUS + 1 } } },
	{ "net/http/internal/http2.(*responseWriter).handlerDone",
	  GT_REQUEST_ENDS,
	  27,
	  UNTIL,
	  false,
	  {},
	  { ARG1, .size = 8, .path = { H2_STATE + 1, H2_STATUS + 1 } } },
	/* (w *response) Hijack() */
	{ "net/http.(*response).Hijack", GT_REQUEST_TAKEN, SINCE, UNTIL, false, {}, {} },
	/* the deferred function of (*conn).serve */
	{ "net/http.(*conn).serve.func1", GT_REQUEST_LEFT, SINCE, UNTIL, false, {}, {} },
};

const struct preset preset_http = {
	.what = "net/http server",
	.since = SINCE,
	.until = UNTIL,
	.latest = preset_latest_go,
	.func = funcs,
	.member = members,
	.nfuncs = sizeof(funcs) / sizeof(funcs[0]),
	.nmembers = sizeof(members) / sizeof(members[0]),
};
