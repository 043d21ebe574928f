/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One clear line for the person at the terminal.
 *
 * A function that knows why it failed writes the reason, with its remedy, into the caller's struct
 * error and returns a negative errno; main() prints it once. Functions whose errno says it all
 * take no struct error.
 */
#ifndef LIB_ERROR_H
#define LIB_ERROR_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct error {
	char text[512]; /* no newline, no program name; empty: none */
	int code;	/* the errno that came with it */
};

/* Writes the reason unless one stands there already (the first is the cause). Returns `code`. */
__attribute__((format(printf, 3, 4))) static inline int error__set(struct error *e, int code,
								   const char *fmt, ...)
{
	va_list ap;

	if (e && !e->text[0]) {
		va_start(ap, fmt);
		vsnprintf(e->text, sizeof(e->text), fmt, ap);
		va_end(ap);
		e->code = code;
	}
	return code;
}

/* The reason why, with the file's name in front unless it stands there already. Returns `code`. */
static inline int error__about(struct error *e, int code, const char *name, const struct error *why)
{
	if (!strncmp(why->text, name, strlen(name)))
		return error__set(e, code, "%s", why->text);
	return error__set(e, code, "%s: %s", name, why->text);
}

#endif
