// Empty is the smallest program with the runtime's types: selftests/offsets/extract builds it with
// each toolchain and reads its DWARF.
package main

func main() {}
