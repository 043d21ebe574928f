package main

// This file maps what looks like the areas that an earlier recording has left, in which each size that a
// recorder could believe is wrong: struct gt_inline of include/gotrace/inline.h.

import (
	"encoding/binary"
	"syscall"
	"unsafe"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

const (
	codeBytes, flagBytes = 16384, 4096
	magic0, magic1       = 0x6e696c6e49706267, 0x31e6f6b2a94c07d5

	atCode, atFlag, atRings, atCodeBytes, atRingBytes = 16, 24, 32, 40, 48
	atSites, sites, siteBytes                         = 72, 32, 32
	firstSite                                         = 80
	wasInSite, sizeInSite                             = 24, 30
)

func plantLeftover() {
	area, err := syscall.Mmap(-1, 0, codeBytes+flagBytes, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		protocol.Fail(err)
	}
	code := uint64(uintptr(unsafe.Pointer(&area[0])))
	for i := range area[:codeBytes] {
		area[i] = 0x41
	}
	for at, value := range map[int]uint64{
		0: magic0, 8: magic1, atCode: code, atFlag: code + codeBytes, atRings: code,
		atCodeBytes: codeBytes, atRingBytes: 1 << 62,
	} {
		binary.LittleEndian.PutUint64(area[at:], value)
	}
	binary.LittleEndian.PutUint32(area[atSites:], sites)
	for i := 0; i < sites; i++ {
		site := area[firstSite+i*siteBytes:]
		binary.LittleEndian.PutUint64(site, code+codeBytes/2)
		site[wasInSite] = 0x44 // so that the code there looks changed
		site[sizeInSite] = 6
	}
	area[firstSite+(sites-1)*siteBytes+sizeInSite] = 255
	if err := syscall.Mprotect(area[:codeBytes], syscall.PROT_READ|syscall.PROT_EXEC); err != nil {
		protocol.Fail(err)
	}
	if err := syscall.Mprotect(area[codeBytes:], syscall.PROT_READ); err != nil {
		protocol.Fail(err)
	}
}
