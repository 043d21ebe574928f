/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The guardian: a process of its own that puts inline probes into a program and takes them out, also
 * if the recorder is killed.
 *
 * It is the only one that uses ptrace and writes to the program. It knows that the recorder has
 * ended when the other end of their socket closes: it then stops the writing of records at once, and
 * restores the code, however long that takes. Upstream: inline_probes.c. Downstream: install.c.
 */
#ifndef INLINE_GUARDIAN_H
#define INLINE_GUARDIAN_H

#include <stdbool.h>
#include <sys/types.h>

#include "inline/install.h"
#include "lib/error.h"

struct guardian {
	pid_t pid; /* 0: none */
	int socket;
};

/*
 * Starts it for `s`, whose code is already in the process if s->patched. It borrows nothing: it has
 * a copy of all memory.
 */
int guardian__start(struct guardian *g, const struct installation *s, struct error *error);

/* The functions of install.h, called in the guardian. -EPIPE: it has ended. */
int guardian__install(struct guardian *g, struct installation *s, struct error *error);
int guardian__switch(struct guardian *g, bool on);
int guardian__remove(struct guardian *g, struct error *error);

bool guardian__is_alive(const struct guardian *g);
/* Ends it, once nothing is left in the process; until then it goes on alone. */
void guardian__stop(struct guardian *g);

#endif
