/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Interned strings and stacks: equal ones get one id. String ids are valid for the whole recording.
 *
 * Upstream: sequence/ and rewrite/, for the tables of a trace; reader/start_functions.c, analysis/
 * and align/, for names that outlive a generation. Ids begin at 1 without gaps (0: none). The tables
 * of a generation (writer/tables.c) contain only what its events use, with ids of their own.
 *
 * Transient strings last until their generation ends; their ids are then reused. So a program may
 * log any number of different strings. All stacks are discarded at the end of a generation if their
 * frames take more than INTERN_STACKS_KEPT bytes: an epoch ends, and stack ids begin again at 1. A
 * user without generations (such as the reader) keeps everything.
 */
#ifndef WRITER_INTERN_H
#define WRITER_INTERN_H

#include <stddef.h>
#include <stdint.h>

#include "format/dictionary.h"

struct intern_frame {
	uint64_t pc;
	uint32_t func; /* string ids */
	uint32_t file;
	uint32_t line;
	uint32_t pad;
};

struct intern;

struct intern *intern__create(void); /* NULL: no memory */
void intern__destroy(struct intern *in);

/*
 * Return the id of a string (truncated to TRACE_STRING_MAX bytes, but not within a UTF-8 character)
 * or of a stack (at most TRACE_STACK_MAX frames, leaf first). The data is copied. Return 0 for the
 * empty string, for no frames, and if memory is exhausted.
 */
uint32_t intern__string(struct intern *in, const char *s, size_t len);
uint32_t intern__cstring(struct intern *in, const char *s);
/* As intern__string(), with the id in *ret. Returns 0, or -ENOMEM and leaves *ret. */
int intern__text(struct intern *in, struct trace_string s, uint32_t *ret);
uint32_t intern__stack(struct intern *in, const struct intern_frame *frames, size_t n);

/* Adds a string without looking for an equal one. Its id lasts until intern__end_generation(). */
uint32_t intern__transient(struct intern *in, const char *s, size_t len);
/*
 * Reserves an id for a string that is not known yet, but is when the generation ends; until
 * intern__resolve() it is empty. `as`: the id of an equal string that is not transient.
 */
uint32_t intern__reserve(struct intern *in);
void intern__resolve(struct intern *in, uint32_t id, uint32_t as);
size_t intern__transient_bytes(const struct intern *in);
/* Bytes of frames new in this generation. */
size_t intern__new_stack_bytes(const struct intern *in);

#define INTERN_STACKS_KEPT (8u << 20)

void intern__end_generation(struct intern *in);
/* Number ended; transient ids are valid while it is unchanged. */
uint32_t intern__generation(const struct intern *in);
uint32_t intern__epoch(const struct intern *in); /* the same for stack ids */

/* Data of an id, valid as long as the id. NULL: no such id. */
const char *intern__string_at(const struct intern *in, uint32_t id, size_t *ret_len);
struct trace_string intern__text_at(const struct intern *in, uint32_t id); /* "": no such id */
const struct intern_frame *intern__stack_at(const struct intern *in, uint32_t id, size_t *ret_n);
uint32_t intern__strings(const struct intern *in); /* number of ids assigned */
uint32_t intern__stacks(const struct intern *in);
size_t intern__memory(const struct intern *in); /* bytes allocated */

#endif
