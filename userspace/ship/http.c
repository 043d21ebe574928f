// SPDX-License-Identifier: GPL-2.0
/*
 * Signed HTTP requests: see http.h.
 */
#include "ship/http.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ship/curl_library.h"

#define CONNECT_SECONDS 10
#define RATE_MIN	8192 /* bytes/s: of a whole request */
#define RETRY_MAX	300  /* s */

struct http_slot {
	CURL *easy;
	struct curl_slist *headers;
	int fd;
	uint64_t size, at; /* of the body */
	struct answer answer;
};

struct http {
	struct http_opts opts;
	char signature[128]; /* what it is for */
	CURLM *multi;
	struct http_slot slot[HTTP_SLOTS_MAX];
};

/* ---- the answer ---- */

static size_t on_header(char *line, size_t size, size_t n, void *ctx)
{
	struct http_slot *s = ctx;

	return answer__header(&s->answer, line, size * n) ? size * n : 0;
}

static size_t on_body(char *data, size_t size, size_t n, void *ctx)
{
	struct http_slot *s = ctx;

	return answer__body(&s->answer, data, size * n) ? size * n : 0;
}

/* ---- the request ---- */

/* A file that became shorter ends the request. */
static size_t read_body(char *to, size_t size, size_t n, void *ctx)
{
	struct http_slot *s = ctx;
	uint64_t left = s->size - s->at;
	size_t len = size * n < left ? size * n : left;
	ssize_t got = len ? pread(s->fd, to, len, (off_t)s->at) : 0;

	if (got < 0 || (len && !got))
		return CURL_READFUNC_ABORT;
	s->at += (uint64_t)got;
	return (size_t)got;
}

/* libcurl sends the body again where a connection that was open ended before the answer. */
static int seek_body(void *ctx, curl_off_t offset, int origin)
{
	struct http_slot *s = ctx;

	if (origin != SEEK_SET || offset < 0 || (uint64_t)offset > s->size)
		return CURL_SEEKFUNC_CANTSEEK;
	s->at = (uint64_t)offset;
	return CURL_SEEKFUNC_OK;
}

#define SET(option, value)                                                                         \
	do {                                                                                       \
		if (libcurl.curl_easy_setopt(s->easy, option, value))                              \
			return -ENOMEM;                                                            \
	} while (0)

/* The secret key stays here: libcurl computes a signature with it, which is all that it sends. */
static int set_signature(const struct http *h, struct http_slot *s, const struct credentials *c)
{
	SET(CURLOPT_AWS_SIGV4, h->signature);
	SET(CURLOPT_USERNAME, c->id);
	SET(CURLOPT_PASSWORD, c->secret);
	SET(CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	return 0;
}

/* What bounds the request, and whom it may reach. */
static int set_limits(const struct http *h, struct http_slot *s)
{
	unsigned long seconds = 2ul * h->opts.timeout + s->size / RATE_MIN;

	SET(CURLOPT_PROTOCOLS_STR, "http,https");
	SET(CURLOPT_FOLLOWLOCATION, 0l);
	SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	SET(CURLOPT_NOSIGNAL, 1l);
	SET(CURLOPT_QUICK_EXIT, 1l);
	SET(CURLOPT_PATH_AS_IS, 1l);
	SET(CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
	SET(CURLOPT_LOW_SPEED_LIMIT, 1l);
	SET(CURLOPT_LOW_SPEED_TIME, (long)h->opts.timeout);
	SET(CURLOPT_TIMEOUT, (long)seconds);
	if (h->opts.loopback)
		SET(CURLOPT_NOPROXY, "*");
	if (h->opts.ca)
		SET(CURLOPT_CAINFO, h->opts.ca);
	return 0;
}

static int set_body(struct http_slot *s)
{
	SET(CURLOPT_HEADERFUNCTION, on_header);
	SET(CURLOPT_HEADERDATA, s);
	SET(CURLOPT_WRITEFUNCTION, on_body);
	SET(CURLOPT_WRITEDATA, s);
	if (s->fd < 0) {
		SET(CURLOPT_NOBODY, 1l);
		return 0;
	}
	SET(CURLOPT_UPLOAD, 1l);
	SET(CURLOPT_INFILESIZE_LARGE, (curl_off_t)s->size);
	SET(CURLOPT_READFUNCTION, read_body);
	SET(CURLOPT_READDATA, s);
	SET(CURLOPT_SEEKFUNCTION, seek_body);
	SET(CURLOPT_SEEKDATA, s);
	return 0;
}

static int add_headers(struct http_slot *s, const struct http_request *request,
		       const struct credentials *c)
{
	char token[CREDENTIALS_SIZE + 32];
	struct curl_slist *list;

	for (unsigned int i = 0; i <= request->nheaders; i++) {
		snprintf(token, sizeof(token), "x-amz-security-token: %s", c->token);
		if (i == request->nheaders && !c->token[0])
			break;
		list = libcurl.curl_slist_append(
			s->headers, i < request->nheaders ? request->header[i] : token);
		if (!list)
			return -ENOMEM;
		s->headers = list;
	}
	SET(CURLOPT_HTTPHEADER, s->headers);
	return 0;
}

static int prepare(const struct http *h, struct http_slot *s, const struct http_request *request,
		   const struct credentials *c)
{
	int err;

	libcurl.curl_easy_reset(s->easy);
	SET(CURLOPT_URL, request->url);
	SET(CURLOPT_PRIVATE, s);
	err = set_limits(h, s);
	err = err ?: set_signature(h, s, c);
	err = err ?: set_body(s);
	return err ?: add_headers(s, request, c);
}

static void forget_headers(struct http_slot *s)
{
	libcurl.curl_slist_free_all(s->headers);
	s->headers = NULL;
}

int http__start(struct http *h, unsigned int slot, const struct http_request *request,
		const struct credentials *credentials)
{
	struct http_slot *s = &h->slot[slot];
	int err;

	s->fd = request->fd;
	s->size = request->size;
	s->at = 0;
	answer__begin(&s->answer);
	err = prepare(h, s, request, credentials);
	if (!err && libcurl.curl_multi_add_handle(h->multi, s->easy))
		err = -ENOMEM;
	if (err)
		forget_headers(s);
	return err;
}

/* ---- several at a time ---- */

void http__wait(struct http *h, int stop_fd, int ms)
{
	struct curl_waitfd stop = { .fd = stop_fd, .events = CURL_WAIT_POLLIN };
	int running;

	libcurl.curl_multi_perform(h->multi, &running);
	libcurl.curl_multi_poll(h->multi, &stop, 1, ms, NULL);
	libcurl.curl_multi_perform(h->multi, &running);
}

static bool is_untrusted(CURLcode code)
{
	return code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE ||
	       code == CURLE_SSL_ISSUER_ERROR;
}

static void finish(struct http_slot *s, CURLcode code)
{
	struct http_answer *got = &s->answer.got;
	curl_off_t seconds = 0;
	long status = 0;

	libcurl.curl_easy_getinfo(s->easy, CURLINFO_RESPONSE_CODE, &status);
	libcurl.curl_easy_getinfo(s->easy, CURLINFO_RETRY_AFTER, &seconds);
	got->status = status > 0 && status < 1000 ? (unsigned int)status : 0;
	got->retry_after = seconds < 0 ? 0 : seconds < RETRY_MAX ? seconds : RETRY_MAX;
	got->untrusted = is_untrusted(code);
	if (code)
		answer__fail(&s->answer, libcurl.curl_easy_strerror(code));
	else
		answer__end(&s->answer);
	forget_headers(s);
}

bool http__next(struct http *h, unsigned int *ret_slot, struct http_answer *ret)
{
	struct http_slot *s;
	CURLMsg *message;
	CURLcode code;
	char *private;
	int left;

	do {
		message = libcurl.curl_multi_info_read(h->multi, &left);
		if (!message)
			return false;
	} while (message->msg != CURLMSG_DONE);
	code = message->data.result;
	libcurl.curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &private);
	s = (struct http_slot *)private;
	libcurl.curl_multi_remove_handle(h->multi, s->easy); /* the message is invalid now */
	finish(s, code);
	*ret_slot = (unsigned int)(s - h->slot);
	*ret = s->answer.got;
	return true;
}

int http__open(struct http **ret, const struct http_opts *opts, struct error *error)
{
	struct http *h;
	int err = curl_library__load(error);

	if (err)
		return err;
	h = calloc(1, sizeof(*h));
	if (!h)
		return error__set(error, -ENOMEM, "out of memory");
	h->opts = *opts;
	snprintf(h->signature, sizeof(h->signature), "aws:amz:%s:s3", opts->region);
	h->multi = libcurl.curl_multi_init();
	for (unsigned int i = 0; h->multi && i < opts->slots; i++) {
		h->slot[i].easy = libcurl.curl_easy_init();
		if (!h->slot[i].easy)
			err = -ENOMEM;
	}
	if (!h->multi || err) {
		http__close(h);
		return error__set(error, -ENOMEM, "out of memory");
	}
	libcurl.curl_multi_setopt(h->multi, CURLMOPT_MAXCONNECTS, (long)opts->slots);
	*ret = h;
	return 0;
}

void http__close(struct http *h)
{
	if (!h)
		return;
	for (unsigned int i = 0; i < HTTP_SLOTS_MAX; i++) {
		struct http_slot *s = &h->slot[i];

		if (!s->easy)
			continue;
		libcurl.curl_multi_remove_handle(h->multi, s->easy);
		libcurl.curl_easy_cleanup(s->easy);
		forget_headers(s);
	}
	if (h->multi)
		libcurl.curl_multi_cleanup(h->multi);
	free(h);
}
