// SPDX-License-Identifier: GPL-2.0
/*
 * Creates responses, with the headers that each of them has: see front_impl.h.
 *
 * No response permits other sites to read it (CORS), to show it in a frame or to run scripts in it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/front_impl.h"

#define WRITE_NS	 (30000 * MS) /* for a client to read a response */
#define TRACE_BLOCK_SIZE (16u << 10)

static struct MHD_Response *with_header(struct MHD_Response *response, const char *name,
					const char *value)
{
	if (!response || MHD_add_response_header(response, name, value) == MHD_YES)
		return response;
	MHD_destroy_response(response);
	return NULL;
}

static struct MHD_Response *with_headers(struct MHD_Response *response, const char *type)
{
	const char *const headers[][2] = {
		{ MHD_HTTP_HEADER_CONTENT_TYPE, type },
		{ "X-Content-Type-Options", "nosniff" },
		{ MHD_HTTP_HEADER_CACHE_CONTROL, "no-store" },
		{ "Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'" },
		{ "Cross-Origin-Resource-Policy", "same-origin" },
	};

	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		response = with_header(response, headers[i][0], headers[i][1]);
	return response;
}

struct MHD_Response *http_response__text(const char *type, const char *text)
{
	return with_headers(
		MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_MUST_COPY),
		type);
}

struct MHD_Response *http_response__pprof_error(const char *text)
{
	struct MHD_Response *response;
	char *line;

	if (asprintf(&line, "%s\n", text) < 0)
		return NULL;
	response = http_response__text("text/plain; charset=utf-8", line);
	free(line);
	return with_header(response, "X-Go-Pprof", "1");
}

static void free_body(void *body)
{
	http_body__release(body);
}

struct MHD_Response *http_response__body(struct http_body *b, const char *type)
{
	struct MHD_Response *response = MHD_create_response_from_buffer_with_free_callback_cls(
		b->size, b->data, free_body, b);

	if (response)
		b->refs++;
	return with_headers(response, type);
}

static void free_stream(void *cls)
{
	http_stream__end(cls);
}

static ssize_t read_nothing(void *cls, uint64_t pos, char *buf, size_t max)
{
	return MHD_CONTENT_READER_END_OF_STREAM;
}

struct MHD_Response *http_response__trace(struct http_stream *s)
{
	struct MHD_Response *response = MHD_create_response_from_callback(
		MHD_SIZE_UNKNOWN, TRACE_BLOCK_SIZE, s ? http_stream__read : read_nothing, s,
		s ? free_stream : NULL);

	if (s && !response)
		http_stream__end(s);
	response = with_headers(response, "application/octet-stream");
	return with_header(response, "Content-Disposition", "attachment; filename=\"trace\"");
}

enum MHD_Result http_response__queue(struct http_request *r, unsigned int status,
				     struct MHD_Response *response)
{
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		response = with_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	if (status == MHD_HTTP_SERVICE_UNAVAILABLE)
		response = with_header(response, MHD_HTTP_HEADER_RETRY_AFTER, "1");
	if (!response)
		return MHD_NO;
	if (!r->stream)
		http_connection__deadline(r->connection, r->front->now, WRITE_NS);
	result = MHD_queue_response(r->mhd, status, response);
	MHD_destroy_response(response);
	return result;
}

unsigned int http_response__status(int err)
{
	switch (err) {
	case -ENOENT:
		return MHD_HTTP_NOT_FOUND;
	case -ENOTUNIQ:
		return MHD_HTTP_BAD_REQUEST;
	case -EBUSY:
	case -EAGAIN:
		return MHD_HTTP_SERVICE_UNAVAILABLE;
	case -ETIMEDOUT:
		return MHD_HTTP_GATEWAY_TIMEOUT;
	default:
		return MHD_HTTP_INTERNAL_SERVER_ERROR;
	}
}
