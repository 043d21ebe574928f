/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Strings and stacks, each kept once: strings for the life of a recording.
 *
 * Ids are dense and start at 1 (0: none); a generation's tables (generation.c) hold
 * just those that its events name, under ids of their own.
 *
 * Passing strings are kept until their generation ends, and their
 * ids are given again then. So a program may log what it likes for as long as it likes. Stacks are all forgotten at a
 * generation's end if their frames take more than INTERN_STACKS_KEPT bytes: an epoch ends, and ids of stacks
 * begin again at 1. What goes through no generations (the reader's tables) keeps all for ever.
 */
#ifndef TRACE_INTERN_H
#define TRACE_INTERN_H

#include <stddef.h>
#include <stdint.h>

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
 * The id of a string (cut to TRACE_STRING_MAX bytes, not within a UTF-8 character) or a stack (at
 * most TRACE_STACK_MAX frames, leaf first). 0 for the empty string, for no frames, and when memory
 * runs out.
 */
uint32_t intern__string(struct intern *in, const char *s, size_t len);
uint32_t intern__cstring(struct intern *in, const char *s);
uint32_t intern__stack(struct intern *in, const struct intern_frame *frames, size_t n);

/* The same, not looked up: the id is good until intern__end_generation(). */
uint32_t intern__passing(struct intern *in, const char *s, size_t len);
size_t intern__passing_bytes(const struct intern *in);
size_t intern__new_stack_bytes(const struct intern *in); /* of frames, new in this generation */

#define INTERN_STACKS_KEPT (8u << 20)

void intern__end_generation(struct intern *in);
uint32_t intern__generation(
	const struct intern *in); /* those that have ended: good as long are passing ids */
uint32_t intern__epoch(const struct intern *in); /* and ids of stacks */

/* What an id stands for; the pointer stays good as long as the id. NULL: no such id. */
const char *intern__string_at(const struct intern *in, uint32_t id, size_t *ret_len);
const struct intern_frame *intern__stack_at(const struct intern *in, uint32_t id, size_t *ret_n);
uint32_t intern__strings(const struct intern *in); /* number of ids given so far */
uint32_t intern__stacks(const struct intern *in);
size_t intern__memory(const struct intern *in); /* bytes held */

#endif
