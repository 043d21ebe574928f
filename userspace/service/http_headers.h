/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The headers of a request to an HTTP server on loopback, and whether it must be refused.
 *
 * Shared by the front of 'gotrace-bpf serve' (http_request.c) and by 'gotrace view'. http_check.h
 * describes what is refused and why.
 */
#ifndef SERVICE_HTTP_HEADERS_H
#define SERVICE_HTTP_HEADERS_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stdint.h>

struct http_headers {
	const char *host;
	unsigned int hosts;
	bool cross_site; /* another site causes the request */
	bool has_body;
	bool openmetrics;
};

void http_headers__read(struct MHD_Connection *mhd, struct http_headers *ret);

/*
 * The line of the answer to a request that is refused, with its status; NULL: it is permitted.
 * `port`: of the server; 0: it is a Unix socket, to which no name leads a browser.
 */
const char *http_headers__refusal(const struct http_headers *h, const char *method, uint16_t port,
				  unsigned int *ret_status);

#endif
