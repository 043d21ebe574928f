// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace ship: sends the traces of a continuous recording to an S3-compatible server.
 *
 * Parses the command line; ship/sender.h does the work. The recorder needs privileges, and no
 * network; this command needs the network, and no privileges.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "gotrace/command.h"
#include "lib/opts.h"
#include "ship/http.h"
#include "ship/sender.h"

enum {
	OPT_DESTINATION = 600,
	OPT_ENDPOINT,
	OPT_REGION,
	OPT_FOLLOW,
	OPT_CONCURRENCY,
	OPT_DELETE,
	OPT_JOURNAL,
	OPT_CREDENTIALS,
	OPT_CA,
	OPT_INSECURE,
	OPT_HOST,
	OPT_SERVICE,
	OPT_TIMEOUT,
	OPT_GIVE_UP
};

#define TIMEOUT_MAX 3600 /* s */

struct arguments {
	struct sender_opts sender;
	const char *to, *endpoint, *region;
	bool insecure;
};

static const struct argp_option options[] = {
	{ "to", OPT_DESTINATION, "s3://BUCKET/PREFIX", 0, "where to store the files", 0 },
	{ "endpoint", OPT_ENDPOINT, "URL", 0,
	  "the server, as https://HOST[:PORT] (default: AWS_ENDPOINT_URL, or Amazon's)", 0 },
	{ "region", OPT_REGION, "NAME", 0, "its region (default: AWS_REGION, or us-east-1)", 0 },
	{ "credentials", OPT_CREDENTIALS, "FILE", 0,
	  "read the keys from FILE (default: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY)", 0 },
	{ "ca", OPT_CA, "FILE", 0, "trust the certificates in FILE, not those of the system", 0 },
	{ "insecure-http", OPT_INSECURE, NULL, 0,
	  "permit http:// to other addresses than loopback: without encryption", 0 },
	{ "follow", OPT_FOLLOW, NULL, 0,
	  "also send files that are completed later, until SIGINT or SIGTERM", 0 },
	{ "delete", OPT_DELETE, NULL, 0, "remove each file once the server has confirmed it", 0 },
	{ "journal", OPT_JOURNAL, "FILE", 0,
	  "note in FILE what was accepted (default: DIR/ship.journal)", 0 },
	{ "concurrency", OPT_CONCURRENCY, "N", 0, "send N files at once (default: 4)", 0 },
	{ "host", OPT_HOST, "NAME", 0, "the host in keys (default: that of the file's name)", 0 },
	{ "service", OPT_SERVICE, "NAME", 0,
	  "the service in keys (default: the program in the file's name)", 0 },
	{ "timeout", OPT_TIMEOUT, "DURATION", 0,
	  "repeat a request that makes no progress for so long (default: 30s)", 0 },
	{ "give-up", OPT_GIVE_UP, "DURATION", 0,
	  "without --follow: fail when no file was accepted for so long (default: 5m)", 0 },
	MEMORY_OPTION,
	HELP_OPTION,
	{},
};

static const char *part(const char *option, const char *text)
{
	if (!place__is_part(text))
		usage_error("invalid name '%.80s' for --%s: expected up to %d letters, digits "
			    "and -_.",
			    text, option, PLACE_PART_SIZE - 1);
	return text;
}

static void parse_timeout(struct sender_opts *o, const char *text)
{
	uint64_t ns;

	if (!opts__duration(text, &ns) || ns < 1000000000 || ns / 1000000000 > TIMEOUT_MAX)
		usage_error("invalid duration '%s' for --timeout: expected 1s to 1h", text);
	o->timeout = (unsigned int)(ns / 1000000000);
}

static void parse_concurrency(struct sender_opts *o, const char *text)
{
	uint64_t n;

	if (!opts__number(text, 1, HTTP_SLOTS_MAX, &n))
		usage_error("invalid number '%s' for --concurrency: expected 1 to %d", text,
			    HTTP_SLOTS_MAX);
	o->slots = (unsigned int)n;
}

static void parse_dir(struct sender_opts *o, const char *text)
{
	if (o->dir)
		usage_error("unexpected argument '%s': one DIR is expected", text);
	o->dir = text;
}

static error_t parse_names(struct arguments *a, int key, char *text, struct argp_state *state)
{
	switch (key) {
	case OPT_DESTINATION:
		a->to = text;
		return 0;
	case OPT_ENDPOINT:
		a->endpoint = text;
		return 0;
	case OPT_REGION:
		a->region = text;
		return 0;
	case OPT_CREDENTIALS:
		a->sender.credentials = text;
		return 0;
	case OPT_CA:
		a->sender.ca = text;
		return 0;
	case OPT_JOURNAL:
		a->sender.journal = text;
		return 0;
	case OPT_HOST:
		a->sender.host = part("host", text);
		return 0;
	case OPT_SERVICE:
		a->sender.service = part("service", text);
		return 0;
	default:
		return command__key(key, state, "ship");
	}
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct arguments *a = state->input;
	struct sender_opts *o = &a->sender;

	switch (key) {
	case OPT_INSECURE:
		a->insecure = true;
		return 0;
	case OPT_FOLLOW:
		o->follow = true;
		return 0;
	case OPT_DELETE:
		o->remove = true;
		return 0;
	case OPT_CONCURRENCY:
		parse_concurrency(o, text);
		return 0;
	case OPT_TIMEOUT:
		parse_timeout(o, text);
		return 0;
	case OPT_GIVE_UP:
		if (!opts__duration(text, &o->give_up_ns) || !o->give_up_ns)
			usage_error("invalid duration '%s' for --give-up: expected a number with "
				    "a unit, such as 5m",
				    text);
		return 0;
	case ARGP_KEY_ARG:
		parse_dir(o, text);
		return 0;
	default:
		return parse_names(a, key, text, state);
	}
}

static const struct argp parser = {
	options,
	parse_option,
	"DIR",
	"Sends the complete traces in DIR, where gotrace-bpf records continuously (record "
	"--rotate, flight, serve), to a server with the S3 protocol. Each file is sent until the "
	"server has confirmed its checksum, and is stored once, as PREFIX/date=/hour=/host=/"
	"service=/FILE.",
};

static const char *first_set(const char *option, const char *const *variables)
{
	for (; !option && *variables; variables++) {
		option = getenv(*variables);
		option = option && *option ? option : NULL;
	}
	return option;
}

static void resolve_place(struct arguments *a)
{
	static const char *const endpoints[] = { "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", NULL };
	static const char *const regions[] = { "AWS_REGION", "AWS_DEFAULT_REGION", NULL };
	struct place *place = &a->sender.place;
	struct error why = {};

	if (!a->sender.dir)
		usage_error("missing DIR: the directory of a continuous recording");
	if (!a->to)
		usage_error("missing destination: use --to s3://BUCKET/PREFIX");
	if (place__set_bucket(place, a->to, &why) ||
	    place__set_region(place, first_set(a->region, regions) ?: "us-east-1", &why) ||
	    place__set_endpoint(place, first_set(a->endpoint, endpoints), a->insecure, &why))
		usage_error("%s", why.text);
}

static int print_result(const struct sender_result *r, struct error *error)
{
	printf("%llu files sent, %llu bytes; %llu waiting, %llu refused, %llu removed before they "
	       "were sent; %llu failures\n",
	       (unsigned long long)r->files, (unsigned long long)r->bytes,
	       (unsigned long long)r->waiting, (unsigned long long)r->refused,
	       (unsigned long long)r->lost, (unsigned long long)r->failures);
	return fflush(stdout) ? error__set(error, -EIO, "cannot write the output") : 0;
}

/* Prevents other processes of the user from reading the keys in memory or in a core dump. */
static void hide_keys(void)
{
	const struct rlimit none = {};

	prctl(PR_SET_DUMPABLE, 0);
	setrlimit(RLIMIT_CORE, &none);
}

int do_ship(int argc, char **argv, struct error *error)
{
	struct arguments a = { .sender = { .slots = SENDER_SLOTS_DEFAULT,
					   .timeout = SENDER_TIMEOUT_DEFAULT,
					   .give_up_ns = SENDER_GIVE_UP_DEFAULT } };
	struct sender_result result;
	int err;

	argp_parse(&parser, argc, argv, COMMAND_FLAGS, NULL, &a);
	resolve_place(&a);
	hide_keys();
	err = sender__run(&a.sender, &result, error);
	if ((result.began && print_result(&result, error)) || err)
		return EXIT_FAILED;
	if (!result.refused && !result.lost)
		return EXIT_DONE;
	error__set(error, -EIO,
		   "%llu files were refused, and %llu were removed before they were sent",
		   (unsigned long long)result.refused, (unsigned long long)result.lost);
	return EXIT_FAILED;
}
