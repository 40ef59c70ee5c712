#!/usr/bin/env python3
# The payload arrives on stdin as one JSON document, with `event` and `plugin_config`.
# Printing nothing lets all go on; {"abort":true,"reason":"…"} stops it; {"data":{FIELD:…}} changes fields.
# Exit with 0 in every case: any other exit is a failure, and a failure stops nothing. Messages go to stderr.
import json
import sys


def before_tool_use(payload, config):
    arguments = json.dumps(payload["arguments"], ensure_ascii=False)
    for word in config.get("refuse", []):
        if word in arguments:
            return {"abort": True, "reason": f"{{name}}: {word} files hold secrets"}
    return {}


HANDLERS = {"BeforeToolUse": before_tool_use}

if __name__ == "__main__":
    sys.stdin.reconfigure(encoding="utf-8")
    sys.stdout.reconfigure(encoding="utf-8")
    payload = json.load(sys.stdin)
    answer = HANDLERS[payload["event"]](payload, payload["plugin_config"] or {})
    print(json.dumps(answer, ensure_ascii=False))
