// SPDX-License-Identifier: GPL-2.0
/*
 * The presets `http-client`, `dns` and `grpc-client`: what programs request from others by net/http, net
 * and google.golang.org/grpc.
 *
 * All requests by http.Transport pass its method roundTrip, also those of programs that use it without
 * http.Client, such as reverse proxies; a redirection is a request of its own. net.Resolver's methods
 * that query either call lookupIPAddr or do not call each other. Unary calls of grpc-go pass Invoke,
 * whose arguments have been the same since its version 1.11. No function is called at the end on all
 * paths, so each return is probed.
 */
#include "target/probe/presets_impl.h"

#define SINCE 20
#define UNTIL 27
#define FIRST RELEASE(SINCE, 0)
#define LAST  RELEASE(UNTIL, RELEASE_LAST)

/* ---- net/http ---- */

enum { METHOD, URL, HOST, STATUS };

static const struct preset_member http_members[] = {
	{ METHOD, "net/http.Request", "Method", FIRST, LAST, 0 },
	{ URL, "net/http.Request", "URL", FIRST, LAST, 16 },
	{ HOST, "net/url.URL", "Host", FIRST, LAST, 40 },
	{ STATUS, "net/http.Response", "StatusCode", FIRST, LAST, 16 },
};

#define ROUND_TRIP "net/http.(*Transport).roundTrip"
#define RESULT	   PRESET_REG(GPR_ARG1)
#define REQUEST	   PRESET_REG(GPR_ARG2)

/* (t *Transport) roundTrip(req *Request) (*Response, error) */
static const struct preset_func http_funcs[] = {
	{ ROUND_TRIP,
	  GT_REQUEST_BEGINS,
	  SINCE,
	  UNTIL,
	  true,
	  { { REQUEST, .path = { METHOD + 1 } }, { REQUEST, .path = { URL + 1, HOST + 1 } } },
	  {} },
	{ ROUND_TRIP,
	  GT_REQUEST_RETURNS,
	  SINCE,
	  UNTIL,
	  true,
	  {},
	  { RESULT, .size = 8, .path = { STATUS + 1 } } },
};

const struct preset preset_http_client = {
	.what = "net/http client",
	.since = SINCE,
	.until = UNTIL,
	.latest = preset_latest_go,
	.func = http_funcs,
	.member = http_members,
	.nfuncs = sizeof(http_funcs) / sizeof(http_funcs[0]),
	.nmembers = sizeof(http_members) / sizeof(http_members[0]),
};

/* ---- net ---- */

/* (r *Resolver, ctx context.Context, name string), with other strings before the name */
#define FIRST_STRING  { PRESET_REG(GPR_ARG4), PRESET_REG(GPR_ARG5) }
#define SECOND_STRING { PRESET_REG(GPR_ARG6), PRESET_REG(GPR_ARG7) }
#define THIRD_STRING  { PRESET_REG(GPR_ARG8), PRESET_REG(GPR_ARG9) }

/* The results before the error are a slice, a string, or both. */
static const struct preset_func dns_funcs[] = {
	PRESET_CALL("net.(*Resolver).lookupIPAddr", GPR_ARG4, SECOND_STRING),
	PRESET_CALL("net.(*Resolver).LookupHost", GPR_ARG4, FIRST_STRING),
	PRESET_CALL("net.(*Resolver).LookupCNAME", GPR_ARG3, FIRST_STRING),
	PRESET_CALL("net.(*Resolver).LookupSRV", GPR_ARG6, THIRD_STRING),
	PRESET_CALL("net.(*Resolver).LookupMX", GPR_ARG4, FIRST_STRING),
	PRESET_CALL("net.(*Resolver).LookupNS", GPR_ARG4, FIRST_STRING),
	PRESET_CALL("net.(*Resolver).LookupTXT", GPR_ARG4, FIRST_STRING),
	PRESET_CALL("net.(*Resolver).LookupAddr", GPR_ARG4, FIRST_STRING),
};

const struct preset preset_dns = {
	.what = "call of net.Resolver that looks up a name",
	.since = SINCE,
	.until = UNTIL,
	.latest = preset_latest_go,
	.func = dns_funcs,
	.nfuncs = sizeof(dns_funcs) / sizeof(dns_funcs[0]),
};

/* ---- grpc-go ---- */

/* (cc *ClientConn) Invoke(ctx context.Context, method string, args, reply any, ...) error */
static const struct preset_func grpc_funcs[] = {
	PRESET_CALL("google.golang.org/grpc.(*ClientConn).Invoke", GPR_ARG1, FIRST_STRING),
};

const struct preset preset_grpc_client = {
	.what = "grpc-go client",
	.since = SINCE,
	.until = UNTIL,
	.latest = preset_latest_go,
	.func = grpc_funcs,
	.nfuncs = sizeof(grpc_funcs) / sizeof(grpc_funcs[0]),
};
