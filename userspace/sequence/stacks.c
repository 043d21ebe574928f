// SPDX-License-Identifier: GPL-2.0
/*
 * Expands stacks of return addresses into stacks of the trace.
 *
 * A record's number leads to a stack (struct number). A stack is identified by its whole hash and
 * its PCs: when the probes send it again under another number, what is known about it is reused.
 *
 * Upstream: sequencer.c, which passes STACK records, and state*.c, which ask for ids. Downstream:
 * writer/intern.c, which numbers stacks and frames. The symbolizer (target/symbols/symbolize.h) is
 * called once per PC.
 */
#include "sequence/stacks.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "format/spec.h"
#include "format/start.h"
#include "lib/array.h"
#include "lib/map.h"
#include "sequence/places.h"

#define PCS_MAX	      131072	  /* remembered PCs, of which some are no code */
#define STARTS_MAX    65536	  /* start functions of goroutines; further ones have no name */
#define DISPLACED_MAX (16u << 20) /* bytes of stacks that the probes no longer remember */
#define SKEW_NS	      10000	  /* clocks of CPUs differ by less */
#define HELD_MAX      (8u << 20)  /* bytes of stacks of goroutines that wait */

struct pc_frame {
	struct intern_frame frame;
	bool wrapper, elides;
};

struct pc_info {
	unsigned int n;
	bool from_c;	 /* runtime.cgocallback: the frames below are C */
	bool no_frame;	 /* crosscall2: below its frame pointer is rbx, not a PC */
	bool into_c;	 /* runtime.asmcgocall, or its landing pad: the frames above are C */
	bool root;	 /* runtime.goexit or runtime.main: omitted by the runtime */
	bool async;	 /* runtime.asyncPreempt2 */
	uint32_t pushed; /* enum sym_pushed */
	struct pc_frame frame[];
};

struct by_skip {
	uint32_t skip, id;
};

struct stack {
	uint64_t hash;
	uint32_t epoch;	    /* epoch of these ids: intern__epoch() */
	struct by_skip *id; /* few: an event kind has one skip, a stack few event kinds */
	uint32_t nid;
	uint32_t depth;
	uint32_t numbers; /* count of numbers that lead here, and of goroutines that hold it */
	uint32_t held;	  /* these goroutines */
	bool cut;	  /* it has more frames */
	uint64_t pc[];
};

/* A stack number of records. */
struct number {
	struct placed placed;
	struct stack *stack; /* NULL: several stacks have it, so it is ambiguous */
	bool is_unique;	     /* at its time, which the probes guarantee */
};

/* The start function of goroutines. */
struct start {
	struct intern_frame frame;
	bool is_runtime;    /* see stacks__start_is_runtime() */
	uint32_t id, epoch; /* of the stack with that frame alone, as above */
};

struct stacks {
	struct intern *in;
	struct symbolizer symbolizer;
	bool guessed_second;   /* see stacks__create */
	struct places number;  /* struct number */
	struct map stack;      /* hash, all of it -> struct stack */
	struct map pc;	       /* return address to struct pc_info */
	struct map by_startpc; /* startpc -> its number, as a pointer-sized number */
	struct start *start;   /* by number - 1 */
	size_t starts, starts_cap;
	uint64_t displaced; /* see stacks__displaced() */
	size_t held;	    /* bytes of stacks that goroutines hold */
};

static void stack__put(struct stacks *st, struct stack *stack)
{
	if (!stack || --stack->numbers)
		return;
	if (map__get(&st->stack, stack->hash) == stack)
		map__remove(&st->stack, stack->hash);
	free(stack->id);
	free(stack);
}

static void number__drop(void *ctx, struct placed *placed)
{
	struct number *number = (struct number *)placed;

	stack__put(ctx, number->stack);
	free(number);
}

struct stacks *stacks__create(struct intern *in, const struct symbolizer *symbolizer,
			      bool guessed_second)
{
	struct stacks *st = calloc(1, sizeof(*st));

	if (!st)
		return NULL;
	st->in = in;
	st->symbolizer = *symbolizer;
	st->guessed_second = guessed_second;
	if (places__init(&st->number, GT_STACK_PLACES, DISPLACED_MAX, number__drop, st)) {
		free(st);
		return NULL;
	}
	return st;
}

void stacks__destroy(struct stacks *st)
{
	if (!st)
		return;
	places__deinit(&st->number);
	map__free(&st->pc);
	map__deinit(&st->stack);
	map__deinit(&st->by_startpc);
	free(st->start);
	free(st);
}

static bool stack__is(const struct stack *stack, const struct gt_stack *from)
{
	return stack->depth == from->depth &&
	       !memcmp(stack->pc, from->pc, from->depth * sizeof(uint64_t));
}

/* Finds or adds the stack, for one more number. */
static struct stack *stack__get(struct stacks *st, uint64_t hash, const struct gt_stack *from)
{
	struct stack *stack = map__get(&st->stack, hash);

	if (stack && stack__is(stack, from)) {
		stack->numbers++;
		return stack;
	}
	stack = calloc(1, sizeof(*stack) + from->depth * sizeof(uint64_t));
	if (!stack)
		return NULL;
	stack->hash = hash;
	stack->depth = from->depth;
	stack->cut = from->cut;
	stack->numbers = 1;
	memcpy(stack->pc, from->pc, from->depth * sizeof(uint64_t));
	if (map__put(&st->stack, hash, stack)) {
		free(stack);
		return NULL;
	}
	return stack;
}

static int number__add(struct stacks *st, const struct gt_record *rec)
{
	const struct gt_stack *from = (const struct gt_stack *)(rec + 1);
	struct number *number = calloc(1, sizeof(*number));
	int err;

	if (!number)
		return -ENOMEM;
	number->placed.key = rec->stack;
	number->placed.time = rec->time;
	number->placed.bytes =
		sizeof(*number) + sizeof(struct stack) + from->depth * sizeof(uint64_t);
	number->is_unique = from->placed;
	number->stack = stack__get(st, rec->object, from);
	err = !number->stack ? -ENOMEM :
	      from->placed   ? places__put(&st->number, &number->placed) :
			       places__put_for_ever(&st->number, &number->placed);
	if (err)
		number__drop(st, &number->placed);
	return err;
}

/* A number that is only the low half of the hash is ambiguous once two stacks have it. */
int stacks__add(struct stacks *st, const struct gt_record *rec)
{
	const struct gt_stack *from = (const struct gt_stack *)(rec + 1);
	struct number *number = map__get(&st->number.map, rec->stack);

	if (!rec->stack)
		return 0;
	if (!number || number->is_unique || from->placed)
		return number__add(st, rec);
	if (number->stack && number->stack->hash != rec->object) {
		stack__put(st, number->stack);
		number->stack = NULL;
	}
	return 0;
}

/* NULL: none, or none that is certainly the stack of a record of that time. */
static struct stack *stack__of(struct stacks *st, uint32_t key, uint64_t time)
{
	struct number *number = (struct number *)places__get(&st->number, key, time);

	/* Numbers of a place repeat after 65,535 changes: in older records they mean others. */
	if (!number || (number->is_unique && time + SKEW_NS < number->placed.time))
		return NULL;
	return number->stack;
}

void stacks__expire(struct stacks *st, uint64_t time)
{
	places__expire(&st->number, time);
}

static void pc_info__fill(struct stacks *st, struct pc_frame *to, const struct sym_frame *from)
{
	to->frame = (struct intern_frame){
		.pc = from->pc,
		.func = intern__cstring(st->in, from->func),
		.file = intern__cstring(st->in, from->file),
		.line = from->line,
	};
	to->wrapper = from->wrapper;
	to->elides = from->elides;
}

static const struct pc_info *stacks__pc(struct stacks *st, uint64_t pc)
{
	struct sym_frame frames[SYM_INLINE_MAX];
	struct pc_info *info = map__get(&st->pc, pc);
	const char *last; /* the outermost function */
	int n;

	if (info || !pc)
		return info;
	n = st->symbolizer.frames(st->symbolizer.ctx, pc, frames);
	if (n < 0)
		n = 0;
	/* None: no code there. The runtime's CallersFrames omits it, too. */
	info = calloc(1, sizeof(*info) + n * sizeof(info->frame[0]));
	if (!info)
		return NULL;
	for (int i = 0; i < n; i++)
		pc_info__fill(st, &info->frame[i], &frames[i]);
	info->n = n;
	last = n ? frames[n - 1].func : "";
	info->root = n == 1 && (!strcmp(last, "runtime.goexit") || !strcmp(last, "runtime.main"));
	info->from_c = !strcmp(last, "runtime.cgocallback");
	info->no_frame = !strcmp(last, "crosscall2");
	info->into_c = !strncmp(last, "runtime.asmcgocall", strlen("runtime.asmcgocall"));
	info->pushed = n ? frames[0].pushed : SYM_PUSHED_FRAME;
	info->async = !strcmp(last, "runtime.asyncPreempt2");
	if (map__put(&st->pc, pc, info)) {
		free(info);
		return NULL;
	}
	return info;
}

/*
 * Limits memory: a program can have any address on its stacks. PCs that are freed are looked up
 * again. Call before a stack is expanded, because the expansion refers to PCs.
 */
static void bound_pcs(struct stacks *st)
{
	if (st->pc.n >= PCS_MAX)
		map__free(&st->pc);
}

/* The runtime omits the last PC (goexit) and, of the main goroutine, runtime.main below it. */
static uint32_t stack__without_roots(struct stacks *st, const struct stack *stack)
{
	uint32_t depth = stack->depth;

	for (int i = 0; i < 2 && depth; i++) {
		const struct pc_info *info = stacks__pc(st, stack->pc[depth - 1]);

		if (info && info->root)
			depth--;
	}
	return depth;
}

/*
 * C code need not keep frame pointers, so the frames below a callback are uncertain. They are used
 * if they lead back to the Go code that called C. A thread created by C has none; the runtime ends
 * its stacks here.
 */
static bool comes_from_go(struct stacks *st, const struct stack *stack, uint32_t i, uint32_t depth)
{
	for (; i < depth; i++) {
		const struct pc_info *info = stacks__pc(st, stack->pc[i]);

		if (!info || !info->n)
			return false;
		if (info->into_c)
			return true;
		i += info->no_frame;
	}
	return false;
}

/* `last`: replaces the last frame of a stack that is cut; NULL: it does not. */
static uint32_t stack__expand(struct stacks *st, const struct stack *stack, uint32_t skip,
			      const struct intern_frame *last)
{
	struct intern_frame out[TRACE_STACK_MAX];
	uint32_t depth, n = 0;
	bool elides = false; /* set by the function that the last frame called */
	bool async = false;  /* the stack begins with asyncPreempt */

	bound_pcs(st);
	depth = stack__without_roots(st, stack);
	for (uint32_t i = 0; i < depth; i++) {
		const struct pc_info *info = stacks__pc(st, stack->pc[i]);

		if (i == 0)
			async = info && info->async;
		if (i == 1 && async && st->guessed_second)
			continue;
		for (unsigned int f = 0; info && f < info->n; f++) {
			const struct pc_frame *frame = &info->frame[f];
			bool hide = frame->wrapper && !elides;

			elides = frame->elides;
			if (hide)
				continue;
			if (skip) {
				skip--;
				continue;
			}
			if (n == TRACE_STACK_MAX)
				goto full;
			out[n++] = frame->frame;
		}
		if (info && info->from_c && !comes_from_go(st, stack, i + 1, depth))
			break;
		i += info && info->no_frame;
	}
	if (!stack->cut)
		last = NULL;
full:
	if (n && last)
		out[n - 1] = *last;
	return intern__stack(st->in, out, n);
}

/* The id of the stack without `skip` frames. */
static uint32_t stack__id(struct stacks *st, struct stack *stack, uint32_t skip)
{
	struct by_skip *bigger;
	uint32_t id;

	if (stack->epoch != intern__epoch(st->in)) {
		stack->epoch = intern__epoch(st->in);
		stack->nid = 0;
	}
	for (uint32_t i = 0; i < stack->nid; i++)
		if (stack->id[i].skip == skip)
			return stack->id[i].id;
	id = stack__expand(st, stack, skip, NULL);
	/* An invalid record may have any skip: a few ids are kept, others computed each time. */
	if (stack->nid < 8) {
		bigger = reallocarray(stack->id, stack->nid + 1, sizeof(*bigger));
		if (bigger) {
			stack->id = bigger;
			stack->id[stack->nid++] = (struct by_skip){ skip, id };
		}
	}
	return id;
}

/* How much later the number was given than another one of its place; negative: earlier. */
static int changes_since(uint32_t number, uint32_t other)
{
	return (int)((number - other) & ~(GT_STACK_PLACES - 1)) >> 17;
}

/*
 * Why the stack of a record is missing: another one has taken its place, and it was kept neither for
 * PLACES_PATIENCE_NS nor within DISPLACED_MAX. Otherwise its own record has not arrived.
 */
static bool is_displaced(const struct stacks *st, uint32_t number)
{
	const struct placed *latest = places__latest(&st->number, number);

	return latest && changes_since((uint32_t)latest->key, number) >= 0;
}

uint64_t stacks__displaced(const struct stacks *st)
{
	return st->displaced;
}

uint32_t stacks__id(struct stacks *st, uint32_t number, uint64_t time, uint32_t skip,
		    uint64_t *misses)
{
	struct stack *stack;

	if (!number)
		return 0;
	stack = stack__of(st, number, time);
	if (!stack) {
		(*misses)++;
		st->displaced += is_displaced(st, number);
		return 0;
	}
	return stack__id(st, stack, skip);
}

uint32_t stacks__sample(struct stacks *st, const uint64_t *pc, size_t depth)
{
	struct intern_frame out[TRACE_STACK_MAX];
	const struct pc_info *info;
	uint32_t n = 0, pushed = SYM_PUSHED_FRAME;
	bool elides = false;

	bound_pcs(st);
	for (size_t i = 0; i < depth; i++) {
		info = stacks__pc(st, pc[i]);
		if (i == 0 && info)
			pushed = info->pushed;
		if (!info || (i && i < GT_SAMPLE_TOP && i != pushed))
			continue;
		for (unsigned int f = 0; f < info->n && n < TRACE_STACK_MAX; f++) {
			const struct pc_frame *frame = &info->frame[f];

			if (!frame->wrapper || elides)
				out[n++] = frame->frame;
			elides = frame->elides;
		}
	}
	return intern__stack(st->in, out, n);
}

unsigned int stacks__lookup(struct stacks *st, uint32_t number, uint64_t time,
			    unsigned int (*classify)(const char *function))
{
	const struct stack *stack = number ? stack__of(st, number, time) : NULL;
	struct sym_frame frames[SYM_INLINE_MAX];
	unsigned int found = 0;

	for (uint32_t i = 0; stack && i < stack->depth && !found; i++) {
		int n = st->symbolizer.frames(st->symbolizer.ctx, stack->pc[i], frames);

		for (int f = 0; f < n && !found; f++)
			found = classify(frames[f].func);
	}
	return found;
}

static struct start *add_start(struct stacks *st)
{
	if (st->starts == STARTS_MAX ||
	    array__grow(&st->start, st->starts, &st->starts_cap, sizeof(*st->start)))
		return NULL;
	return &st->start[st->starts];
}

uint32_t stacks__start(struct stacks *st, uint64_t startpc)
{
	struct start *start;
	struct sym_frame sym;
	struct pc_frame frame;
	uintptr_t number;

	if (!startpc)
		return 0;
	number = (uintptr_t)map__get(&st->by_startpc, startpc);
	if (number)
		return (uint32_t)number;
	if (st->symbolizer.start(st->symbolizer.ctx, startpc, &sym) <= 0)
		return 0;
	start = add_start(st);
	if (!start || map__put(&st->by_startpc, startpc, (void *)((uintptr_t)st->starts + 1)))
		return 0;
	pc_info__fill(st, &frame, &sym);
	*start = (struct start){
		.frame = frame.frame,
		.is_runtime = start__is_runtimes(
			(struct trace_string){ sym.func, (uint32_t)strlen(sym.func) }),
	};
	return ++st->starts;
}

uint32_t stacks__start_id(struct stacks *st, uint32_t number)
{
	struct start *start = number ? &st->start[number - 1] : NULL;

	if (!start)
		return 0;
	if (!start->id || start->epoch != intern__epoch(st->in)) {
		start->id = intern__stack(st->in, &start->frame, 1);
		start->epoch = intern__epoch(st->in);
	}
	return start->id;
}

uint32_t stacks__start_name(const struct stacks *st, uint32_t number)
{
	return number ? st->start[number - 1].frame.func : 0;
}

bool stacks__start_is_runtime(const struct stacks *st, uint32_t number)
{
	return number && st->start[number - 1].is_runtime;
}

static size_t stack__bytes(const struct stack *stack)
{
	return sizeof(*stack) + stack->depth * sizeof(uint64_t);
}

/* False: too much is held. */
static bool stack__hold(struct stacks *st, struct stack *stack, uint64_t *left_out)
{
	if (!stack->held && st->held + stack__bytes(stack) > HELD_MAX) {
		(*left_out)++;
		return false;
	}
	st->held += stack->held++ ? 0 : stack__bytes(stack);
	return true;
}

/* As the hash of the probes (bpf/stack.bpf.h): a stack that both send has its ids once. */
static uint64_t hash_of(const struct gt_stack *from)
{
	uint64_t hash = 0;

	for (uint32_t i = 0; i < from->depth; i++) {
		hash = (hash ^ from->pc[i]) * 0x9e3779b97f4a7c15ull;
		hash ^= hash >> 29;
	}
	return (hash & ((1ull << 56) - 1)) | (uint64_t)from->depth << 56;
}

struct stack *stacks__hold(struct stacks *st, const uint64_t *pc, uint32_t depth, bool cut,
			   uint64_t *left_out)
{
	union {
		struct gt_stack from;
		uint64_t room[sizeof(struct gt_stack) / 8 + GT_STACK_MAX];
	} copy = { .from = { .depth = depth, .cut = cut } };
	struct stack *stack;

	if (!depth || depth > GT_STACK_MAX)
		return NULL;
	memcpy(copy.from.pc, pc, depth * sizeof(*pc));
	stack = stack__get(st, hash_of(&copy.from), &copy.from);
	if (stack && !stack__hold(st, stack, left_out)) {
		stack__put(st, stack);
		stack = NULL;
	}
	return stack;
}

struct stack *stacks__hold_number(struct stacks *st, uint32_t number, uint64_t time,
				  uint64_t *left_out)
{
	struct stack *stack = number ? stack__of(st, number, time) : NULL;

	if (!stack || !stack__hold(st, stack, left_out))
		return NULL;
	stack->numbers++;
	return stack;
}

void stacks__let_go(struct stacks *st, struct stack *stack)
{
	if (!stack)
		return;
	if (!--stack->held)
		st->held -= stack__bytes(stack);
	stack__put(st, stack);
}

uint32_t stacks__held_id(struct stacks *st, struct stack *stack, uint32_t start)
{
	if (stack->cut && start)
		return stack__expand(st, stack, 0, &st->start[start - 1].frame);
	return stack__id(st, stack, 0);
}
