// The Go programs that the tests trace. No dependencies, and old enough a language version that
// every Go release whose programs we trace builds them (1.19 and newer).
module gotrace-bpf/selftests/targets

go 1.19
