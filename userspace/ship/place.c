// SPDX-License-Identifier: GPL-2.0
/*
 * Where a trace of a spool is stored: see place.h.
 *
 * Objects are addressed by their path ("path style"), since every S3-compatible server supports
 * that, whatever the name of the bucket.
 */
#include "ship/place.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOWER	"abcdefghijklmnopqrstuvwxyz"
#define UPPER	"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS	"0123456789"
#define PLAIN	LOWER UPPER DIGITS "-_."
#define PORTMAX 65535

/* ---- the destination ---- */

static bool consists_of(const char *text, const char *letters)
{
	return text[0] && !text[strspn(text, letters)];
}

/* No part may be empty, "." or "..": servers and proxies may change such a path. */
static bool is_prefix(const char *text)
{
	size_t len;

	if (!consists_of(text, PLAIN "=/"))
		return false;
	for (; *text; text += len + (text[len] == '/')) {
		len = strcspn(text, "/");
		if (!len || (text[0] == '.' && (len == 1 || (len == 2 && text[1] == '.'))))
			return false;
	}
	return true;
}

static bool is_bucket(const char *text)
{
	size_t len = strlen(text);

	return len >= 3 && len < PLACE_BUCKET_SIZE && consists_of(text, LOWER DIGITS "-.") &&
	       strchr(LOWER DIGITS, text[0]) && strchr(LOWER DIGITS, text[len - 1]);
}

int place__set_bucket(struct place *p, const char *text, struct error *error)
{
	static const char scheme[] = "s3://";
	char copy[PLACE_BUCKET_SIZE + PLACE_PREFIX_SIZE], *prefix;
	size_t len = strlen(text);

	if (strncmp(text, scheme, strlen(scheme)) || len >= sizeof(copy))
		return error__set(error, -EINVAL,
				  "invalid destination '%.80s': expected s3://BUCKET/PREFIX", text);
	strcpy(copy, text + strlen(scheme));
	prefix = copy + strcspn(copy, "/");
	if (*prefix)
		*prefix++ = '\0';
	len = strlen(prefix);
	if (len && prefix[len - 1] == '/')
		prefix[--len] = '\0';
	if (!is_bucket(copy))
		return error__set(error, -EINVAL,
				  "invalid bucket '%s': expected 3 to 63 lower-case letters, "
				  "digits, dots and hyphens",
				  copy);
	if (len && (len >= PLACE_PREFIX_SIZE || !is_prefix(prefix)))
		return error__set(error, -EINVAL,
				  "invalid prefix '%.80s': expected letters, digits and -_.= "
				  "between single slashes",
				  prefix);
	strcpy(p->bucket, copy);
	strcpy(p->prefix, prefix);
	return 0;
}

int place__set_region(struct place *p, const char *text, struct error *error)
{
	if (strlen(text) >= PLACE_REGION_SIZE || !consists_of(text, LOWER DIGITS "-"))
		return error__set(error, -EINVAL,
				  "invalid region '%.64s': expected a name such as eu-central-1",
				  text);
	strcpy(p->region, text);
	return 0;
}

/* "HOST[:PORT]", with an IPv6 address in brackets. Sets *ret_len to the length of HOST. */
static bool is_authority(const char *text, size_t *ret_len)
{
	char *end;
	size_t len;

	if (text[0] == '[') {
		len = strspn(text + 1, DIGITS "abcdefABCDEF:.") + 1;
		if (text[len] != ']')
			return false;
		len++;
	} else {
		len = strspn(text, LOWER UPPER DIGITS "-.");
	}
	*ret_len = len;
	if (!len || !text[len])
		return len;
	if (text[len] != ':' || !consists_of(text + len + 1, DIGITS) || strlen(text + len) > 6)
		return false;
	return strtoul(text + len + 1, &end, 10) - 1 < PORTMAX;
}

/* By its text alone: a name that resolves to a loopback address may resolve elsewhere later. */
static bool is_loopback(const char *host, size_t len)
{
	char text[INET_ADDRSTRLEN];
	struct in_addr address;

	if (len == strlen("localhost") && !strncmp(host, "localhost", len))
		return true;
	if (len == strlen("[::1]") && !strncmp(host, "[::1]", len))
		return true;
	if (len >= sizeof(text))
		return false;
	snprintf(text, sizeof(text), "%.*s", (int)len, host);
	return inet_pton(AF_INET, text, &address) == 1 && ntohl(address.s_addr) >> 24 == 127;
}

int place__set_endpoint(struct place *p, const char *text, bool insecure, struct error *error)
{
	bool tls = text && !strncmp(text, "https://", strlen("https://"));
	const char *authority;
	size_t len;

	if (!text) {
		snprintf(p->endpoint, sizeof(p->endpoint), "https://s3.%s.amazonaws.com%s",
			 p->region, strncmp(p->region, "cn-", 3) ? "" : ".cn");
		return 0;
	}
	snprintf(p->endpoint, sizeof(p->endpoint), "%s", text);
	len = strlen(p->endpoint);
	if (len && p->endpoint[len - 1] == '/')
		p->endpoint[--len] = '\0';
	authority = p->endpoint + strlen(tls ? "https://" : "http://");
	if ((!tls && strncmp(text, "http://", strlen("http://"))) ||
	    strlen(text) >= PLACE_ENDPOINT_SIZE || !is_authority(authority, &len))
		return error__set(error, -EINVAL,
				  "invalid endpoint '%.128s': expected https://HOST[:PORT]", text);
	p->loopback = is_loopback(authority, len);
	if (!tls && !p->loopback && !insecure)
		return error__set(error, -EINVAL,
				  "endpoint %.128s: traces would be sent without encryption; use "
				  "https, or --insecure-http in a network that you trust",
				  text);
	return 0;
}

/* ---- the object ---- */

bool place__is_part(const char *text)
{
	return strlen(text) < PLACE_PART_SIZE && consists_of(text, PLAIN) && text[0] != '.';
}

/* Moves *at behind the next hyphen. False: there is none, or the part is empty or too long. */
static bool take_part(const char **at, char *ret, size_t size)
{
	size_t len = strcspn(*at, "-");

	if (!len || len >= size || !(*at)[len])
		return false;
	memcpy(ret, *at, len);
	ret[len] = '\0';
	*at += len + 1;
	return true;
}

/* "20261127T031500.000Z" */
static bool is_time(const char *text)
{
	static const char form[] = "dddddddd"
				   "T"
				   "dddddd"
				   "."
				   "ddd"
				   "Z";

	for (size_t i = 0; i < sizeof(form) - 1; i++)
		if (form[i] == 'd' ? !strchr(DIGITS, text[i]) || !text[i] : text[i] != form[i])
			return false;
	return true;
}

bool place__split(const char *name, struct place_parts *ret)
{
	const char *at = name;
	size_t len = sizeof("20261127T031500.000Z") - 1;

	if (!file_name__is_ours(name) || !take_part(&at, ret->host, sizeof(ret->host)) ||
	    !take_part(&at, ret->service, sizeof(ret->service)) ||
	    !take_part(&at, ret->pid, sizeof(ret->pid)) || !consists_of(ret->pid, DIGITS) ||
	    !is_time(at))
		return false;
	snprintf(ret->start, sizeof(ret->start), "%.*s", (int)len, at);
	return !strcmp(at + len, ".trace") || at[len] == '-';
}

void place__key(const struct place *p, const struct place_parts *parts, const char *name,
		char ret[PLACE_KEY_SIZE])
{
	const char *t = parts->start;

	snprintf(ret, PLACE_KEY_SIZE, "%s%sdate=%.4s-%.2s-%.2s/hour=%.2s/host=%s/service=%s/%s",
		 p->prefix, p->prefix[0] ? "/" : "", t, t + 4, t + 6, t + 9, parts->host,
		 parts->service, name);
}

/* The encoding that a signature requires: each byte but letters, digits, -_.~ and slashes. */
void place__url(const struct place *p, const char *key, char ret[PLACE_URL_SIZE])
{
	size_t at = (size_t)snprintf(ret, PLACE_URL_SIZE, "%s/%s/", p->endpoint, p->bucket);

	for (; *key; key++) {
		if (strchr(PLAIN "~/", *key))
			ret[at++] = *key;
		else
			at += (size_t)snprintf(ret + at, 4, "%%%02X", (unsigned char)*key);
	}
	ret[at] = '\0';
}
