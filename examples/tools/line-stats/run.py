#!/usr/bin/env python3
"""line-stats: how long the lines of a text are.

The call comes as JSON on stdin; stdout is the answer, and exit code 1 says that it is a failure.
"""

import json
import sys


def answer(content, exit_code):
    # Bytes, so that neither the locale nor the platform's line ends change them.
    sys.stdout.buffer.write(content.encode("utf-8"))
    sys.exit(exit_code)


def main():
    text = json.load(sys.stdin.buffer)["arguments"]["text"]
    if not text:
        answer("text is empty: give the text to measure", 1)
    lines = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
    lengths = [len(line) for line in lines]
    longest = max(lengths)
    answer(
        f"lines: {len(lines)}\n"
        f"blank: {sum(1 for line in lines if not line.strip())}\n"
        f"longest: {longest} characters, line {lengths.index(longest) + 1}\n"
        f"average: {sum(lengths) / len(lengths):.1f} characters",
        0,
    )


main()
