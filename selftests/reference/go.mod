// Go programs that check our traces with Go's own reader. The newest x/exp needs Go 1.26;
// an older go command fetches the toolchain named here through the module proxy.
module gotrace-bpf/selftests/reference

go 1.26.0

toolchain go1.26.8

require (
	github.com/google/pprof v0.0.0-20261016150608-1facf8f91b50
	golang.org/x/exp v0.0.0-20260908205506-85c1c2202aba
)
