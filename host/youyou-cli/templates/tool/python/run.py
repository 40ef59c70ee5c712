#!/usr/bin/env python3
# One JSON document arrives on stdin: {"call_id":…,"tool_name":…,"arguments":{…}}.
# What is printed to stdout is the answer, stderr is the log, an exit status other than 0 reports failure.
import json
import sys


def greet(who="world"):
    if not who:
        raise ValueError("the parameter who is empty; name somebody")
    return f"Hello, {who}!"


if __name__ == "__main__":
    sys.stdin.reconfigure(encoding="utf-8")
    sys.stdout.reconfigure(encoding="utf-8")
    arguments = json.load(sys.stdin)["arguments"]
    print(f"called with {arguments}", file=sys.stderr)
    try:
        print(greet(**arguments))
    except ValueError as error:
        print(error)
        sys.exit(1)
