// SPDX-License-Identifier: GPL-2.0
/*
 * Answers of a server: see answer.h.
 */
#include "ship/answer.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "lib/opts.h"
#include "lib/printable.h"

void answer__begin(struct answer *a)
{
	a->got = (struct http_answer){};
	a->too_large = NULL;
	a->header_bytes = a->body_bytes = a->kept = 0;
	a->body[0] = '\0';
}

_Static_assert(ANSWER_HEADERS_MAX == 64 << 10 && ANSWER_BODY_MAX == 64 << 10,
	       "as in answer__fail()");

/* ---- headers ---- */

/* If the line is this header: its value, without spaces at the ends, as far as there is room. */
static bool take_header(const char *line, size_t len, const char *name, char *to, size_t size)
{
	size_t n = strlen(name);

	if (len <= n || strncasecmp(line, name, n) || line[n] != ':')
		return false;
	line += n + 1;
	len -= n + 1;
	while (len && strchr(" \t", *line) && *line) {
		line++;
		len--;
	}
	while (len && strchr(" \t\r\n", line[len - 1]) && line[len - 1])
		len--;
	len = len < size ? len : size - 1;
	memcpy(to, line, len);
	to[len] = '\0';
	printable__clean(to, size);
	return true;
}

bool answer__header(struct answer *a, const char *line, size_t len)
{
	struct http_answer *got = &a->got;
	char number[24];

	a->header_bytes += len;
	if (a->header_bytes > ANSWER_HEADERS_MAX) {
		a->too_large = "header";
		return false;
	}
	if (len >= 5 && !strncasecmp(line, "HTTP/", 5)) /* what precedes is an interim answer */
		*got = (struct http_answer){};
	if (take_header(line, len, "x-amz-checksum-sha256", got->checksum, sizeof(got->checksum)) ||
	    take_header(line, len, "x-amz-meta-sha256", got->sha256, sizeof(got->sha256)))
		return true;
	if (take_header(line, len, "content-length", number, sizeof(number)) &&
	    !opts__number(number, 0, UINT64_MAX, &got->length))
		got->length = UINT64_MAX;
	return true;
}

/* ---- the body of an error ---- */

bool answer__body(struct answer *a, const char *data, size_t len)
{
	size_t room = ANSWER_BODY_KEPT - a->kept;

	a->body_bytes += len;
	if (a->body_bytes > ANSWER_BODY_MAX) {
		a->too_large = "body";
		return false;
	}
	len = len < room ? len : room;
	memcpy(a->body + a->kept, data, len);
	a->kept += len;
	a->body[a->kept] = '\0';
	return true;
}

/* The text between <name> and </name>: all that is needed of the XML of an error. */
static void take_element(const char *body, const char *name, char *to, size_t size)
{
	char tag[32];
	const char *text, *end;

	snprintf(tag, sizeof(tag), "<%s>", name);
	text = strstr(body, tag);
	snprintf(tag, sizeof(tag), "</%s>", name);
	end = text ? strstr(text, tag) : NULL;
	if (!end)
		return;
	text += strlen(name) + 2;
	snprintf(to, size, "%.*s", (int)(end - text), text);
	printable__clean(to, size);
}

void answer__end(struct answer *a)
{
	struct http_answer *got = &a->got;
	char message[160] = "";

	take_element(a->body, "Code", got->code, sizeof(got->code));
	take_element(a->body, "Message", message, sizeof(message));
	snprintf(got->reason, sizeof(got->reason), "status %u%s%s%s%s", got->status,
		 got->code[0] ? " " : "", got->code, message[0] ? ": " : "", message);
}

void answer__fail(struct answer *a, const char *why)
{
	struct http_answer *got = &a->got;

	got->status = 0;
	if (a->too_large)
		snprintf(got->reason, sizeof(got->reason),
			 "the server's answer is too large: its %s exceeds 64 KiB", a->too_large);
	else
		snprintf(got->reason, sizeof(got->reason), "%s", why);
}
