// SPDX-License-Identifier: GPL-2.0
/*
 * Recording into a flight recorder buffer: which session of the module is created, when checkpoints
 * are written and what ends it. The machine is fake_recording.h's; the module's session is memory
 * of this file.
 */
#include "unit/test.h"
#include "unit/fake_recording.h"

#include "blackbox/blackbox.h"
#include "blackbox/blackbox_flight.h"
#include "blackbox/blackbox_record.h"
#include "capture/kmod.h"

#define T0	   (5100 * MS) /* opening takes 30 ms, attaching 70 */
#define RINGS	   3
#define RING_BYTES (4 * 16384)

static struct {
	long cpus;
	struct {
		struct gt_session_page page;
		struct gt_ring_control control[RINGS + 1]; /* one behind the last is no ring's */
	} memory;
	uint64_t rate[RINGS + 1]; /* bytes of each ring in a ms */
	struct gt_abi_create want;
	int kmod_error, create_error, freeze_error, make_error;
	/* checkpoints */
	unsigned int written;
	int write_error, header_error; /* of one with snapshots, without */
	uint64_t at[64], headers[4];
	unsigned int nheaders;
	int writer_error;	/* of the second one */
	unsigned int writers;	/* alive */
	uint64_t first, second; /* times of the last pair */
	uint64_t cost;		/* CPU time of each */
	/* snapshots */
	uint64_t next;	    /* of step: NEVER */
	uint64_t requested; /* when; 0: never */
	char cause[64];	    /* its kind and text */
	unsigned int steps;
	bool save_failed;
	/* the process */
	uint64_t replaced_at; /* NEVER */
	uint64_t began;
	int began_error;

	struct process process;
	struct go_modules modules;
	uint64_t plugin_at, named_at; /* when a plugin is loaded (NEVER), and named */
	unsigned int lists, named;
	struct recorder_opts recorder;
	struct blackbox_opts opts;
	struct blackbox_stats stats;
	struct error err;
} t;

/* ---- what blackbox_record.c calls ---- */

long __sysconf(int name); /* glibc's own name for it */

long sysconf(int name)
{
	return name == _SC_NPROCESSORS_ONLN ? t.cpus :
					      __sysconf(name); /* the sanitizers ask, too */
}

bool process__alive(const struct process *proc)
{
	return fake.now < fake.exits;
}

bool process__is_same(const struct process *proc)
{
	return fake.now < fake.exits && fake.now < t.replaced_at;
}

bool process__was_replaced(const struct process *proc)
{
	return fake.now < fake.exits && fake.now >= t.replaced_at;
}

int kmod__open(struct kmod **ret, struct error *err)
{
	return t.kmod_error;
}

void kmod__close(struct kmod *k)
{
	note("close");
}

int kmod__create(struct kmod *k, struct gt_abi_create *want, struct error *err)
{
	note("create");
	t.want = *want;
	want->id = 17;
	want->bytes = sizeof(t.memory);
	return t.create_error;
}

int kmod__freeze(struct kmod *k, struct error *err)
{
	note("freeze");
	return t.freeze_error;
}

int kmod__release(struct kmod *k, struct error *err)
{
	note("release");
	return 0;
}

const struct gt_session_page *kmod__memory(const struct kmod *k)
{
	for (int i = 0; i <= RINGS; i++)
		t.memory.control[i].head = 1000 + t.rate[i] * (fake.now / MS);
	return &t.memory.page;
}

size_t kmod__bytes(const struct kmod *k)
{
	return sizeof(t.memory);
}

int kmod__write_checkpoint(struct kmod *k, const void *data, size_t size, struct error *err)
{
	assert_ptr_equal(data, &t.first);
	assert_int_equal(size, 321);
	if (!t.first) {
		note("header");
		return t.header_error ? error__set(err, t.header_error, "too long") : 0;
	}
	note("checkpoint");
	fake.cpu += t.cost;
	t.at[t.written++ % 64] = fake.now;
	return t.write_error ? error__set(err, t.write_error, "too long") : 0;
}

int blackbox_writer__create(struct blackbox_writer **ret, const struct raw_header *facts,
			    const struct symbolizer *symbolizer)
{
	if (t.nheaders && t.writer_error)
		return t.writer_error;
	t.headers[t.nheaders++] = facts->t0;
	t.writers++;
	*ret = (struct blackbox_writer *)&t;
	return 0;
}

void blackbox_writer__destroy(struct blackbox_writer *w)
{
	t.writers -= w != NULL;
}

int blackbox_writer__make(struct blackbox_writer *w, const void *memory, size_t bytes,
			  const struct snapshot *first, const struct snapshot *second,
			  const void **ret, size_t *ret_size)
{
	assert_non_null(w);
	assert_ptr_equal(memory, &t.memory);
	assert_int_equal(bytes, sizeof(t.memory));
	t.first = first ? first->time : 0;
	t.second = second ? second->time : 0;
	*ret = &t.first;
	*ret_size = 321;
	return t.make_error;
}

int modules__read(struct go_modules *m, const struct go_program *program, struct error *error)
{
	static struct go_module plugin;

	t.lists++;
	if (m->n || fake.now < t.plugin_at)
		return 0;
	m->module[m->n++] = &plugin;
	return 1;
}

const char *go_module__name(const struct go_module *module)
{
	t.named_at = fake.now;
	t.named++;
	return "plugin.so";
}

int setup__snapshot_signal(int fd, struct error *error)
{
	note("usr1");
	return 0;
}

/* poll() reports the signal until it was read. */
bool blackbox_flight__request(struct blackbox_flight *f, const char *kind, const char *text,
			      uint64_t now)
{
	note("request");
	t.requested = now;
	snprintf(t.cause, sizeof(t.cause), "%s, %s", kind, text);
	fake.signalled = NEVER;
	return true;
}

uint64_t blackbox_flight__step(struct blackbox_flight *f, uint64_t now)
{
	assert_int_equal(f->tail_ns, 300 * MS);
	t.steps++;
	return t.next > now ? t.next : now + 20 * MS;
}

bool blackbox_flight__end(struct blackbox_flight *f)
{
	note("end");
	assert_true(f->save(f->ctx, &f->request));
	f->written = 3;
	f->failed = t.save_failed;
	return !t.save_failed;
}

/* ---- helpers ---- */

static bool save(void *ctx, struct kmod *kmod, const struct symbolizer *symbolizer,
		 const struct flight_cause *cause)
{
	assert_ptr_equal(ctx, &t);
	note("save");
	return true;
}

static void send_signal(int number, uint64_t time)
{
	struct signalfd_siginfo info = { .ssi_signo = (uint32_t)number };

	assert_true(setup__signals(NULL) >= 0);
	assert_int_equal(write(fake.pipe[1], &info, sizeof(info)), sizeof(info));
	fake.signalled = time;
}

static int on_started(void *ctx)
{
	assert_ptr_equal(ctx, &t);
	t.began = fake.now;
	return t.began_error;
}

static int set_up(void **state)
{
	fake_begin();
	memset(&t, 0, sizeof(t));
	t.cpus = 4;
	t.rate[RINGS] = RING_BYTES;
	t.memory.page = (struct gt_session_page){
		.rings = RINGS,
		.subbufs = 4,
		.subbuf_size = RING_BYTES / 4,
		.control_offset = offsetof(typeof(t.memory), control),
		.control_stride = sizeof(struct gt_ring_control),
	};
	t.replaced_at = t.next = t.plugin_at = NEVER;
	t.process = (struct process){ .pid = 42, .pidfd = FAKE_PIDFD };
	t.recorder = (struct recorder_opts){
		.process = &t.process, .modules = &t.modules, .duration_ns = 2500 * MS, .sets = 6
	};
	t.opts = (struct blackbox_opts){ .recorder = &t.recorder,
					 .name = "box",
					 .timeout = 60,
					 .on_started = on_started,
					 .ctx = &t };
	return 0;
}

static int tear_down(void **state)
{
	fake_end();
	assert_int_equal(t.writers, 0);
	return 0;
}

FIXTURE(set_up, tear_down)

static int run(void)
{
	return blackbox__record(&t.opts, &t.stats, &t.err);
}

/* What is asked for with so many CPUs and this --ring-size. */
static const struct gt_abi_create *ask(long cpus, uint32_t ring_size)
{
	set_up(NULL);
	t.cpus = cpus;
	t.recorder.ring_size = ring_size;
	t.create_error = -EEXIST;
	run();
	fake_end();
	return &t.want;
}

static void assert_sizes(long cpus, uint32_t ring_size, uint32_t rings, uint32_t subbuf_size,
			 uint32_t subbufs)
{
	const struct gt_abi_create *want = ask(cpus, ring_size);

	assert_int_equal(want->rings, rings);
	assert_int_equal(want->subbuf_size, subbuf_size);
	assert_int_equal(want->subbufs, subbufs);
}

/* ---- tests ---- */

TEST(names)
{
	char name[GT_NAME_MAX + 1] = "";

	assert_true(blackbox__name_is_valid("aZ09._-"));
	assert_false(blackbox__name_is_valid(""));
	assert_false(blackbox__name_is_valid("a/b"));
	assert_false(blackbox__name_is_valid("a b"));
	memset(name, 'x', GT_NAME_MAX - 1);
	assert_true(blackbox__name_is_valid(name));
	name[GT_NAME_MAX - 1] = 'x';
	assert_false(blackbox__name_is_valid(name));
}

/*
 * All rings have 16 MiB together; each is of 16 parts, though none of them is smaller than 16 KiB.
 */
TEST(sizes)
{
	assert_sizes(1, 0, 1, 1 << 20, 16);
	assert_sizes(3, 0, 3, 256 << 10, 16); /* 4 MiB: a power of two */
	assert_sizes(4, 0, 4, 256 << 10, 16);
	assert_sizes(63, 0, 63, 16 << 10, 16);
	assert_sizes(64, 0, 63, 16 << 10, 16); /* one number is for the stacks */
	assert_sizes(500, 0, 63, 16 << 10, 16);
	assert_sizes(0, 0, 1, 1 << 20, 16);
	assert_sizes(-1, 0, 1, 1 << 20, 16);
	assert_sizes(2, 64 << 10, 2, 16 << 10, 4);
	assert_sizes(2, 16 << 10, 2, 16 << 10, 4); /* less is not possible */
	assert_sizes(2, 256 << 20, 2, 16 << 20, 16);
	assert_sizes(2, 512 << 20, 2, 16 << 20, 32);
}

/* --max-size is for all rings together; a ring has a power of two, 64 KiB at least. */
TEST(sizes_of_all)
{
	static const struct {
		long cpus;
		uint64_t all;
		uint32_t rings, bytes;
	} list[] = {
		{ 1, 64 << 20, 1, 64 << 20 },  { 2, 64 << 20, 2, 32 << 20 },
		{ 6, 64 << 20, 6, 8 << 20 },   { 2, 1 << 20, 2, 512 << 10 },
		{ 32, 1 << 20, 16, 64 << 10 }, { 500, 64 << 20, 63, 1 << 20 },
	};

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		set_up(NULL);
		t.cpus = list[i].cpus;
		t.opts.bytes_max = list[i].all;
		t.create_error = -EEXIST;
		run();
		fake_end();
		assert_int_equal(t.want.rings, list[i].rings);
		assert_int_equal((uint64_t)t.want.subbuf_size * t.want.subbufs,
				 (uint64_t)list[i].bytes);
	}
}

TEST(asks_for)
{
	const struct gt_abi_create *want = ask(4, 0);
	char name[GT_NAME_MAX] = "";

	assert_int_equal(want->flags, GT_SESSION_KEEP);
	assert_string_equal(want->name, "box");
	assert_int_equal(want->timeout, 60);
	assert_int_equal(want->stack_words, 512 << 10);
	assert_int_equal(want->checkpoint_max, 512 << 20);
	memset(name, 'n', sizeof(name) - 1);
	set_up(NULL);
	t.opts.name = name;
	t.create_error = -EEXIST;
	run();
	assert_string_equal(t.want.name, name);
}

/*
 * A header before any probe, another one when all are live, then a pair of snapshots each second.
 */
TEST(for_a_duration)
{
	assert_int_equal(run(), 0);
	assert_int_equal(t.stats.memory, sizeof(t.memory));
	assert_int_equal(fake.opened.session, 17);
	assert_int_equal(fake.opened.derived_ns, 1000);
	assert_int_equal(fake.opened.sets, 6);
	assert_int_equal(fake.kept, PRIVILEGE_READ);
	assert_int_equal(t.nheaders, 2);
	assert_int_equal(t.headers[0], BLACKBOX_NOT_BEGUN);
	assert_int_equal(t.headers[1], T0);
	assert_int_equal(t.stats.t0, T0);
	assert_int_equal(t.began, T0);
	assert_non_null(strstr(
		fake.text, "create open symbols header attach keep1 header read read checkpoint"));
	assert_int_equal(t.written, 4); /* 0, 1, 2 s; the end */
	assert_int_equal(t.stats.checkpoints, 4);
	for (int i = 0; i < 3; i++)
		assert_in_range(fake.read_at[2 * i], T0 + i * 1000 * MS, T0 + i * 1001 * MS);
	assert_int_equal(fake.read_at[1], fake.read_at[0] + fake.takes + 40 * MS);
	assert_int_equal(t.first, fake.read_at[6]);
	assert_int_equal(t.second, fake.read_at[7]);
	assert_int_equal(fake.before[0], 0);
	assert_int_equal(fake.before[1], fake.read_at[0]);
	assert_in_range(fake.read_at[6], T0 + 2500 * MS, T0 + 2501 * MS);
	assert_int_equal(t.stats.t1, t.at[3]);
	assert_false(t.stats.exited || t.stats.replaced);
	assert_non_null(strstr(fake.text, "freeze destroy close"));
	assert_int_equal(noted("release"), 0);
}

TEST(ended_by_signal)
{
	t.recorder.duration_ns = 0;
	fake.signalled = T0 + 1500 * MS;
	assert_int_equal(run(), 0);
	assert_int_equal(t.written, 3);
	assert_int_equal(fake.read_at[4], fake.signalled);
	assert_false(t.stats.exited);
}

TEST(ended_by_exit)
{
	t.recorder.duration_ns = 0;
	fake.exits = T0 + 1500 * MS;
	assert_int_equal(run(), 0);
	assert_int_equal(t.written, 2);
	assert_int_equal(t.stats.checkpoints, 2);
	assert_int_equal(t.stats.t1, fake.exits);
	assert_true(t.stats.exited && !t.stats.replaced);
	fake_end();

	set_up(NULL); /* between the two snapshots of a checkpoint */
	t.recorder.duration_ns = 0;
	fake.exits = T0 + 20 * MS;
	assert_int_equal(run(), 0);
	assert_int_equal(t.written, 0);
	assert_int_equal(noted("say"), 0);
	assert_true(t.stats.exited && !t.stats.replaced);
}

TEST(ended_by_exec)
{
	t.recorder.duration_ns = 0;
	t.replaced_at = T0 + 1500 * MS;
	assert_int_equal(run(), 0);
	assert_int_equal(t.written, 2);
	assert_true(t.stats.replaced && !t.stats.exited);
}

/* Rings that go round in less than 4 s: four checkpoints in that time, by the busiest ring. */
TEST(busy_rings)
{
	t.rate[0] = 1;
	t.rate[1] = RING_BYTES / 1024; /* round in 1024 ms */
	t.rate[2] = 2;
	assert_int_equal(run(), 0);
	assert_in_range(fake.read_at[2] - fake.read_at[0], 1000 * MS,
			1001 * MS); /* not known yet */
	assert_in_range(fake.read_at[4] - fake.read_at[2], 256 * MS, 258 * MS);
	assert_in_range(fake.read_at[6] - fake.read_at[4], 254 * MS, 260 * MS);
	fake_end();

	set_up(NULL);
	t.rate[0] = RING_BYTES / 2048;
	assert_int_equal(run(), 0);
	assert_in_range(fake.read_at[4] - fake.read_at[2], 512 * MS, 514 * MS);
	fake_end();

	set_up(NULL);
	t.rate[2] = RING_BYTES / 4; /* in 4 ms: no more often than each 100 ms */
	assert_int_equal(run(), 0);
	assert_in_range(fake.read_at[4] - fake.read_at[2], 100 * MS, 101 * MS);
	fake_end();

	set_up(NULL);
	t.rate[2] = RING_BYTES / 8192; /* in 8 s */
	t.recorder.duration_ns = 3500 * MS;
	assert_int_equal(run(), 0);
	assert_in_range(fake.read_at[4] - fake.read_at[2], 1000 * MS, 1001 * MS);
}

/* A tenth of one CPU. */
TEST(costly_checkpoints)
{
	t.cost = 150 * MS;
	t.recorder.duration_ns = 5000 * MS;
	assert_int_equal(run(), 0);
	assert_in_range(fake.read_at[2] - fake.read_at[0], 1500 * MS, 1501 * MS);
	assert_in_range(fake.read_at[4] - fake.read_at[2], 1500 * MS, 1501 * MS);
}

/* One that the module has no room for is said once, and no reason to end. */
TEST(no_room)
{
	t.write_error = -EINVAL;
	assert_int_equal(run(), 0);
	assert_int_equal(t.written, 4);
	assert_int_equal(t.stats.checkpoints, 0);
	assert_int_equal(noted("say"), 1);
}

TEST(unreadable)
{
	fake.read_error[0] = -EFAULT;
	fake.read_error[2] = -EFAULT; /* the second of the next pair */
	assert_int_equal(run(), 0);
	assert_int_equal(fake.reads, 1 + 2 + 2 + 2);
	assert_int_equal(t.stats.checkpoints, 2);
	assert_int_equal(noted("say"), 0);
}

/* ---- snapshots ---- */

static void begin_flight(void)
{
	t.opts.flight = (struct blackbox_flight_opts){ 300 * MS, save };
	t.opts.privilege = PRIVILEGE_FOLDER;
}

/* A request is followed by a checkpoint at once; in the end the session is released. */
TEST(requested)
{
	begin_flight();
	send_signal(SIGUSR1, T0 + 500 * MS);
	assert_int_equal(run(), 0);
	assert_int_equal(fake.kept, PRIVILEGE_READ | PRIVILEGE_FOLDER);
	assert_int_equal(t.requested, T0 + 500 * MS);
	assert_string_equal(t.cause, "signal, the user's request");
	assert_in_range(fake.read_at[2], T0 + 500 * MS, T0 + 501 * MS);
	assert_int_equal(t.written, 4); /* 0, 0.5, 1.5 s; the end */
	assert_non_null(strstr(fake.text, "freeze end save release destroy close"));
	assert_int_equal(noted("usr1"), 1);
	assert_true(t.stats.released);
	assert_int_equal(t.stats.snapshots, 3);
	assert_int_equal(t.stats.failed_snapshots, 0);
	assert_false(t.stats.exited);
}

/* It wakes up when a snapshot is due. */
TEST(due)
{
	begin_flight();
	t.next = T0 + 700 * MS;
	t.recorder.duration_ns = 1000 * MS;
	assert_int_equal(run(), 0);
	assert_in_range(t.steps, 1 + 300 / 21, 3 + 300 / 20); /* then every 20 ms */
	assert_int_equal(noted("request"), 0);
}

TEST(flight_ended_by_signal)
{
	begin_flight();
	send_signal(SIGTERM, T0 + 500 * MS);
	assert_int_equal(run(), 0);
	assert_int_equal(t.written, 2);
	assert_int_equal(noted("request"), 0);
	assert_true(t.stats.released);
}

TEST(flight_ended_by_exit)
{
	begin_flight();
	fake.exits = T0 + 1500 * MS;
	assert_int_equal(run(), 0);
	assert_string_equal(t.cause, "exit, the end of the process");
	assert_int_equal(t.requested, fake.exits);
	assert_true(t.stats.released && t.stats.exited);
	fake_end();

	set_up(NULL); /* the last snapshot is only in the buffer */
	begin_flight();
	t.replaced_at = T0 + 1500 * MS;
	t.save_failed = true;
	assert_int_equal(run(), 0);
	assert_string_equal(t.cause, "exit, another program in the process");
	assert_false(t.stats.released);
	assert_int_equal(t.stats.failed_snapshots, 1);
	assert_int_equal(noted("release"), 0);
}

/* What fails before it has begun leaves no session. */
TEST(cannot_begin)
{
	t.kmod_error = -ENOENT;
	assert_int_equal(run(), -ENOENT);
	assert_int_equal(noted("create"), 0);
	assert_string_equal(t.err.text, "cannot record: No such file or directory");
	fake_end();

	set_up(NULL);
	t.create_error = -EEXIST;
	assert_int_equal(run(), -EEXIST);
	assert_int_equal(noted("open") + noted("release"), 0);
	fake_end();

	set_up(NULL);
	fake.open_error = -EPERM;
	assert_int_equal(run(), -EPERM);
	assert_string_equal(fake.text, "create open release destroy close");
	fake_end();

	set_up(NULL);
	fake.attach_error = -ESRCH;
	assert_int_equal(run(), -ESRCH);
	assert_string_equal(fake.text, "create open symbols header attach release destroy close");
	assert_int_equal(t.stats.t0, 0);
	fake_end();

	set_up(NULL);
	t.began_error = -ENOSPC;
	assert_int_equal(run(), -ENOSPC);
	assert_int_equal(noted("release"), 1);
	assert_int_equal(fake.reads, 0);
	fake_end();

	set_up(NULL);
	t.make_error = -EMFILE;
	assert_int_equal(run(), -EMFILE);
	assert_int_equal(noted("attach"), 0);
	fake_end();

	set_up(NULL);
	t.header_error = -ENOMEM;
	assert_int_equal(run(), -ENOMEM);
	assert_string_equal(t.err.text, "too long");
	fake_end();

	set_up(NULL); /* the first writer is gone by then */
	t.writer_error = -E2BIG;
	assert_int_equal(run(), -E2BIG);
	assert_int_equal(t.writers, 0);
	assert_int_equal(noted("release"), 1);
	fake_end();

	set_up(NULL);
	fake.no_signals = true;
	assert_int_equal(run(), -EMFILE);
	assert_int_equal(noted("create"), 0);
	fake_end();

	set_up(NULL);
	t.freeze_error = -EIO;
	assert_int_equal(run(), -EIO);
	assert_int_equal(noted("release"), 0);
}

/* It is named with the next checkpoint, once. Other Go runtimes are looked for at the end. */
TEST(plugin_is_loaded)
{
	t.plugin_at = 6000 * MS;
	t.recorder.duration_ns = 4000 * MS;
	assert_int_equal(run(), 0);
	assert_int_equal(t.named, 1);
	assert_in_range(t.named_at, 6000 * MS, 7200 * MS);
	assert_in_range(t.lists, 4, 6);
	assert_int_equal(fake.looks, 1);
}
