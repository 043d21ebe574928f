// SPDX-License-Identifier: GPL-2.0
/*
 * Parses a condition of --trigger: see condition.h.
 */
#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "lib/opts.h"
#include "trigger/condition.h"

#define CPU_PERCENT_MAX 1000000 /* of 10,000 CPUs */

enum value { NO_VALUE, DURATION, NUMBER, SIZE, PERCENT, SIGNAL_NAME, STATUS_CLASS };
enum name { NO_NAME, NAME_AFTER, NAME_BEFORE, NAME_ALONE };

static const struct {
	enum value value;
	enum name name;
	const char *form; /* for the message */
} forms[TRIGGER_KINDS] = {
	[TRIGGER_RUNNABLE] = { DURATION, NO_NAME, "runnable:5ms" },
	[TRIGGER_BLOCKED] = { DURATION, NAME_AFTER, "blocked:300ms or blocked:300ms:REASON" },
	[TRIGGER_SYSCALL] = { DURATION, NAME_AFTER, "syscall:50ms or syscall:50ms:NAME" },
	[TRIGGER_STW] = { DURATION, NO_NAME, "stw:10ms" },
	[TRIGGER_GC] = { DURATION, NO_NAME, "gc:100ms" },
	[TRIGGER_RUNQUEUE] = { DURATION, NO_NAME, "runqueue:5ms" },
	[TRIGGER_GOROUTINES] = { NUMBER, NO_NAME, "goroutines:10000" },
	[TRIGGER_HEAP] = { SIZE, NO_NAME, "heap:2G" },
	[TRIGGER_CPU] = { PERCENT, NO_NAME, "cpu:180%" },
	[TRIGGER_FUNC] = { NO_VALUE, NAME_ALONE, "func:main.foo" },
	[TRIGGER_REQUEST] = { DURATION, NAME_AFTER, "request:200ms or request:200ms:NAME" },
	[TRIGGER_REGION] = { DURATION, NAME_BEFORE, "region:NAME:50ms" },
	[TRIGGER_STATUS] = { STATUS_CLASS, NO_NAME, "status:5xx or status:503" },
	[TRIGGER_EXIT] = { NO_VALUE, NO_NAME, "exit" },
	[TRIGGER_SIGNAL] = { SIGNAL_NAME, NO_NAME, "signal:SIGSEGV" },
};

const char *const condition_kinds[TRIGGER_KINDS] = {
	[TRIGGER_RUNNABLE] = "runnable",
	[TRIGGER_BLOCKED] = "blocked",
	[TRIGGER_SYSCALL] = "syscall",
	[TRIGGER_STW] = "stw",
	[TRIGGER_GC] = "gc",
	[TRIGGER_RUNQUEUE] = "runqueue",
	[TRIGGER_GOROUTINES] = "goroutines",
	[TRIGGER_HEAP] = "heap",
	[TRIGGER_CPU] = "cpu",
	[TRIGGER_FUNC] = "func",
	[TRIGGER_REQUEST] = "request",
	[TRIGGER_REGION] = "region",
	[TRIGGER_STATUS] = "status",
	[TRIGGER_EXIT] = "exit",
	[TRIGGER_SIGNAL] = "signal",
};

static bool parse_signal(const char *text, uint64_t *ret)
{
	if (!strncmp(text, "SIG", 3))
		text += 3;
	for (int i = 1; i < NSIG; i++) {
		const char *name = sigabbrev_np(i);

		if (name && !strcmp(name, text)) {
			*ret = (uint64_t)i;
			return true;
		}
	}
	return opts__number(text, 1, NSIG - 1, ret);
}

/* "503", or "5xx", which is kept as a name. */
static bool parse_status(const char *text, struct condition *ret)
{
	if (strlen(text) != 3 || text[0] < '1' || text[0] > '5')
		return false;
	if (strcmp(text + 1, "xx") &&
	    !(isdigit((unsigned char)text[1]) && isdigit((unsigned char)text[2])))
		return false;
	strcpy(ret->name, text);
	return true;
}

static bool parse_percent(char *text, uint64_t *ret)
{
	size_t len = strlen(text);

	if (len && text[len - 1] == '%')
		text[len - 1] = '\0';
	return opts__number(text, 1, CPU_PERCENT_MAX, ret);
}

static bool parse_value(char *text, struct condition *ret)
{
	switch (forms[ret->kind].value) {
	case NO_VALUE:
		return !*text;
	case DURATION:
		return opts__duration(text, &ret->limit) && ret->limit && ret->limit <= INT64_MAX;
	case NUMBER:
		return opts__number(text, 1, UINT32_MAX, &ret->limit);
	case SIZE:
		return opts__size(text, 1, INT64_MAX, &ret->limit);
	case PERCENT:
		return parse_percent(text, &ret->limit);
	case SIGNAL_NAME:
		return !*text || parse_signal(text, &ret->limit);
	case STATUS_CLASS:
		return parse_status(text, ret);
	}
	return false;
}

/* Splits what follows "KIND:" into the name, which is copied to *ret, and the value. */
static char *split(char *rest, struct condition *ret)
{
	char *colon = NULL, *name = NULL, *value = rest;

	switch (forms[ret->kind].name) {
	case NO_NAME:
		break;
	case NAME_ALONE:
		name = rest;
		value = rest + strlen(rest);
		break;
	case NAME_AFTER:
		colon = strchr(rest, ':');
		name = colon ? colon + 1 : NULL;
		break;
	case NAME_BEFORE:
		colon = strrchr(rest, ':');
		name = rest;
		value = colon ? colon + 1 : rest + strlen(rest);
		break;
	}
	if (colon)
		*colon = '\0';
	if (name)
		strcpy(ret->name, name);
	return name && !*name ? NULL : value; /* an empty name is none */
}

static int find_kind(const char *text, size_t len)
{
	for (int i = 0; i < TRIGGER_KINDS; i++)
		if (strlen(condition_kinds[i]) == len && !strncmp(condition_kinds[i], text, len))
			return i;
	return -1;
}

int condition__parse(const char *text, struct condition *ret, struct error *error)
{
	char rest[CONDITION_TEXT_MAX] = "", *value;
	size_t len = strcspn(text, ":");
	int kind = find_kind(text, len);

	*ret = (struct condition){ 0 };
	if (kind < 0)
		return error__set(error, -EINVAL,
				  "unknown trigger '%s': expected a condition such as "
				  "blocked:300ms; see TRIGGERS in gotrace-bpf(1)",
				  text);
	if (strlen(text) >= sizeof(ret->text))
		return error__set(error, -EINVAL, "trigger too long: at most %zu bytes",
				  sizeof(ret->text) - 1);
	ret->kind = (enum trigger_kind)kind;
	strcpy(ret->text, text);
	if (text[len] == ':')
		strcpy(rest, text + len + 1);
	value = split(rest, ret);
	if (!value || !parse_value(value, ret))
		return error__set(error, -EINVAL, "invalid trigger '%s': expected %s", text,
				  forms[kind].form);
	return 0;
}
