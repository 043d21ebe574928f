// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the headers of a request, and refuses those that a web site may have caused: see
 * http_headers.h. Between libmicrohttpd, which parses HTTP, and http_check.c.
 */
#include "service/http_headers.h"

#include <string.h>
#include <strings.h>

#include "service/http_check.h"

static enum MHD_Result find_host(void *cls, enum MHD_ValueKind kind, const char *name,
				 const char *value)
{
	struct http_headers *h = cls;

	if (!strcasecmp(name, MHD_HTTP_HEADER_HOST) && value) {
		h->host = value;
		h->hosts++;
	}
	return MHD_YES;
}

static enum MHD_Result read_header(void *cls, enum MHD_ValueKind kind, const char *name,
				   const char *value)
{
	struct http_headers *h = cls;

	value = value ? value : "";
	if (!strcasecmp(name, MHD_HTTP_HEADER_ORIGIN))
		h->cross_site |= !h->host || !http_check__origin(value, h->host);
	else if (!strcasecmp(name, "Sec-Fetch-Site"))
		h->cross_site |= !http_check__site(value);
	else if (!strcasecmp(name, MHD_HTTP_HEADER_TRANSFER_ENCODING))
		h->has_body = true;
	else if (!strcasecmp(name, MHD_HTTP_HEADER_CONTENT_LENGTH))
		h->has_body |= strcmp(value, "0") != 0;
	else if (!strcasecmp(name, MHD_HTTP_HEADER_ACCEPT))
		h->openmetrics |= http_check__openmetrics(value);
	return MHD_YES;
}

void http_headers__read(struct MHD_Connection *mhd, struct http_headers *ret)
{
	*ret = (struct http_headers){};
	MHD_get_connection_values(mhd, MHD_HEADER_KIND, find_host, ret);
	MHD_get_connection_values(mhd, MHD_HEADER_KIND, read_header, ret);
}

const char *http_headers__refusal(const struct http_headers *h, const char *method, uint16_t port,
				  unsigned int *ret_status)
{
	*ret_status = MHD_HTTP_FORBIDDEN;
	if (h->hosts != 1 || (port && !http_check__host(h->host, port)))
		return "403 forbidden: Host must be a loopback address or localhost, with the "
		       "port\n";
	if (h->cross_site)
		return "403 forbidden: a request of another site\n";
	*ret_status = MHD_HTTP_METHOD_NOT_ALLOWED;
	if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD))
		return "405 method not allowed: use GET or HEAD\n";
	*ret_status = MHD_HTTP_CONTENT_TOO_LARGE;
	return h->has_body ? "413 content too large: a request has no body\n" : NULL;
}
