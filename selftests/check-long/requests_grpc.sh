#!/bin/bash
# timeout: 1800
# check/requests_grpc.sh with more versions of the module: those after which its structs changed.
. "$(dirname "$0")/../lib.sh"

export MODULES="v1.65.mod v1.68.mod v1.76.mod"
exec bash selftests/check/requests_grpc.sh
