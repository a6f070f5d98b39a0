#!/usr/bin/python3
"""printed_words_test.py [--all]: the programs print plain English.

Reads the string literals of the C++ sources and the texts of the alerts, and fails on each phrase that a pattern of
plain_words.py marks and its table does not excuse. `--all` prints every phrase instead, so that you can read them, or a
sample."""
import os
import sys

import literals
import plain_words

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDERS = ("core", "exporter", "remediator")
RULES = "alerts/gpuward.rules.yaml"
FEWEST_PHRASES = 2000  # fewer mean that the sources are not read any more
MOST_EXCUSED = 0.01


def sources():
    for folder in FOLDERS:
        for path, _, names in os.walk(os.path.join(ROOT, folder)):
            for name in names:
                if name.endswith((".cpp", ".h", ".inc")):
                    yield os.path.relpath(os.path.join(path, name), ROOT)


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def printed():
    """Returns (file, line, phrase) of all texts that users read, each phrase once."""
    seen = set()
    for path in [*sorted(sources()), RULES]:
        phrases = literals.phrases_of_rules if path == RULES else literals.phrases_of_cpp
        for line, phrase in phrases(read(path)):
            if phrase not in seen:
                seen.add(phrase)
                yield path, line, phrase


def self_test():
    """Tests that the extraction and the patterns work."""
    source = '''
#include "is no include.h"
// "a comment is no phrase"
auto text = "pod " + name_of(pod, 1) + " is gone";
auto two = f("the first argument here", "where the second one is");
auto side = "the two halves "
            "are one phrase";
auto raw = R"(nobody reads this)";  auto query = "sum(rate(up[5m])) by (a, b, c)"; char quote = '"';
'''
    found = list(literals.phrases_of_cpp(source))
    expected = [(4, "pod … is gone"), (5, "the first argument here"), (5, "where the second one is"),
                (6, "the two halves are one phrase"), (8, "nobody reads this")]
    assert found == expected, found
    rules = "    summary: One line here\n    description: >-\n      Two lines\n      of text\n    other: no\n"
    found = list(literals.phrases_of_rules(rules))
    assert found == [(1, "One line here"), (2, "Two lines of text")], found
    assert plain_words.marks("the node stays where it is not drained; nobody is told")
    assert not plain_words.marks("the node has no taint")


def main():
    if sys.argv[1:] == ["--all"]:
        for path, line, phrase in printed():
            print(f"{path}:{line}: {phrase}")
        return 0
    self_test()
    count, unused, excused, failed = 0, dict(plain_words.EXCUSED), 0, 0
    for path, line, phrase in printed():
        count += 1
        marks = plain_words.marks(phrase)
        excuses = [part for part in plain_words.EXCUSED if part in phrase]
        if not marks:
            continue
        if excuses:
            excused += 1
            for part in excuses:
                unused.pop(part, None)
            continue
        failed += 1
        print(f"{path}:{line}: {phrase}")
        for words, advice in marks:
            print(f"    '{words}': {advice}")
    for part in unused:
        print(f"plain_words.py: no phrase needs the excuse '{part}': remove it")
    if count < FEWEST_PHRASES:
        print(f"only {count} phrases were found, at least {FEWEST_PHRASES} are expected")
    if excused > MOST_EXCUSED * count:
        print(f"{excused} of {count} phrases are excused, at most {MOST_EXCUSED:.0%} may be")
    print(f"{count} phrases: {failed} marked, {excused} excused")
    return 1 if failed or unused or count < FEWEST_PHRASES or excused > MOST_EXCUSED * count else 0


if __name__ == "__main__":
    sys.exit(main())
