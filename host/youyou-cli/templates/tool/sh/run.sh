#!/bin/sh
# One JSON document arrives on stdin: {"call_id":…,"tool_name":…,"arguments":{…}}.
# What is printed to stdout is the answer, stderr is the log, an exit status other than 0 reports failure.
# This reads a plain text argument; for anything richer use Python or jq.
set -eu
who=$(sed -n 's/.*"who":"\([^"\\]*\)".*/\1/p')
echo "greeting ${who:-the world}" >&2
echo "Hello, ${who:-world}!"
