// SPDX-License-Identifier: GPL-2.0
/*
 * Symbolization for Go 1.5 and 1.6, with a hand-made executable.
 */
#include <elf.h>
#undef EV_NONE /* elf.h and format/spec.h both define it */
#include "unit/test.h"
#include "unit/v1_made.h"

/* An executable with two functions and a table as written by the linker of Go 1.5. */
static void write_program(const char *path, uint32_t magic)
{
	static const char sections[] = "\0.gopclntab\0.shstrtab";
	/* differences in zigzag, then bytes of code: file 1; line 10, and 12 from byte 8 on */
	static const unsigned char files_f[] = { 4, 0x20, 0 }, lines_f[] = { 22, 8, 4, 0x18, 0 };
	static const unsigned char files_g[] = { 6, 0x20, 0 }, lines_g[] = { 62, 0x20, 0 };
	unsigned char table[512] = {};
	Elf64_Shdr shdr[3] = {};
	Elf64_Ehdr eh = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_EXEC,
		.e_machine = EM_X86_64,
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 3,
		.e_shstrndx = 2,
		.e_shoff = sizeof(eh) + sizeof(table) + sizeof(sections),
	};
	const uint64_t head[] = {
		0x0801000000000000u | magic, 2, 0x401000, 0x80, 0x401020, 0xb0, 0x401040, 0x100
	};
	const struct {
		uint64_t entry;
		uint32_t name, unused[3], files, lines;
	} record[] = { { 0x401000, 0x140, {}, 0x160, 0x168 },
		       { 0x401020, 0x148, {}, 0x170, 0x178 } };
	const uint32_t filetab[] = { 3, 0x180, 0x190 };
	FILE *f = fopen(path, "wb");

	memcpy(table, head, sizeof(head));
	memcpy(table + 0x80, &record[0], sizeof(record[0]));
	memcpy(table + 0xb0, &record[1], sizeof(record[1]));
	memcpy(table + 0x100, filetab, sizeof(filetab));
	strcpy((char *)table + 0x140, "main.f");
	strcpy((char *)table + 0x148, "main.g");
	memcpy(table + 0x160, files_f, sizeof(files_f));
	memcpy(table + 0x168, lines_f, sizeof(lines_f));
	memcpy(table + 0x170, files_g, sizeof(files_g));
	memcpy(table + 0x178, lines_g, sizeof(lines_g));
	strcpy((char *)table + 0x180, "/src/f.go");
	strcpy((char *)table + 0x190, "/src/g.go");
	shdr[1] = (Elf64_Shdr){ .sh_name = 1,
				.sh_type = SHT_PROGBITS,
				.sh_offset = sizeof(eh),
				.sh_size = sizeof(table) };
	shdr[2] = (Elf64_Shdr){ .sh_name = 12,
				.sh_type = SHT_STRTAB,
				.sh_offset = sizeof(eh) + sizeof(table),
				.sh_size = sizeof(sections) };
	assert_non_null(f);
	fwrite(&eh, sizeof(eh), 1, f);
	fwrite(table, sizeof(table), 1, f);
	fwrite(sections, sizeof(sections), 1, f);
	fwrite(shdr, sizeof(shdr), 1, f);
	fclose(f);
}

/* Return addresses: last byte of f's first line, first byte of its second; g; after the end. */
TEST(names_from_executable)
{
	struct made t = begin(5);
	char path[32];

	temporary(path);
	write_program(path, 0xfffffffb);
	EV(&t, V1_BATCH, 0, 0, 1000);
	EV(&t, V1_FREQUENCY, 1000000000, 0);
	EV(&t, V1_GOMAXPROCS, 1, 0, 2, 0);
	EV(&t, V1_GO_CREATE, 1, 1, 2, 0x401020, 1);
	EV(&t, V1_STACK, 1, 5, 0x401008, 0x401009, 0x401040, 0x401041, 0x400000);
	expect(&t, path,
	       "-1 Sync 1\n"
	       "1 GoCreate m-1 p0 g-1 2 [0x401021 main.g /src/g.go:30] "
	       "[0x401008 main.f /src/f.go:10, 0x401009 main.f /src/f.go:12, "
	       "0x401040 main.g /src/g.go:30, 0x401041  :0, 0x400000  :0]\n"
	       "2 Sync 2\n");
	unlink(path);
}

static void expect_program_refused(const char *path, const char *reason)
{
	struct made t = begin_5();
	char *found = read_all(&t, path);

	if (!strstr(found, reason))
		fail_msg("no \"%s\" in: %s", reason, found);
	free(found);
}

TEST(unsuitable_executables)
{
	struct made t;
	char path[32];

	temporary(path);
	expect_program_refused(path, "is not an ELF program");
	write_program(path, 0xfffffff1);
	expect_program_refused(path, "not built with Go 1.5 or 1.6, as the traced program was");
	expect_program_refused("/proc/self/exe", "no function table");
	expect_program_refused("/does/not/exist", "No such file");
	/* Any bytes in a table yield names or none. */
	for (unsigned int seed = 0; seed < 4000; seed++) {
		unsigned char byte = (unsigned char)(seed * 31);
		FILE *f;

		write_program(path, 0xfffffffb);
		f = fopen(path, "r+b");
		fseek(f, (long)sizeof(Elf64_Ehdr) + 8 + seed % 500, SEEK_SET);
		fwrite(&byte, 1, 1, f);
		fclose(f);
		t = begin_5();
		free(read_all(&t, path));
	}
	unlink(path);
}
