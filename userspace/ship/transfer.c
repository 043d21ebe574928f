// SPDX-License-Identifier: GPL-2.0
/*
 * The two requests that store a file: see transfer.h.
 */
#include "ship/transfer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define HEADER_SIZE (FACTS_TEXT_SIZE + 64)

struct headers {
	char text[HTTP_HEADERS_MAX][HEADER_SIZE];
	unsigned int n;
};

__attribute__((format(printf, 2, 3))) static void add(struct headers *h, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(h->text[h->n++], HEADER_SIZE, fmt, ap);
	va_end(ap);
}

static void add_fact(struct headers *h, const char *name, const char *text)
{
	if (text[0])
		add(h, "x-amz-meta-%s: %s", name, text);
}

/* For joins of traces of several hosts: how far apart their times may be. */
static void add_clock(struct headers *h, const struct host_clock *c)
{
	if (c->known) {
		add_fact(h, "clock-state", c->synchronized ? "synchronized" : "unsynchronized");
		add(h, "x-amz-meta-clock-max-error-us: %" PRId64, c->max_error_us);
		add(h, "x-amz-meta-clock-error-us: %" PRId64, c->estimated_us);
	}
	if (c->shift_known)
		add(h, "x-amz-meta-clock-shift-us: %" PRId64, c->shift_us);
}

/*
 * No name may be another one and a hyphen: libcurl 7.88 sorts them wrong then, and the signature
 * does not match.
 */
static void add_metadata(struct headers *h, const struct transfer *t)
{
	const struct facts *f = &t->facts;

	add_fact(h, "sha256", t->digest.hex);
	add_fact(h, "host", t->parts->host);
	add_fact(h, "service", t->parts->service);
	add_fact(h, "pid", t->parts->pid);
	add_fact(h, "start", t->parts->start);
	add_fact(h, "program", f->program);
	add_fact(h, "build-id", f->build_id);
	add_fact(h, "go-version", f->go_version);
	add_fact(h, "recorder", f->recorder);
	add_clock(h, &f->clock);
}

static int start(struct http *h, unsigned int slot, const struct transfer *t,
		 const struct headers *headers, int fd, const struct credentials *credentials)
{
	char key[PLACE_KEY_SIZE], url[PLACE_URL_SIZE];
	struct http_request request = { .url = url, .fd = fd, .size = fd < 0 ? 0 : t->bytes };

	place__key(t->place, t->parts, t->name, key);
	place__url(t->place, key, url);
	for (unsigned int i = 0; i < headers->n; i++)
		request.header[request.nheaders++] = headers->text[i];
	return http__start(h, slot, &request, credentials);
}

int transfer__put(struct http *h, unsigned int slot, const struct transfer *t, int fd,
		  const struct credentials *credentials)
{
	struct headers headers = {};

	add(&headers, "content-type: application/octet-stream");
	add(&headers, "if-none-match: *");
	add(&headers, "x-amz-content-sha256: %s", t->digest.hex);
	add(&headers, "x-amz-checksum-sha256: %s", t->digest.base64);
	add_metadata(&headers, t);
	return start(h, slot, t, &headers, fd, credentials);
}

int transfer__head(struct http *h, unsigned int slot, const struct transfer *t,
		   const struct credentials *credentials)
{
	struct headers headers = {};

	add(&headers, "x-amz-content-sha256: " DIGEST_OF_NOTHING);
	add(&headers, "x-amz-checksum-mode: ENABLED");
	return start(h, slot, t, &headers, -1, credentials);
}

/* ---- answers ---- */

static bool is_ok(const struct http_answer *a)
{
	return a->status >= 200 && a->status < 300;
}

/* 400 has many causes; these pass: the request did not arrive as it was sent. */
static enum transfer_result failure(const struct http_answer *a)
{
	if (a->untrusted || (a->status >= 300 && a->status < 400) || a->status == 401 ||
	    a->status == 403 || a->status == 404 || a->status == 405 || a->status == 501)
		return TRANSFER_DENIED;
	return TRANSFER_RETRY;
}

static enum transfer_result result_of_put(const struct transfer *t, const struct http_answer *a)
{
	if (a->status == 412)
		return TRANSFER_UNCERTAIN;
	if (!is_ok(a))
		return failure(a);
	return strcmp(a->checksum, t->digest.base64) ? TRANSFER_UNCERTAIN : TRANSFER_ACCEPTED;
}

/*
 * The server's own checksum decides. Without one, the metadata shows which bytes the server
 * compared with the signed checksum when it took the object.
 */
static enum transfer_result result_of_head(const struct transfer *t, const struct http_answer *a)
{
	bool same;

	if (a->status == 404) /* it was not stored, or it was removed */
		return TRANSFER_RETRY;
	if (!is_ok(a))
		return failure(a);
	same = a->checksum[0] ? !strcmp(a->checksum, t->digest.base64) :
				!strcmp(a->sha256, t->digest.hex);
	return same && a->length == t->bytes ? TRANSFER_ACCEPTED : TRANSFER_DIFFERS;
}

enum transfer_result transfer__result(const struct transfer *t, const struct http_answer *answer,
				      bool is_head)
{
	return is_head ? result_of_head(t, answer) : result_of_put(t, answer);
}
