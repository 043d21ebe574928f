// The module's path is below that of the targets, whose internal packages it imports.
module gotrace-bpf/selftests/targets/grpc

go 1.26.0

require (
	google.golang.org/grpc v1.76.0
	gotrace-bpf/selftests/targets v0.0.0
)

require (
	golang.org/x/net v0.42.0 // indirect
	golang.org/x/sys v0.34.0 // indirect
	golang.org/x/text v0.27.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20250804133106-a7a43d27e69b // indirect
	google.golang.org/protobuf v1.36.6 // indirect
)

replace gotrace-bpf/selftests/targets => ../../../targets
