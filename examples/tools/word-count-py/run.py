#!/usr/bin/env python3
"""word-count as a script: the twin of the component in ../word-count, with the same answers.

The call comes as JSON on stdin; stdout is the answer, and exit code 1 says that it is a failure.
"""

import json
import re
import sys

# Unicode's White_Space. str.split() also splits at U+001C to U+001F.
WHITE_SPACE = re.compile("[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")


def counted(count, noun):
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def answer(content, exit_code):
    # Bytes, so that neither the locale nor the platform's line ends change them.
    sys.stdout.buffer.write(content.encode("utf-8"))
    sys.exit(exit_code)


def main():
    text = json.load(sys.stdin.buffer)["arguments"]["text"]
    if not text:
        answer("text is empty: give the text to measure", 1)
    words = sum(1 for word in WHITE_SPACE.split(text) if word)
    # A line ends at "\n"; str.splitlines() knows eight more ends.
    lines = text.count("\n") + (not text.endswith("\n"))
    answer(f"{counted(words, 'word')}, {counted(len(text), 'character')}, {counted(lines, 'line')}", 0)


main()
