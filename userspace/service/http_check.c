// SPDX-License-Identifier: GPL-2.0
/*
 * Checks of headers and arguments: see http_check.h. No input is part of a reason, so that a reason
 * cannot carry bytes of one client into a log or a page.
 */
#include "service/http_check.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/opts.h"

#define NS_PER_S 1000000000.0

/* Copies text[0 .. len), terminated; false if it does not fit. */
static bool copy(char *to, size_t size, const char *text, size_t len)
{
	if (len >= size)
		return false;
	memcpy(to, text, len);
	to[len] = '\0';
	return true;
}

static bool is_loopback_name(const char *name)
{
	struct in6_addr six;
	struct in_addr four;
	char literal[INET6_ADDRSTRLEN + 1];
	size_t len = strlen(name);

	if (!strcasecmp(name, "localhost"))
		return true;
	if (len > 2 && name[0] == '[' && name[len - 1] == ']')
		return copy(literal, sizeof(literal), name + 1, len - 2) &&
		       inet_pton(AF_INET6, literal, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
	return inet_pton(AF_INET, name, &four) == 1 && ntohl(four.s_addr) >> 24 == 127;
}

bool http_check__host(const char *host, uint16_t port)
{
	const char *colon = strrchr(host, ':');
	char name[64];
	uint64_t given = 80;

	if (colon && strchr(colon, ']'))
		colon = NULL; /* within a literal of IPv6, which has no port */
	if (colon && !opts__number(colon + 1, 1, UINT16_MAX, &given))
		return false;
	return given == port &&
	       copy(name, sizeof(name), host, colon ? (size_t)(colon - host) : strlen(host)) &&
	       is_loopback_name(name);
}

bool http_check__origin(const char *origin, const char *host)
{
	static const char scheme[] = "http://";

	return !strncmp(origin, scheme, sizeof(scheme) - 1) &&
	       !strcasecmp(origin + sizeof(scheme) - 1, host);
}

bool http_check__site(const char *site)
{
	return !strcmp(site, "same-origin") || !strcmp(site, "none");
}

/* Whether the parameters of a media type, ";q=0.5;version=1", contain a quality of 0. */
static bool is_refused(const char *at, const char *end)
{
	while ((at = memchr(at, ';', (size_t)(end - at)))) {
		at++;
		while (at < end && (*at == ' ' || *at == '\t'))
			at++;
		if (end - at < 3 || (at[0] | 0x20) != 'q' || at[1] != '=')
			continue;
		at += 2;
		while (at < end && (*at == '0' || *at == '.'))
			at++;
		return at == end || *at < '1' || *at > '9';
	}
	return false;
}

bool http_check__openmetrics(const char *accept)
{
	static const char type[] = "application/openmetrics-text";
	const size_t len = sizeof(type) - 1;

	while (accept) {
		size_t part;

		accept += strspn(accept, ", \t");
		part = strcspn(accept, ",");
		if (part >= len && !strncasecmp(accept, type, len) &&
		    (part == len || strchr("; \t", accept[len])) &&
		    !is_refused(accept + len, accept + part))
			return true;
		accept = accept[part] ? accept + part + 1 : NULL;
	}
	return false;
}

/* What Go's strconv.ParseFloat accepts, without hexadecimal numbers. False: it returns an error. */
static bool parse_seconds(const char *text, double *ret)
{
	const char *digits = text + (*text == '+' || *text == '-');
	char *end;

	if (!strcasecmp(digits, "inf") || !strcasecmp(digits, "infinity")) {
		*ret = *text == '-' ? -INFINITY : INFINITY;
		return true;
	}
	if (!*digits || digits[strspn(digits, "0123456789.eE+-")])
		return false;
	errno = 0;
	*ret = strtod(text, &end);
	return !*end && end != text && (errno != ERANGE || fabs(*ret) < 1);
}

int http_check__seconds(const char *text, uint64_t max, uint64_t *ret_ns, struct error *error)
{
	double seconds = 1;

	if (!text || !parse_seconds(text, &seconds) || !(seconds > 0))
		seconds = 1;
	if (seconds * NS_PER_S > (double)max)
		return error__set(error, -ERANGE,
				  "profile duration exceeds the limit of %" PRIu64 " s",
				  max / (uint64_t)NS_PER_S);
	*ret_ns = seconds * NS_PER_S < 1 ? 1 : (uint64_t)(seconds * NS_PER_S);
	return 0;
}

int http_check__pid(const char *text, int32_t *ret, struct error *error)
{
	uint64_t pid = 0;

	if (text && !opts__number(text, 1, INT32_MAX, &pid))
		return error__set(error, -EINVAL,
				  "invalid pid: expected a process ID that /targets lists");
	*ret = (int32_t)pid;
	return 0;
}
