#!/bin/bash
# The same-run comparison with a busy heap, by each release; not 1.21, see the script.
HEAP_GOS=${TARGET_GOS/go1.21.13/} exec "$(dirname "$0")/../check/fidelity.sh"
