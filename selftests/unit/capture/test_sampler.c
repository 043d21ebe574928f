// SPDX-License-Identifier: GPL-2.0
/*
 * CPU samples and the events of each CPU: which CPUs get one, how often it comes, and the reason
 * when it cannot be had. perf_event_open() and libbpf are this file's.
 */
#include <fcntl.h>
#include <sys/syscall.h>

#include <bpf/libbpf.h>
#include <linux/perf_event.h>

#include "unit/test.h"
#include "capture/cpu_events.h"
#include "capture/sampler.h"

#include "unit/fake_skeleton.h"
#include "sample.skel.h"

struct bpf_link {
	int fd;
	unsigned int destroyed;
};

static struct {
	int cpus, off;		    /* this CPU is off; -1: none */
	int open_error, open_fails; /* on this CPU */
	int link_error;
	bool no_btf;
	unsigned int events, links;
	uint64_t config, period;
	struct bpf_link link[8];
	struct sampler *s;
	struct error err;
} t;

long syscall(long number, ...)
{
	struct perf_event_attr *attr;
	va_list ap;
	int cpu;

	va_start(ap, number);
	attr = va_arg(ap, struct perf_event_attr *);
	assert_int_equal(va_arg(ap, int), -1);
	cpu = va_arg(ap, int);
	va_end(ap);
	assert_int_equal(number, SYS_perf_event_open);
	assert_int_equal(attr->type, PERF_TYPE_SOFTWARE);
	assert_true(attr->exclude_idle);
	t.config = attr->config;
	t.period = attr->sample_period;
	errno = cpu == t.off ? ENODEV : t.open_error;
	if (cpu == t.off || (t.open_error && cpu == t.open_fails))
		return -1;
	t.events++;
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int access(const char *path, int mode)
{
	return t.no_btf ? -1 : 0;
}

int libbpf_num_possible_cpus(void)
{
	return t.cpus;
}

struct bpf_link *bpf_program__attach_perf_event(const struct bpf_program *program, int fd)
{
	if (t.link_error) {
		errno = t.link_error;
		return NULL;
	}
	t.link[t.links] = (struct bpf_link){ .fd = fd };
	return &t.link[t.links++];
}

int bpf_link__destroy(struct bpf_link *link)
{
	if (link) {
		link->destroyed++;
		close(link->fd);
	}
	return 0;
}

int rings__use(const struct rings *r, struct bpf_object *object)
{
	return 0;
}

/* ---- helpers ---- */

static int set_up(void **state)
{
	memset(&t, 0, sizeof(t));
	memset(&fake, 0, sizeof(fake));
	t.cpus = 4;
	t.off = -1;
	return 0;
}

static int tear_down(void **state)
{
	sampler__destroy(t.s);
	for (unsigned int i = 0; i < t.links; i++)
		assert_int_equal(t.link[i].destroyed, 1);
	return 0;
}

FIXTURE(set_up, tear_down)

static int open_it(void)
{
	const struct gt_config config = { .tgid = 42 };

	return sampler__open(&t.s, &config, &(struct gt_pid_ns){ .level = 3 }, NULL, &t.err);
}

static void assert_error(int got, int code, const char *text)
{
	assert_int_equal(got, code);
	if (!strstr(t.err.text, text))
		fail_msg("\"%s\" is not in \"%s\"", text, t.err.text);
	t.err.text[0] = 0;
}

/* ---- tests ---- */

TEST(on_each_cpu)
{
	assert_int_equal(open_it(), 0);
	assert_int_equal(sampler__attach(t.s, 99, &t.err), 0);
	assert_int_equal(t.links, 4);
	assert_int_equal(t.config, PERF_COUNT_SW_CPU_CLOCK);
	assert_int_equal(t.period, 1000000000 / 99);
	sampler__detach(t.s);
	for (int i = 0; i < 4; i++)
		assert_int_equal(t.link[i].destroyed, 1);
	sampler__detach(t.s);
	sampler__detach(NULL);
}

TEST(a_cpu_that_is_off)
{
	t.off = 1;
	assert_int_equal(open_it(), 0);
	assert_int_equal(sampler__attach(t.s, 99, &t.err), 0);
	assert_int_equal(t.links, 3);
}

TEST(cannot_attach)
{
	assert_int_equal(open_it(), 0);
	t.open_error = EMFILE;
	t.open_fails = 2;
	assert_error(sampler__attach(t.s, 99, &t.err), -EMFILE, "ulimit -n");
	assert_int_equal(t.links, 2); /* which are taken away with the rest */
	sampler__destroy(t.s);
	set_up(NULL);
	assert_int_equal(open_it(), 0);
	t.link_error = EINVAL;
	assert_error(sampler__attach(t.s, 99, &t.err), -EINVAL, "Invalid argument");
	assert_int_equal(t.events, 1);
	sampler__detach(t.s);
	t.link_error = 0;
	t.cpus = -EIO;
	assert_error(sampler__attach(t.s, 99, &t.err), -EIO, "Input/output error");
}

TEST(reasons)
{
	static const struct {
		int error;
		const char *text;
	} cases[] = {
		{ EPERM, "not permitted" },	      { EACCES, "not permitted" },
		{ ENOENT, "CONFIG_PERF_EVENTS" },     { EOPNOTSUPP, "CONFIG_PERF_EVENTS" },
		{ ENOSYS, "CONFIG_PERF_EVENTS" },     { EMFILE, "ulimit -n" },
		{ EBUSY, "Device or resource busy" },
	};

	for (int i = 0; i < 7; i++) {
		t.open_error = cases[i].error;
		assert_error(sampler__possible(&t.err), -cases[i].error, cases[i].text);
	}
	t.no_btf = true; /* that is the cause, whatever came of it */
	assert_error(sampler__possible(&t.err), -EBUSY, "CONFIG_DEBUG_INFO_BTF");
	t.open_error = EPERM;
	assert_error(sampler__possible(&t.err), -EPERM, "not permitted");
	t.open_error = 0;
	assert_error(sampler__possible(&t.err), -ENOENT, "CONFIG_DEBUG_INFO_BTF");
	t.no_btf = false;
	assert_int_equal(sampler__possible(&t.err), 0);
	fake.load_error = -EACCES;
	assert_error(open_it(), -EACCES, "not permitted");
	assert_int_equal(fake.rodata.config.tgid, 42);
	assert_int_equal(((const struct sample_bpf__rodata *)&fake.rodata)->pid_ns.level, 3);
}
