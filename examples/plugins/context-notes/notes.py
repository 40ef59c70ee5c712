#!/usr/bin/env python3
"""Adds files of the workspace to the system prompt of each turn (TurnStart).

The payload comes as JSON on stdin; `data.dynamic_sections` of the answer is appended to the system prompt of this turn.
A script runs in the session's directory, so relative paths are the workspace's.
"""

import json
import sys

# A section may hold 32 KiB; the host cuts a longer one.
MOST_BYTES = 32 * 1024


def section(path):
    try:
        with open(path, "rb") as file:
            content = file.read(MOST_BYTES).decode("utf-8", "replace").strip()
    except FileNotFoundError:
        return None  # A project without notes is fine.
    except OSError as error:
        print(f"{path}: {error.strerror}", file=sys.stderr)
        return None
    return {"title": f"Notes ({path})", "content": content} if content else None


def main():
    payload = json.load(sys.stdin.buffer)
    config = payload["plugin_config"] or {}
    found = [section(path) for path in config.get("files", ["NOTES.md"])]
    sections = [section for section in found if section]
    answer = {"data": {"dynamic_sections": sections}} if sections else {}
    sys.stdout.buffer.write(json.dumps(answer, ensure_ascii=False).encode("utf-8"))


main()
