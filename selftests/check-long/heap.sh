#!/bin/bash
# The same-run comparison with a busy heap, with each release except 1.21; see check/fidelity.sh for
# the reason.
HEAP_GOS=${TARGET_GOS/go1.21.13/} exec "$(dirname "$0")/../check/fidelity.sh"
