// SPDX-License-Identifier: GPL-2.0
/*
 * Where system calls are seen without probes (bpf/syscall.bpf.c): the instruction with which Go's own
 * system calls enter the kernel, and the places that need probes nevertheless: all other calls of
 * the functions with which the runtime begins and ends a system call, for example those of cgo.
 *
 * If anything about them is unexpected, nothing is added, and system calls keep their probes.
 * Upstream: site.c. Downstream: capture/probes_programs.c.
 */
#include <stdlib.h>
#include <string.h>

#include "target/probe/site_find.h"
#include "target/probe/site_impl.h"

#define CALL_OPCODE 0xe8 /* call rel32 */
#define CALL_SIZE   5

/* The package moved in 1.24 and in 1.26. */
static const char *const entering[] = {
	"internal/runtime/syscall/linux.Syscall6",
	"internal/runtime/syscall.Syscall6",
	"runtime/internal/syscall.Syscall6",
};

/* They call that function between the two calls, and nothing else. */
static const char *const derived[] = { "syscall.Syscall", "syscall.Syscall6" };

static const struct row instruction = {
	.probe = GT_PROBE_SYSCALL_AT,
	.why = "a goroutine enters and leaves a system call",
};

/* The functions that begin and end a system call, and the probe at each call of them. */
static const struct begin_or_end {
	const char *func, *inside; /* `inside`: a function whose call does not count */
	struct row row;
} begin_or_end[] = {
	{ "runtime.entersyscall",
	  NULL,
	  { .probe = GT_PROBE_SYSCALL_CALL,
	    .cookie = GT_SYSCALL_OF_CALL,
	    .why = "a goroutine enters a system call, or a call of C" } },
	{ "runtime.reentersyscall",
	  "runtime.entersyscall",
	  { .probe = GT_PROBE_SYSCALL_CALL, .why = "a goroutine returns from a callback to C" } },
	{ "runtime.exitsyscall",
	  NULL,
	  { .probe = GT_PROBE_SYSCALL_RETURN,
	    .why = "a goroutine leaves a system call, or a call of C" } },
};

static bool add_instruction(struct finder *f, const struct go_func *func)
{
	struct code code;
	size_t n = 0;

	if (!code__read(&code, f->elf, func))
		return false;
	for (size_t i = 0; i < code.n; i++)
		if (code.insn[i].kind == INSN_SYSCALL)
			n += finder__add(f, &instruction, &code, i, 0);
	code__deinit(&code);
	return n == 1;
}

static bool find_instruction(struct finder *f)
{
	struct go_func func;

	for (size_t i = 0; i < sizeof(entering) / sizeof(entering[0]); i++)
		if (pclntab__named(f->pt, entering[i], &func))
			return add_instruction(f, &func);
	return false;
}

static bool is_derived(const char *name)
{
	for (size_t i = 0; i < sizeof(derived) / sizeof(derived[0]); i++)
		if (!strcmp(name, derived[i]))
			return true;
	return false;
}

/* The bytes of a call may also be part of something else: then the function has no such call. */
static bool add_calls(struct finder *f, const struct begin_or_end *what, uint64_t callee,
		      const struct go_func *caller)
{
	struct code code;

	if (!code__read(&code, f->elf, caller))
		return false;
	for (size_t at = 0; (at = find__call(&code, callee, at)) != NO_INSN; at++)
		finder__add(f, &what->row, &code, at, what->row.cookie);
	code__deinit(&code);
	return true;
}

static bool find_calls(struct finder *f, const struct begin_or_end *what, uint64_t callee,
		       const struct elf_section *text, const unsigned char *bytes)
{
	const unsigned char *p = bytes, *end = bytes + text->size;
	struct go_func caller = {};
	uint64_t addr;
	int32_t rel;

	while (end - p >= CALL_SIZE && (p = memchr(p, CALL_OPCODE, end - p - CALL_SIZE + 1))) {
		addr = text->addr + (uint64_t)(p - bytes);
		memcpy(&rel, ++p, sizeof(rel));
		if (addr + CALL_SIZE + (int64_t)rel != callee ||
		    (addr >= caller.entry && addr < caller.end))
			continue;
		if (!pclntab__find(f->pt, addr, &caller) ||
		    (!f->plugin && is_derived(caller.name)) ||
		    (what->inside && !strcmp(caller.name, what->inside)))
			continue;
		if (!add_calls(f, what, callee, &caller))
			return false;
	}
	return true;
}

static bool is_inlined(const struct finder *f, const char *name)
{
	for (size_t i = 0; i < f->ninlined; i++)
		if (!strcmp(f->inlined[i].what, name))
			return true;
	return false;
}

static bool find_all_calls(struct finder *f)
{
	struct elf_section text;
	unsigned char *bytes;
	struct go_func func;
	bool good = true;

	if (!elf_image__section(f->elf, ".text", &text))
		return false;
	bytes = elf_image__load(f->elf, &text);
	for (size_t i = 0; bytes && i < sizeof(begin_or_end) / sizeof(begin_or_end[0]); i++) {
		if (begin_or_end[i].row.probe == GT_PROBE_SYSCALL_RETURN &&
		    !f->layout->exit_is_tentative)
			continue;
		good &= !is_inlined(f, begin_or_end[i].func);
		if (pclntab__named(f->pt, begin_or_end[i].func, &func))
			good = good && find_calls(f, &begin_or_end[i], func.entry, &text, bytes);
		else
			good &= f->plugin;
	}
	free(bytes);
	return bytes && good;
}

bool finder__add_syscalls(struct finder *f)
{
	size_t before = f->list.n;

	if (!f->layout->derives_syscalls)
		return true;
	if ((f->plugin || find_instruction(f)) && find_all_calls(f))
		return true;
	f->list.n = before;
	return false;
}
