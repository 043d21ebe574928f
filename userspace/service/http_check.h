/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Decides on the parts of an HTTP request that clients choose freely: headers and arguments.
 *
 * A browser sends requests to loopback addresses on behalf of any web site. The name in Host is
 * what such a site controls after DNS rebinding, Origin and Sec-Fetch-Site are what the browser
 * reports about it. Upstream: http_request.c. The fuzz target is selftests/fuzz/fuzz_http.c.
 */
#ifndef SERVICE_HTTP_CHECK_H
#define SERVICE_HTTP_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/error.h"

/*
 * Whether Host names a loopback address by "localhost", a literal of 127.0.0.0/8 or [::1], with
 * `port`. A missing port means 80.
 */
bool http_check__host(const char *host, uint16_t port);

/* Whether Origin is that of a page of this service, which the client addresses as `host`. */
bool http_check__origin(const char *origin, const char *host);

/* Whether Sec-Fetch-Site excludes that another site causes the request. */
bool http_check__site(const char *site);

/* Whether Accept contains OpenMetrics, unless with the quality 0. NULL: no such header. */
bool http_check__openmetrics(const char *accept);

/*
 * The argument "seconds" as net/http/pprof interprets it: a decimal number; NULL, zero, a negative
 * number and what is not a number mean 1. At least 1 ns, at most `max` ns; 0, or -ERANGE and the
 * reason.
 */
int http_check__seconds(const char *text, uint64_t max, uint64_t *ret_ns, struct error *error);

/* The argument "pid"; NULL is 0: the only target. 0, or -EINVAL and the reason. */
int http_check__pid(const char *text, int32_t *ret, struct error *error);

#endif
