#!/bin/sh
# The payload arrives on stdin as one line of JSON: {…,"tool_name":…,"arguments":{…},"plugin_config":…}.
# Printing nothing lets the call go on; {"abort":true,"reason":"…"} refuses it; {"data":{"arguments":{…}}} changes it.
# Exit with 0 in every case: any other exit is a failure, and a failure refuses nothing.
# This looks at the text of the arguments; for anything richer use Python or jq.
set -eu
payload=$(cat)
arguments=${payload#*'"arguments":'}
arguments=${arguments%'"plugin_config":'*}
case $arguments in
*.env*) echo '{"abort":true,"reason":"{{name}}: .env files hold secrets"}' ;;
esac
