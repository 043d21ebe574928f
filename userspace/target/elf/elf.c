// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the program's ELF file: headers when it is opened, sections and code on request.
 *
 * First step of target analysis. Downstream: infer/buildinfo.c, symbols/pclntab.c, layout/layout.c
 * and probe/site.c read the program only through this file (libdw gets copies of sections, see
 * layout/layout_dwarf.c). elf_symbols.c indexes the symbols.
 */
#include "target/elf/elf.h"

#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "lib/buf.h"
#include "lib/regular.h"
#include "target/arch/arch.h"
#include "target/elf/elf_symbols.h"

#define SECTIONS_MAX 4096 /* Go programs have about 30 */
#define SEGMENTS_MAX 256
#define NOTE_MAX     4096
#define NAMES_MAX    (1 << 20) /* bytes of the section names; Go programs have about 500 */
#define LARGE_PAGE   (2u << 20)
#define LARGE	     (2 * LARGE_PAGE)

struct elf_image {
	int fd;
	struct stat stat;
	uint64_t size;
	Elf64_Ehdr ehdr;
	Elf64_Phdr *phdr;
	Elf64_Shdr *shdr;
	size_t nshdr;
	char *shstrtab;
	size_t shstrtab_size;
	char build_id[129];
	char go_build_id[256];
	struct elf_symbols *symbols; /* index, built at the first lookup */
	bool symbols_tried;
};

static const char *machine_name(unsigned int machine)
{
	static const struct {
		unsigned int machine;
		const char *name;
	} names[] = {
		{ EM_386, "386" },	 { EM_ARM, "arm" },	{ EM_AARCH64, "arm64" },
		{ EM_RISCV, "riscv64" }, { EM_PPC64, "ppc64" }, { EM_S390, "s390x" },
		{ EM_MIPS, "mips" },	 { 258, "loong64" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].machine == machine)
			return names[i].name;
	}
	return "another architecture";
}

/* Reads exactly `len` bytes that lie within the file as it was when opened. */
static bool read_at(const struct elf_image *elf, uint64_t offset, void *buf, size_t len)
{
	return offset <= elf->size && len <= elf->size - offset &&
	       !regular__read_at(elf->fd, offset, buf, len);
}

/* Uses huge pages for large buffers: faulting in 90 MB page by page takes 60 ms. */
static void *allocate(uint64_t len)
{
	void *p;

	if (len < LARGE)
		return malloc(len ? len : 1);
	if (posix_memalign(&p, LARGE_PAGE, len))
		return NULL;
	madvise(p, len, MADV_HUGEPAGE);
	return p;
}

static void *load_at(const struct elf_image *elf, uint64_t offset, uint64_t len)
{
	void *p;

	if (offset > elf->size || len > elf->size - offset)
		return NULL;
	p = allocate(len);
	if (p && !read_at(elf, offset, p, len)) {
		free(p);
		p = NULL;
	}
	return p;
}

static int check_header(const Elf64_Ehdr *eh, const char *name, struct error *error)
{
	if (memcmp(eh->e_ident, ELFMAG, SELFMAG))
		return error__set(
			error, -ENOEXEC,
			"%s is not an ELF program (for a script, name the Go program that it starts)",
			name);
	if (eh->e_ident[EI_DATA] != ELFDATA2LSB)
		return error__set(error, -ENOEXEC,
				  "%s is a big-endian program for %s; only "
				  "linux/" ARCH_GO " programs can be recorded",
				  name, machine_name(be16toh(eh->e_machine)));
	if (eh->e_machine != ARCH_ELF || eh->e_ident[EI_CLASS] != ELFCLASS64)
		return error__set(error, -ENOEXEC,
				  "%s is a program for %s; only linux/" ARCH_GO " "
				  "programs can be recorded",
				  name, machine_name(eh->e_machine));
	if (eh->e_type != ET_EXEC && eh->e_type != ET_DYN)
		return error__set(error, -ENOEXEC, "%s is not an executable program", name);
	if (eh->e_phentsize != sizeof(Elf64_Phdr) || eh->e_phnum > SEGMENTS_MAX ||
	    (eh->e_shnum && eh->e_shentsize != sizeof(Elf64_Shdr)) || eh->e_shnum > SECTIONS_MAX)
		return error__set(error, -ENOEXEC, "%s: invalid ELF header", name);
	return 0;
}

static int read_headers(struct elf_image *elf, const char *name, struct error *error)
{
	const Elf64_Ehdr *eh = &elf->ehdr;
	int err = check_header(eh, name, error);

	if (err)
		return err;
	elf->phdr = load_at(elf, eh->e_phoff, eh->e_phnum * sizeof(Elf64_Phdr));
	elf->shdr = load_at(elf, eh->e_shoff, eh->e_shnum * sizeof(Elf64_Shdr));
	if (!elf->phdr || !elf->shdr)
		return error__set(error, -ENOEXEC, "%s: truncated ELF headers", name);
	elf->nshdr = eh->e_shnum;
	if (eh->e_shstrndx < elf->nshdr) {
		const Elf64_Shdr *s = &elf->shdr[eh->e_shstrndx];

		if (s->sh_size && s->sh_size <= NAMES_MAX)
			elf->shstrtab = load_at(elf, s->sh_offset, s->sh_size);
		elf->shstrtab_size = elf->shstrtab ? s->sh_size : 0;
		if (elf->shstrtab) /* so that each offset within it is a string */
			elf->shstrtab[s->sh_size - 1] = 0;
	}
	return 0;
}

/* Copies the description of a section's first note, as hex or as text, into `size` bytes. */
static void read_note(const struct elf_image *elf, const char *section, bool hex, char *ret,
		      size_t size)
{
	struct elf_section sec;
	unsigned char data[NOTE_MAX];
	const unsigned char *desc;
	uint32_t namesz, descsz;
	struct buf b;

	if (!elf_image__section(elf, section, &sec) || sec.size > sizeof(data) ||
	    !read_at(elf, sec.offset, data, sec.size))
		return;
	b = buf__make(data, sec.size);
	namesz = buf__u32(&b);
	descsz = buf__u32(&b);
	buf__skip(&b, 4);
	buf__skip(&b, ((size_t)namesz + 3) & ~(size_t)3);
	desc = buf__take(&b, descsz);
	if (!desc || !descsz)
		return;
	if (hex) {
		for (size_t i = 0; i < descsz && 2 * i + 3 <= size; i++)
			snprintf(ret + 2 * i, 3, "%02x", desc[i]);
	} else {
		snprintf(ret, size, "%.*s", (int)(descsz < size ? descsz : size), desc);
	}
}

int elf_image__open(struct elf_image **ret, int fd, const char *name, struct error *error)
{
	struct elf_image *elf;
	struct stat st;
	int err = regular__stat(fd, NULL, &st);

	if (err)
		return error__set(error, err, "%s: %s", name, strerror(-err));
	if (!S_ISREG(st.st_mode))
		return error__set(error, -ENOEXEC, "%s is not a regular file", name);
	elf = calloc(1, sizeof(*elf));
	if (!elf)
		return error__set(error, -ENOMEM, "out of memory");
	elf->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	elf->stat = st;
	elf->size = (uint64_t)st.st_size;
	if (elf->fd < 0)
		err = error__set(error, -errno, "%s: %s", name, strerror(errno));
	else if (!read_at(elf, 0, &elf->ehdr, sizeof(elf->ehdr)))
		err = error__set(error, -ENOEXEC, "%s is not an ELF program", name);
	else
		err = read_headers(elf, name, error);
	if (err) {
		elf_image__destroy(elf);
		return err;
	}
	read_note(elf, ".note.gnu.build-id", true, elf->build_id, sizeof(elf->build_id));
	read_note(elf, ".note.go.buildid", false, elf->go_build_id, sizeof(elf->go_build_id));
	*ret = elf;
	return 0;
}

void elf_image__destroy(struct elf_image *elf)
{
	if (!elf)
		return;
	elf_image__forget_symbols(elf);
	if (elf->fd >= 0)
		close(elf->fd);
	free(elf->phdr);
	free(elf->shdr);
	free(elf->shstrtab);
	free(elf);
}

bool elf_image__nth_section(const struct elf_image *elf, size_t n, struct elf_section *ret)
{
	const Elf64_Shdr *s;

	if (n >= elf->nshdr)
		return false;
	s = &elf->shdr[n];
	*ret = (struct elf_section){
		.name = s->sh_name < elf->shstrtab_size ? elf->shstrtab + s->sh_name : "",
		.addr = s->sh_addr,
		.offset = s->sh_offset,
		.size = s->sh_size,
		.flags = s->sh_flags,
		.type = s->sh_type,
		.link = s->sh_link,
		.in_file = s->sh_type != SHT_NOBITS && s->sh_offset <= elf->size &&
			   s->sh_size <= elf->size - s->sh_offset,
	};
	return true;
}

bool elf_image__section(const struct elf_image *elf, const char *name, struct elf_section *ret)
{
	struct elf_section s;

	for (size_t i = 0; elf_image__nth_section(elf, i, &s); i++) {
		if (!strcmp(s.name, name)) {
			*ret = s;
			return true;
		}
	}
	return false;
}

unsigned char *elf_image__load(const struct elf_image *elf, const struct elf_section *sec)
{
	return sec->in_file && sec->size <= ELF_LOAD_MAX ? load_at(elf, sec->offset, sec->size) :
							   NULL;
}

/* The segment whose part in the file contains `addr`. */
static const Elf64_Phdr *segment_of(const struct elf_image *elf, uint64_t addr, uint32_t flags)
{
	for (size_t i = 0; i < elf->ehdr.e_phnum; i++) {
		const Elf64_Phdr *p = &elf->phdr[i];

		if (p->p_type == PT_LOAD && (p->p_flags & flags) == flags && addr >= p->p_vaddr &&
		    addr - p->p_vaddr < p->p_filesz)
			return p;
	}
	return NULL;
}

size_t elf_image__read(const struct elf_image *elf, uint64_t addr, void *buf, size_t len)
{
	const Elf64_Phdr *p = segment_of(elf, addr, 0);
	uint64_t into, offset;

	if (!p)
		return 0;
	into = addr - p->p_vaddr;
	if (len > p->p_filesz - into)
		len = p->p_filesz - into;
	if (__builtin_add_overflow(p->p_offset, into, &offset) || !read_at(elf, offset, buf, len))
		return 0;
	return len;
}

int64_t elf_image__offset(const struct elf_image *elf, uint64_t addr)
{
	const Elf64_Phdr *p = segment_of(elf, addr, PF_X);
	uint64_t offset;

	if (!p || __builtin_add_overflow(p->p_offset, addr - p->p_vaddr, &offset) ||
	    offset >= elf->size)
		return -1;
	return (int64_t)offset;
}

bool elf_image__is_relocatable(const struct elf_image *elf)
{
	return elf->ehdr.e_type == ET_DYN;
}

bool elf_image__text_segment(const struct elf_image *elf, uint64_t *ret_vaddr, uint64_t *ret_offset)
{
	for (size_t i = 0; i < elf->ehdr.e_phnum; i++) {
		const Elf64_Phdr *p = &elf->phdr[i];

		if (p->p_type == PT_LOAD && (p->p_flags & PF_X)) {
			*ret_vaddr = p->p_vaddr;
			*ret_offset = p->p_offset;
			return true;
		}
	}
	return false;
}

/* The index is a cache, so it may be built and freed through a const pointer. */
uint64_t elf_image__symbol(const struct elf_image *image, const char *name)
{
	struct elf_image *elf = (struct elf_image *)image;

	if (!elf->symbols_tried) {
		elf->symbols_tried = true;
		elf->symbols = elf_symbols__create(elf);
	}
	return elf->symbols ? elf_symbols__find(elf->symbols, name) : 0;
}

void elf_image__forget_symbols(const struct elf_image *image)
{
	struct elf_image *elf = (struct elf_image *)image;

	elf_symbols__destroy(elf->symbols);
	elf->symbols = NULL;
	elf->symbols_tried = false;
}

const struct stat *elf_image__stat(const struct elf_image *elf)
{
	return &elf->stat;
}

bool elf_image__is_on_fuse(const struct elf_image *elf)
{
	struct statfs fs;

	return fstatfs(elf->fd, &fs) || fs.f_type == FUSE_SUPER_MAGIC;
}

/* UPX writes its magic number behind the program headers. */
bool elf_image__is_packed(const struct elf_image *elf)
{
	char head[512];

	return read_at(elf, 0, head, sizeof(head)) && memmem(head, sizeof(head), "UPX!", 4);
}

const char *elf_image__build_id(const struct elf_image *elf)
{
	return elf->build_id[0] ? elf->build_id : NULL;
}

const char *elf_image__go_build_id(const struct elf_image *elf)
{
	return elf->go_build_id[0] ? elf->go_build_id : NULL;
}
