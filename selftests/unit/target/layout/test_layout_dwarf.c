// SPDX-License-Identifier: GPL-2.0
/* Tests of target/layout/layout_dwarf.c with synthetic DWARF, uncompressed and compressed. */
#include <endian.h>
#include <zlib.h>

#include "unit/test.h"
#include "target/infer/buildinfo.h"
#include "target/layout/layout_dwarf.h"
#include "target/layout/offsets_table.h"

#include "unit/programs.h"

#include "unit/elf_made.h"

static const unsigned char abbrev[] = {
	1, 0x11, 1, 0x03, 0x08, 0,    0,	  /* a unit with a name and children */
	2, 0x13, 1, 0x03, 0x08, 0,    0,	  /* a struct, likewise */
	3, 0x0d, 0, 0x03, 0x08, 0x38, 0x0f, 0, 0, /* a member with a name and an offset */
	0,
};

/* runtime.g with goid at 152, and m at 65536, which is no offset. */
static const unsigned char info[] = {
	52,   0,    0,	 0,   4,   0,	0,   0,	  0,   0,    8, /* its length, DWARF 4, 8 bytes an address */
	1,    'r',  'u', 'n', 't', 'i', 'm', 'e', 0,   2,    'r',  'u',	 'n', 't', 'i', 'm',
	'e',  '.',  'g', 0,   3,   'g', 'o', 'i', 'd', 0,    0x98, 0x01, 3,   'm', 0,	0x80,
	0x80, 0x04, 3,	 's', 't', 'a', 'c', 'k', 0,   0x00, 0,	   0,	 0,   0,
};

static int read_made(const void *data, size_t len, const char *name, uint64_t flags,
		     struct offsets *ret, struct error *err)
{
	struct made_section sec[] = { { name, data, len, 0, flags },
				      { ".debug_abbrev", abbrev, sizeof(abbrev), 0, 0 } };
	struct go_version version;
	struct elf_image *elf;
	int code, fd = elf_made(sec, 2);

	err->text[0] = 0;
	assert_true(go_version__parse("go1.25.3", &version));
	assert_int_equal(elf_image__open(&elf, fd, "made", NULL), 0);
	code = layout_dwarf__read_here(elf, &version, ret, err);
	elf_image__destroy(elf);
	close(fd);
	return code;
}

static void expect_offsets(const struct offsets *o)
{
	assert_int_equal(o->at[OFF_G_GOID], 152);
	assert_int_equal(o->at[OFF_G_M], OFFSET_ABSENT);
	assert_int_equal(o->at[OFF_G_STACK], 0);
	assert_int_equal(o->at[OFF_M_P], OFFSET_UNKNOWN); /* no struct of this name */
}

TEST(plain)
{
	struct offsets o;
	struct error err;

	if (read_made(info, sizeof(info), ".debug_info", 0, &o, &err))
		fail_msg("%s", err.text);
	expect_offsets(&o);
}

TEST(packed)
{
	struct {
		Elf64_Chdr header;
		unsigned char data[256];
	} elf = { .header = { .ch_type = ELFCOMPRESS_ZLIB, .ch_size = sizeof(info) } };
	struct __attribute__((packed)) {
		char magic[4];
		uint64_t size;
		unsigned char data[256];
	} gnu = { .magic = "ZLIB", .size = htobe64(sizeof(info)) };
	uLongf len = sizeof(elf.data);
	struct offsets o;
	struct error err;

	assert_int_equal(compress(elf.data, &len, info, sizeof(info)), Z_OK);
	memcpy(gnu.data, elf.data, len);
	if (read_made(&elf, sizeof(elf.header) + len, ".debug_info", SHF_COMPRESSED, &o, &err))
		fail_msg("%s", err.text);
	expect_offsets(&o);
	if (read_made(&gnu, 12 + len, ".zdebug_info", 0, &o, &err))
		fail_msg("%s", err.text);
	expect_offsets(&o);

	elf.header.ch_size++; /* more than there is */
	assert_int_equal(
		read_made(&elf, sizeof(elf.header) + len, ".debug_info", SHF_COMPRESSED, &o, &err),
		-EBADMSG);
	assert_non_null(strstr(err.text, ".debug_info is corrupt"));
	elf.header.ch_size = sizeof(info);
	elf.header.ch_type = ELFCOMPRESS_ZLIB + 1;
	assert_int_equal(
		read_made(&elf, sizeof(elf.header) + len, ".debug_info", SHF_COMPRESSED, &o, &err),
		-EBADMSG);
	assert_int_equal(
		read_made(&elf, sizeof(elf.header) - 1, ".debug_info", SHF_COMPRESSED, &o, &err),
		-EBADMSG);
	assert_non_null(strstr(err.text, ".debug_info is corrupt"));
	gnu.magic[0] = 'z';
	assert_int_equal(read_made(&gnu, 12 + len, ".zdebug_info", 0, &o, &err), -EBADMSG);
	assert_non_null(strstr(err.text, ".debug_info is corrupt"));
	assert_int_equal(read_made(&gnu, 3, ".zdebug_info", 0, &o, &err), -EBADMSG);
	assert_non_null(strstr(err.text, ".debug_info is corrupt"));
	assert_int_equal(read_made(&gnu, 12 + len, ".other", 0, &o, &err), -ENODATA);
}
