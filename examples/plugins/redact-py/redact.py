#!/usr/bin/env python3
"""Masks secrets in the answers of tools (AfterToolUse); README.md has the rules.

The payload comes as JSON on stdin; `data.output` of the answer takes the place of the tool's output.
"""

import json
import re
import sys

# Also what index.md says, for a configuration without `patterns`.
PATTERNS = [
    "sk-*", "ghp_*", "github_pat_*", "xoxb-*", "AKIA*", "Bearer *", "password=*", "api_key=*", "token=*",
]
MASK = "[redacted]"


def compiled(pattern):
    """A pattern as a regular expression whose group 1 is kept."""
    if not isinstance(pattern, str) or pattern in ("", "*"):
        sys.exit(f"a pattern must be a text of more than a star, found {json.dumps(pattern)}")
    start = "(?<![A-Za-z0-9])"
    if pattern.endswith("*"):
        return re.compile(start + "(" + re.escape(pattern[:-1]) + ")[A-Za-z0-9_./+=-]{6,}")
    return re.compile(start + "()" + re.escape(pattern))


def main():
    payload = json.load(sys.stdin.buffer)
    config = payload["plugin_config"] or {}
    output = payload["output"]
    for pattern in config.get("patterns", PATTERNS):
        output = compiled(pattern).sub(lambda found: found.group(1) + MASK, output)
    answer = {"data": {"output": output}} if output != payload["output"] else {}
    sys.stdout.buffer.write(json.dumps(answer, ensure_ascii=False).encode("utf-8"))


main()
