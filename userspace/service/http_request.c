// SPDX-License-Identifier: GPL-2.0
/*
 * Requests of clients: refuses those that a web site may have caused or that are not understood,
 * and finds the page of the others. See front.h for the pages, http_check.h for what is refused and
 * why.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/front_impl.h"
#include "service/http_check.h"
#include "service/http_headers.h"

#define TEXT "text/plain; charset=utf-8"
#define HTML "text/html; charset=utf-8"

static const char index_page[] =
	"<!DOCTYPE html>\n<title>gotrace-bpf</title>\n<ul>\n"
	"<li><a href=\"/metrics\">/metrics</a>: figures of the targets, as OpenMetrics\n"
	"<li><a href=\"/targets\">/targets</a>: the processes that are recorded, as JSON\n"
	"<li><a href=\"/debug/pprof/\">/debug/pprof/</a>: traces\n</ul>\n";
static const char pprof_page[] =
	"<!DOCTYPE html>\n<title>/debug/pprof/</title>\n<ul>\n"
	"<li><a href=\"/debug/pprof/trace?seconds=1\">trace</a>: an execution trace, for\n"
	"'go tool trace'. Its duration is the argument seconds; if there are several\n"
	"<a href=\"/targets\">targets</a>, pid selects one.\n</ul>\n";

static const char *argument(const struct http_request *r, const char *name)
{
	return MHD_lookup_connection_value(r->mhd, MHD_GET_ARGUMENT_KIND, name);
}

static enum MHD_Result refuse(struct http_request *r, unsigned int status, const char *line)
{
	return http_response__queue(r, status, http_response__text(TEXT, line));
}

/*
 * The first call for a request, when its headers are complete. *ret_refused: a response is on its
 * way, after which the connection is closed.
 */
static enum MHD_Result examine(struct http_request *r, const char *method, bool *ret_refused)
{
	const struct front *f = r->front;
	struct http_headers h;
	unsigned int status;
	const char *line;

	http_headers__read(r->mhd, &h);
	r->openmetrics = h.openmetrics;
	line = http_headers__refusal(&h, method, f->is_unix ? 0 : f->port, &status);
	*ret_refused = line;
	return line ? refuse(r, status, line) : MHD_YES;
}

void http_request__suspend(struct http_request *r)
{
	r->suspended = true;
	MHD_suspend_connection(r->mhd);
}

void http_request__resume(struct http_request *r)
{
	r->suspended = false;
	if (!r->stream) /* the supervisor, not the client, has used the time */
		http_connection__deadline(r->connection, r->front->now, r->front->request_ns);
	MHD_resume_connection(r->mhd);
}

void http_request__fail(struct http_request *r, int err, const char *text)
{
	char line[CHANNEL_TEXT_MAX + 64];

	if (r->failure)
		return;
	snprintf(line, sizeof(line), "%s", *text ? text : strerror(-err));
	r->status = http_response__status(err);
	if (r->status == MHD_HTTP_INTERNAL_SERVER_ERROR && r->stream)
		snprintf(line, sizeof(line), "Could not enable tracing: %s",
			 *text ? text : strerror(-err));
	r->failure = http_response__pprof_error(line);
}

/* As net/http/pprof does, but with an upper limit. */
static enum MHD_Result trace(struct http_request *r, const char *method)
{
	struct error error = {};
	int32_t pid;
	uint64_t ns;

	if (http_check__seconds(argument(r, "seconds"), FRONT_TRACE_SECONDS * 1000 * MS, &ns,
				&error) ||
	    http_check__pid(argument(r, "pid"), &pid, &error))
		return http_response__queue(r, MHD_HTTP_BAD_REQUEST,
					    http_response__pprof_error(error.text));
	if (!strcmp(method, MHD_HTTP_METHOD_HEAD))
		return http_response__queue(r, MHD_HTTP_OK, http_response__trace(NULL));
	http_stream__ask(r, pid, ns);
	return MHD_YES;
}

/* A page that is known, or a request to the supervisor. */
static enum MHD_Result route(struct http_request *r, const char *url, const char *method)
{
	if (!strcmp(url, "/debug/pprof/trace"))
		return trace(r, method);
	if (!strcmp(url, "/metrics") || !strcmp(url, "/targets")) {
		http_page__ask(r, url[1] == 'm' ? PAGE_METRICS : PAGE_TARGETS);
		return MHD_YES;
	}
	if (!strcmp(url, "/"))
		return http_response__queue(r, MHD_HTTP_OK, http_response__text(HTML, index_page));
	if (!strcmp(url, "/debug/pprof/") || !strcmp(url, "/debug/pprof"))
		return http_response__queue(r, MHD_HTTP_OK, http_response__text(HTML, pprof_page));
	return refuse(r, MHD_HTTP_NOT_FOUND, "404 page not found\n");
}

/* Which targets there are, as the reason why a request without a PID is not answered. */
static enum MHD_Result list_targets(struct http_request *r)
{
	static const char reason[] = "several targets: add pid=PID of one of these\n";
	size_t size = sizeof(reason) + r->body->size + 1;
	char *text = malloc(size);
	enum MHD_Result result;

	if (!text)
		return MHD_NO;
	snprintf(text, size, "%s%s", reason, r->body->data);
	result = http_response__queue(r, MHD_HTTP_BAD_REQUEST, http_response__pprof_error(text));
	free(text);
	return result;
}

static const char *page_type(const struct http_request *r)
{
	if (r->page == PAGE_TARGETS)
		return "application/json";
	return r->openmetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8" :
				"text/plain; version=0.0.4; charset=utf-8";
}

/* What a request that has waited ends with; *ret_done is false if there is nothing yet. */
static enum MHD_Result respond(struct http_request *r, bool *ret_done)
{
	struct MHD_Response *failure = r->failure;

	*ret_done = true;
	if (r->gone)
		return MHD_NO;
	if (failure && r->status == MHD_HTTP_BAD_REQUEST && !r->lists) {
		r->lists = true;
		r->failure = NULL;
		MHD_destroy_response(failure);
		if (r->stream)
			http_stream__end(r->stream);
		http_page__ask(r, PAGE_TARGETS);
		return MHD_YES;
	}
	if (failure) {
		r->failure = NULL;
		if (r->stream)
			http_stream__end(r->stream);
		return http_response__queue(r, r->status, failure);
	}
	if (r->body)
		return r->lists ? list_targets(r) :
				  http_response__queue(r, MHD_HTTP_OK,
						       http_response__body(r->body, page_type(r)));
	if (r->stream && !r->stream->started) {
		r->stream->started = true;
		return http_response__queue(r, MHD_HTTP_OK, http_response__trace(r->stream));
	}
	*ret_done = false;
	return MHD_YES;
}

static struct http_request *new_request(struct front *f, struct MHD_Connection *mhd)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct http_connection *c = info ? info->socket_context : NULL;
	struct http_request *r = c ? calloc(1, sizeof(*r)) : NULL;

	if (!r)
		return NULL;
	*r = (struct http_request){ .front = f, .connection = c, .mhd = mhd };
	c->request = r;
	http_connection__deadline(c, f->now, f->request_ns);
	return r;
}

enum MHD_Result http_request__handle(void *front, struct MHD_Connection *mhd, const char *url,
				     const char *method, const char *version, const char *data,
				     size_t *size, void **request)
{
	struct http_request *r = *request;
	enum MHD_Result result;
	bool done;

	if (!r) {
		r = new_request(front, mhd);
		if (!r)
			return MHD_NO;
		*request = r;
		return examine(r, method, &done);
	}
	if (*size)
		return MHD_NO;
	result = respond(r, &done);
	if (!done)
		result = route(r, url, method);
	/* A failure that is known at once */
	if (result == MHD_YES && r->failure && !r->suspended)
		result = respond(r, &done);
	return result;
}

void http_request__end(void *front, struct MHD_Connection *mhd, void **request,
		       enum MHD_RequestTerminationCode code)
{
	struct http_request *r = *request;
	const struct front *f = front;

	if (!r)
		return;
	if (r->stream) {
		struct http_stream *s = r->stream;

		s->request = NULL; /* the response, if it has begun, ends the stream */
		if (!s->started)
			http_stream__end(s);
	}
	if (r->failure)
		MHD_destroy_response(r->failure);
	http_body__release(r->body);
	r->connection->request = NULL;
	http_connection__deadline(r->connection, f->now, f->request_ns * 6);
	free(r);
	*request = NULL;
}
