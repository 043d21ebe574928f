// The module's path is below that of the targets, whose internal packages it imports.
module gotrace-bpf/selftests/targets/grpc

go 1.26.0

require (
	google.golang.org/grpc v1.65.0
	gotrace-bpf/selftests/targets v0.0.0
)

require (
	golang.org/x/net v0.25.0 // indirect
	golang.org/x/sys v0.20.0 // indirect
	golang.org/x/text v0.15.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20240528184218-531527333157 // indirect
	google.golang.org/protobuf v1.34.1 // indirect
)

replace gotrace-bpf/selftests/targets => ../../../targets
