// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as the table of functions of a program of Go 1.5, which names the PCs of its traces.
 * They are put into the one section of a program; fuzz_target has programs that are any bytes.
 */
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>
#undef EV_NONE /* versions of ELF, by the prefix of our events */

#include "lib/buf.h"
#include "v1/v1_impl.h"
#include "plain.h"

#define SECTION ".gopclntab"

struct program {
	Elf64_Ehdr header;
	Elf64_Shdr section[3]; /* none, the names, the table */
	char names[32];
};

static bool write_program(int fd, const uint8_t *data, size_t size)
{
	struct program p = {
		.header = {
			.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			.e_type = ET_EXEC,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_shoff = offsetof(struct program, section),
			.e_ehsize = sizeof(Elf64_Ehdr),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_shentsize = sizeof(Elf64_Shdr),
			.e_shnum = 3,
			.e_shstrndx = 1,
		},
		.section[1] = {
			.sh_name = 1,
			.sh_type = SHT_STRTAB,
			.sh_offset = offsetof(struct program, names),
			.sh_size = sizeof(p.names),
		},
		.section[2] = {
			.sh_name = 8,
			.sh_type = SHT_PROGBITS,
			.sh_offset = sizeof(p),
			.sh_size = size,
		},
		.names = "\0.names\0" SECTION,
	};

	return write(fd, &p, sizeof(p)) == sizeof(p) && write(fd, data, size) == (ssize_t)size;
}

/* Each number of the table may be where a function begins, or what lies in one. */
static void name_all(struct v1_symbols *symbols, const uint8_t *data, size_t size)
{
	struct buf b = buf__make(data, size);
	struct dictionary dictionary;

	dictionary__init(&dictionary);
	while (buf__left(&b) >= 8) {
		struct trace_frame frame = { .pc = buf__u64(&b) + 1 };

		if (v1_symbols__frame(symbols, &dictionary, &frame))
			abort();
		if (!dictionary__has_string(&dictionary, frame.func) ||
		    !dictionary__has_string(&dictionary, frame.file))
			abort();
	}
	dictionary__deinit(&dictionary);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("program", MFD_CLOEXEC);
	struct v1_symbols *symbols;
	struct error err = {};
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || !write_program(fd, data, size))
		abort();
	if (!v1_symbols__open(&symbols, path, &err)) {
		name_all(symbols, data, size);
		v1_symbols__destroy(symbols);
	} else if (!err.text[0]) {
		abort();
	}
	close(fd);
	return 0;
}
