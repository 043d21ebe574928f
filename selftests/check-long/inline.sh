#!/bin/bash
# timeout: 900
# More attachments of inline probes, and more kills of the recorder and its guardian: see
# selftests/check/inline.sh.
LONG=1 exec "$(dirname "$0")/../check/inline.sh"
