// SPDX-License-Identifier: GPL-2.0
/* The probes of plugins, which are attached with those of the program, or later. */
#include "unit/probes_fixture.h"
#include "target/modules/modules.h"

static struct go_module make_plugin(struct site *site, enum gt_probe probe, uint64_t cookie)
{
	struct go_module plugin = { .attach_path = "/proc/self/fd/11", .sites = { .n = 1 } };

	*site = (struct site){ .probe = probe, .offset = 0x700, .cookie = cookie, .func = "f" };
	plugin.sites.site = site;
	plugin.sites.has[probe] = true;
	return plugin;
}

TEST(plugins)
{
	struct site site[2];
	struct go_module early = make_plugin(&site[0], GT_PROBE_EXECUTE, 0);
	struct go_module late = make_plugin(&site[1], GT_PROBE_PARK, 3);

	assert_int_equal(open_it(), 0);
	assert_int_equal(probes__add_plugin(t.s, &early, false, &t.err), 0);
	assert_int_equal(t.links, 0);
	assert_int_equal(probes__attach(t.s, &t.err), 0);
	assert_int_equal(t.links, 4);
	assert_string_equal(t.path, "/proc/self/fd/11");
	assert_int_equal(t.offset[0], 0x700);
	assert_int_equal(probes__add_plugin(t.s, &late, true, &t.err), 0);
	assert_int_equal(t.links, 5);
	assert_int_equal(t.cookie[0], GT_COOKIE(GT_PROBE_PARK, 3));
	assert_int_equal(probes__suspend(t.s), 0);
	for (unsigned int i = 1; i < 5; i++)
		assert_int_equal(t.link[i].destroyed, 1);
	assert_int_equal(probes__attach(t.s, &t.err), 0);
	assert_int_equal(t.links, 9);
}

/* The programs are loaded already: none for this probe, and none that reads such a cookie. */
TEST(unfit_plugins)
{
	struct site site[3];
	struct go_module other = make_plugin(&site[0], GT_PROBE_READY, 0);
	struct go_module inlined = make_plugin(&site[1], GT_PROBE_READY, 3);
	struct go_module fails = make_plugin(&site[2], GT_PROBE_EXECUTE, 0);

	for (size_t i = 0; i < t.sites.n; i++)
		t.site[i].cookie = 0;
	assert_int_equal(open_and_attach(), 0);
	assert_int_equal(probes__add_plugin(t.s, &other, true, &t.err), -ENOTSUP);
	assert_non_null(strstr(t.err.text, "no probe 'ready'"));
	t.err.text[0] = '\0';
	assert_int_equal(probes__add_plugin(t.s, &inlined, true, &t.err), -ENOTSUP);
	assert_non_null(strstr(t.err.text, "inlined functions"));
	t.err.text[0] = '\0';
	t.attach_fails = t.links + 1;
	t.attach_error = ESRCH;
	assert_int_equal(probes__add_plugin(t.s, &fails, true, &t.err), -ESRCH);
	t.attach_fails = 0;
	probes__detach(t.s);
	assert_int_equal(probes__attach(t.s, &t.err), 0); /* without any of them */
}
