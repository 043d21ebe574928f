// SPDX-License-Identifier: GPL-2.0
/* Names of requests: see request_names.h. */
#include "names/request_names.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "lib/buf.h"
#include "lib/unicode.h"
#include "names/sql_text.h"

#define METHOD_MAX 32
#define HEX_MIN	   8  /* digits from which a hexadecimal segment of a path is an identifier */
#define TOKEN_MIN  16 /* letters and digits from which they can be a token */
#define ID_TEXT	   "{id}"

/* A name that is being written; what does not fit is left out. */
struct name {
	char *text;
	size_t len;
};

static void name__add(struct name *n, const char *text, size_t len)
{
	if (len > REQUEST_NAME_MAX - n->len)
		len = REQUEST_NAME_MAX - n->len;
	memcpy(n->text + n->len, text, len);
	n->len += len;
	PARSER_STEPS(len);
}

/* Makes it printable; a character that was cut is removed. */
static size_t name__finish(struct name *n, bool is_cut)
{
	while (is_cut && n->len && ((unsigned char)n->text[n->len - 1] & 0xc0) == 0x80)
		n->len--;
	if (is_cut && n->len && (unsigned char)n->text[n->len - 1] >= 0xc0)
		n->len--;
	for (size_t i = 0; i < n->len; i++) {
		if (!n->text[i])
			n->text[i] = '?';
	}
	if (!n->len)
		name__add(n, "?", 1);
	n->text[n->len] = '\0';
	utf8__make_printable(n->text);
	return strlen(n->text);
}

/* ---- HTTP ---- */

/* A token of RFC 9110, as net/http requires. */
static bool is_method(const struct request_part *p)
{
	for (size_t i = 0; i < p->len; i++) {
		unsigned char c = (unsigned char)p->text[i];

		PARSER_STEPS(1);
		if (!isalnum(c) && (!c || !strchr("!#$%&'*+-.^_`|~", c)))
			return false;
	}
	return p->len && p->len <= METHOD_MAX;
}

static bool is_uuid(const char *text, size_t len)
{
	if (len != 36)
		return false;
	for (size_t i = 0; i < len; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? text[i] != '-' : !isxdigit((unsigned char)text[i]))
			return false;
	}
	return true;
}

/*
 * A key or encoded bytes: letters and digits, perhaps with separators, of which a fifth are digits, or
 * that change between digits and cases more often than words and versions do, as `GetUserV2`.
 */
static bool is_token(const char *text, size_t len)
{
	size_t n = 0, digits = 0, words = 0;
	int before = 0, kind;

	for (size_t i = 0; i < len; i++, before = kind) {
		unsigned char c = (unsigned char)text[i];

		PARSER_STEPS(1);
		if (!isalnum(c) && (!c || !strchr("-_.~=+", c)))
			return false;
		kind = isdigit(c) ? '0' : islower(c) ? 'a' : isupper(c) ? 'A' : 0;
		n += kind != 0;
		digits += kind == '0';
		words += kind && kind != before && !(before == 'A' && kind == 'a');
	}
	return digits && n >= TOKEN_MIN && (digits * 5 >= n || n * 4 < words * 11);
}

static bool is_address_of_mail(const char *text, size_t len)
{
	const char *at = memchr(text, '@', len);

	return at && at != text && at + 1 != text + len;
}

/* A number, a long hexadecimal one, a UUID or another long token, or an e-mail address. */
static bool is_id(const char *text, size_t len)
{
	size_t digits = 0, hex = 0;

	PARSER_STEPS(2 * len); /* is_address_of_mail() searches it, too */
	for (size_t i = 0; i < len; i++) {
		digits += isdigit((unsigned char)text[i]) != 0;
		hex += isxdigit((unsigned char)text[i]) != 0;
	}
	return (len && digits == len) || (len >= HEX_MIN && hex == len) || is_token(text, len) ||
	       is_uuid(text, len) || is_address_of_mail(text, len);
}

/* The path, with {id} for segments that identify something. A decoded path may contain a '?'. */
static void add_path(struct name *n, const struct request_part *path)
{
	const char *at = path->text, *query = memchr(at, '?', path->len);
	const char *end = query ? query : at + path->len;

	if (at == end)
		name__add(n, "/", 1);
	while (at < end && n->len < REQUEST_NAME_MAX) {
		const char *slash = memchr(at, '/', (size_t)(end - at));
		size_t len = (size_t)((slash ? slash : end) - at);
		const char *parameter = memchr(at, ';', len); /* RFC 3986, 3.3 */
		size_t shown = parameter ? (size_t)(parameter - at) : len;

		PARSER_STEPS(1 + len);
		if (is_id(at, shown))
			name__add(n, ID_TEXT, sizeof(ID_TEXT) - 1);
		else
			name__add(n, at, shown);
		at += len;
		if (slash) {
			name__add(n, "/", 1);
			at++;
		}
	}
}

/* A pattern is "[METHOD ][HOST]/[PATH]"; its method is replaced by that of the request, such as HEAD. */
static void add_pattern(struct name *n, const struct request_part *pattern)
{
	const char *at = pattern->text, *end = at + pattern->len;
	const char *slash = memchr(at, '/', pattern->len);

	for (const char *p = at; slash && p < slash; p++) {
		PARSER_STEPS(1);
		if (*p == ' ' || *p == '\t')
			at = p + 1;
	}
	name__add(n, at, (size_t)(end - at));
}

/* "METHOD ROUTE"; the parts: method, path, pattern. */
static size_t name_http(struct name *n, const struct request_part part[REQUEST_PARTS])
{
	if (is_method(&part[0]))
		name__add(n, part[0].text, part[0].len);
	else
		name__add(n, "?", 1);
	name__add(n, " ", 1);
	if (part[REQUEST_BETTER].len)
		add_pattern(n, &part[REQUEST_BETTER]);
	else
		add_path(n, &part[1]);
	return name__finish(n, n->len == REQUEST_NAME_MAX);
}

/* ---- SQL ---- */

/* The statement; the parts: the statement, none. */
static size_t name_sql(struct name *n, const struct request_part part[REQUEST_PARTS])
{
	n->len = sql_text__shape(part[0].text, part[0].len, n->text, REQUEST_NAME_MAX);
	return name__finish(n, n->len == REQUEST_NAME_MAX);
}

/* ---- clients, and servers of gRPC ---- */

/* "METHOD HOST"; the parts: method, GET if it is empty; the host of the URL. */
static size_t name_http_client(struct name *n, const struct request_part part[REQUEST_PARTS])
{
	if (!part[0].len)
		name__add(n, "GET", 3);
	else if (is_method(&part[0]))
		name__add(n, part[0].text, part[0].len);
	else
		name__add(n, "?", 1);
	name__add(n, " ", 1);
	name__add(n, part[1].text, part[1].len);
	return name__finish(n, n->len == REQUEST_NAME_MAX);
}

/* IPv4 or IPv6, which no name of a host looks like. */
static bool is_address(const struct request_part *p)
{
	size_t digits = 0, dots = 0;

	for (size_t i = 0; i < p->len; i++) {
		PARSER_STEPS(1);
		if (p->text[i] == ':')
			return true;
		digits += isdigit((unsigned char)p->text[i]) != 0;
		dots += p->text[i] == '.';
	}
	return p->len && digits + dots == p->len;
}

/* The name that is looked up; the parts: this name, none. */
static size_t name_dns(struct name *n, const struct request_part part[REQUEST_PARTS])
{
	if (is_address(&part[0]))
		name__add(n, "{addr}", 6);
	else
		name__add(n, part[0].text, part[0].len);
	return name__finish(n, n->len == REQUEST_NAME_MAX);
}

/* The full method, such as /package.Service/Method; the parts: the method, none. */
static size_t name_grpc(struct name *n, const struct request_part part[REQUEST_PARTS])
{
	name__add(n, part[0].text, part[0].len);
	return name__finish(n, n->len == REQUEST_NAME_MAX);
}

size_t request_name__make(enum gt_preset preset, const struct request_part part[REQUEST_PARTS],
			  char *ret)
{
	static size_t (*const make[GT_PRESETS])(struct name *n, const struct request_part *part) = {
		[GT_PRESET_HTTP] = name_http,
		[GT_PRESET_SQL] = name_sql,
		[GT_PRESET_HTTP_CLIENT] = name_http_client,
		[GT_PRESET_DNS] = name_dns,
		[GT_PRESET_GRPC_CLIENT] = name_grpc,
		[GT_PRESET_GRPC] = name_grpc,
	};

	return make[preset](&(struct name){ .text = ret }, part);
}
