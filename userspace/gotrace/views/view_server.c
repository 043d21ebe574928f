// SPDX-License-Identifier: GPL-2.0
/*
 * The HTTP server of gotrace view, on loopback:
 *
 *     GET /TOKEN/                                          the page
 *     GET /TOKEN/data.json                                 the data of the whole trace
 *     GET /TOKEN/range.json?from=NS&to=NS[&width=PX][&lanes=ID,...]  lanes of a part
 *
 * Read-only. Some threads of libmicrohttpd answer, none of which waits for a client. The token keeps
 * other users of the machine out, http_headers.h other web sites.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gotrace/views/view.h"
#include "lib/log.h"
#include "lib/opts.h"
#include "report/page.h"
#include "service/http_headers.h"

#define THREADS		   4u
#define CONNECTION_SECONDS 10u	       /* without any byte from or to the client */
#define REQUEST_MEMORY	   (64u << 10) /* of a connection: bounds headers and arguments */
#define BACKLOG		   64
#define WIDTH_MAX	   10000 /* pixels */
#define LANES_MAX	   4096	 /* characters: each lane is compared with the list */

#define TEXT		   "text/plain; charset=utf-8"
#define HTML		   "text/html; charset=utf-8"
#define JSON		   "application/json"

/* ---- responses ---- */

static enum MHD_Result respond(struct MHD_Connection *mhd, unsigned int status, const char *type,
			       const void *data, size_t len, enum MHD_ResponseMemoryMode mode)
{
	const char *const headers[][2] = {
		{ MHD_HTTP_HEADER_CONTENT_TYPE, type },
		{ "X-Content-Type-Options", "nosniff" },
		{ MHD_HTTP_HEADER_CACHE_CONTROL, "no-store" },
		{ "Content-Security-Policy",
		  "default-src 'none'; script-src 'unsafe-inline' blob:; worker-src blob:; "
		  "style-src 'unsafe-inline'; img-src data: blob:; connect-src 'self'; "
		  "frame-ancestors 'none'; base-uri 'none'; form-action 'none'" },
		{ "Cross-Origin-Resource-Policy", "same-origin" },
		{ "Referrer-Policy", "no-referrer" },
	};
	struct MHD_Response *response = MHD_create_response_from_buffer(len, (void *)data, mode);
	enum MHD_Result result = response ? MHD_YES : MHD_NO;

	for (size_t i = 0; result == MHD_YES && i < sizeof(headers) / sizeof(headers[0]); i++)
		result = MHD_add_response_header(response, headers[i][0], headers[i][1]);
	if (result == MHD_YES)
		result = MHD_queue_response(mhd, status, response);
	if (response)
		MHD_destroy_response(response);
	else if (mode == MHD_RESPMEM_MUST_FREE)
		free((void *)data);
	return result;
}

static enum MHD_Result respond_line(struct MHD_Connection *mhd, unsigned int status,
				    const char *line)
{
	return respond(mhd, status, TEXT, line, strlen(line), MHD_RESPMEM_MUST_COPY);
}

/* ---- ranges ---- */

/* An argument that is a number; false if it is none, or missing without a default. */
static bool number(struct MHD_Connection *mhd, const char *name, uint64_t min, uint64_t max,
		   uint64_t *ret)
{
	const char *text = MHD_lookup_connection_value(mhd, MHD_GET_ARGUMENT_KIND, name);

	return text ? opts__number(text, min, max, ret) : *ret != UINT64_MAX;
}

static enum MHD_Result invalid_range(struct MHD_Connection *mhd)
{
	return respond_line(
		mhd, MHD_HTTP_BAD_REQUEST,
		"400 bad request: expected from=NS and to=NS in the trace, in this order, "
		"width=PIXELS up to 10000, and lanes=ID,... up to 4096 characters\n");
}

static enum MHD_Result serve_range(struct view *v, struct MHD_Connection *mhd)
{
	struct view_range range = { .from = UINT64_MAX, .to = UINT64_MAX, .width = 1000 };
	struct error error = {};
	struct view_text text;
	char line[sizeof(error.text) + 1];
	int err;

	if (!number(mhd, "from", 0, v->ns, &range.from) ||
	    !number(mhd, "to", 1, (uint64_t)INT64_MAX / 2, &range.to) ||
	    !number(mhd, "width", 1, WIDTH_MAX, &range.width))
		return invalid_range(mhd);
	range.lanes = MHD_lookup_connection_value(mhd, MHD_GET_ARGUMENT_KIND, "lanes");
	range.to = range.to < v->ns ? range.to : v->ns;
	if (range.from >= range.to || (range.lanes && strlen(range.lanes) > LANES_MAX))
		return invalid_range(mhd);
	err = view__read_range(v, &range, &text, &error);
	if (!err)
		return respond(mhd, MHD_HTTP_OK, JSON, text.data, text.len, MHD_RESPMEM_MUST_FREE);
	log__msg("%s", error.text);
	snprintf(line, sizeof(line), "%s\n", error.text);
	return respond_line(
		mhd, err == -ESTALE ? MHD_HTTP_CONFLICT : MHD_HTTP_INTERNAL_SERVER_ERROR, line);
}

/* ---- requests ---- */

/* The path behind "/TOKEN"; NULL: the token is wrong. Takes the same time for each wrong token. */
static const char *behind_token(const struct view *v, const char *url)
{
	unsigned char differs = 0;

	if (strlen(url) < VIEW_TOKEN + 2 || url[0] != '/' || url[VIEW_TOKEN + 1] != '/')
		return NULL;
	for (unsigned int i = 0; i < VIEW_TOKEN; i++)
		differs |= (unsigned char)(url[i + 1] ^ v->token[i]);
	return differs ? NULL : url + VIEW_TOKEN + 1;
}

static enum MHD_Result handle(void *context, struct MHD_Connection *mhd, const char *url,
			      const char *method, const char *version, const char *data,
			      size_t *size, void **request)
{
	struct view *v = context;
	struct http_headers headers;
	unsigned int status;
	const char *line, *path;

	(void)version;
	(void)data;
	if (*size)
		return MHD_NO;
	http_headers__read(mhd, &headers);
	line = http_headers__refusal(&headers, method, v->port, &status);
	if (line)
		return respond_line(mhd, status, line);
	if (!*request) { /* the headers are complete; the next call is that of the whole request */
		*request = v;
		return MHD_YES;
	}
	path = behind_token(v, url);
	if (!path)
		return respond_line(mhd, MHD_HTTP_FORBIDDEN,
				    "403 forbidden: use the URL that 'gotrace view' has printed\n");
	view_clients__trust(&v->clients, mhd);
	if (!strcmp(path, "/"))
		return respond(mhd, MHD_HTTP_OK, HTML, report_page,
			       (size_t)(report_page_end - report_page), MHD_RESPMEM_PERSISTENT);
	if (!strcmp(path, "/data.json"))
		return respond(mhd, MHD_HTTP_OK, JSON, v->whole.data, v->whole.len,
			       MHD_RESPMEM_PERSISTENT);
	if (!strcmp(path, "/range.json"))
		return serve_range(v, mhd);
	return respond_line(mhd, MHD_HTTP_NOT_FOUND, "404 page not found\n");
}

/* ---- the server ---- */

static int choose_token(struct view *v)
{
	unsigned char random[VIEW_TOKEN / 2];

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return -EIO;
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(v->token + 2 * i, 3, "%02x", random[i]);
	return 0;
}

int view__listen(struct view *v, uint16_t port, struct error *error)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };
	socklen_t len = sizeof(address);
	const int yes = 1;
	int err = 0;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	v->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (v->fd < 0 || setsockopt(v->fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) ||
	    bind(v->fd, (struct sockaddr *)&address, len) || listen(v->fd, BACKLOG) ||
	    getsockname(v->fd, (struct sockaddr *)&address, &len))
		err = -errno;
	else
		err = choose_token(v);
	v->port = ntohs(address.sin_port);
	if (!err)
		return 0;
	if (v->fd >= 0)
		close(v->fd);
	return error__set(error, err, "cannot listen on 127.0.0.1:%u: %s", port, strerror(-err));
}

int view__serve(struct view *v, struct error *error)
{
	struct MHD_Daemon *daemon;
	sigset_t ends;
	int signal;

	view_clients__init(&v->clients);
	daemon = MHD_start_daemon(MHD_USE_POLL_INTERNAL_THREAD, 0, NULL, NULL, handle, v,
				  MHD_OPTION_LISTEN_SOCKET, v->fd, MHD_OPTION_THREAD_POOL_SIZE,
				  THREADS, MHD_OPTION_CONNECTION_LIMIT, VIEW_CONNECTIONS,
				  MHD_OPTION_NOTIFY_CONNECTION, view_clients__notify, &v->clients,
				  MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_MEMORY,
				  MHD_OPTION_CONNECTION_TIMEOUT, CONNECTION_SECONDS,
				  MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
	if (!daemon) {
		view_clients__deinit(&v->clients);
		close(v->fd);
		return error__set(error, -EIO, "cannot start the HTTP server");
	}
	printf("http://127.0.0.1:%u/%s/\n", v->port, v->token);
	fflush(stdout);
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigwait(&ends, &signal);
	MHD_stop_daemon(daemon);
	view_clients__deinit(&v->clients);
	return 0;
}
