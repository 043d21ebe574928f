// SPDX-License-Identifier: GPL-2.0
/*
 * What HTTP clients choose: Host, Origin, Accept and arguments, one per line, after the port.
 *
 * What is accepted must satisfy a second, simpler definition.
 */
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "service/http_check.h"

#define FIELDS 5
#define MAX_NS 600000000000ull

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* No name with a letter other than "localhost", and no address that begins otherwise. */
static bool may_be_loopback(const char *host)
{
	if (!strncasecmp(host, "localhost", 9))
		return !host[9] || host[9] == ':';
	if (host[0] == '[')
		return host[strspn(host, "[0:]123456789")] == '\0' && strchr(host, '1');
	return !strncmp(host, "127.", 4) && host[strspn(host, "0123456789.:")] == '\0';
}

static void check_host(const char *host, uint16_t port)
{
	const char *colon = strrchr(host, ':');
	const char *end = strchr(host, ']');

	if (!http_check__host(host, port))
		return;
	if (!may_be_loopback(host))
		abort();
	if (colon && (!end || end < colon) ? atoi(colon + 1) != port : port != 80)
		abort();
}

static void check_numbers(const char *seconds, const char *pid)
{
	struct error error = {};
	uint64_t ns = 0;
	int32_t id = -1;

	if (http_check__seconds(seconds, MAX_NS, &ns, &error) ? ns || !error.text[0] :
								!ns || ns > MAX_NS)
		abort();
	memset(&error, 0, sizeof(error));
	if (http_check__pid(pid, &id, &error) ? id != -1 || !error.text[0] : id <= 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text, *field[FIELDS], *rest;
	uint16_t port;

	if (size < sizeof(port))
		return 0;
	memcpy(&port, data, sizeof(port));
	text = calloc(1, size + 1);
	if (!text)
		abort();
	memcpy(text, data + sizeof(port), size - sizeof(port));
	rest = text;
	for (size_t i = 0; i < FIELDS; i++)
		field[i] = rest ? strsep(&rest, "\n") : text + size; /* an empty string */
	check_host(field[0], port);
	if (http_check__origin(field[1], field[0]) && strncmp(field[1], "http://", 7))
		abort();
	if (http_check__openmetrics(field[2]) && strlen(field[2]) < 28)
		abort();
	check_numbers(field[3], field[4]);
	free(text);
	return 0;
}
