# SPDX-License-Identifier: Apache-2.0
"""Mutants as texts: what stands once in src/, and what stands there instead. They name no file and no line, so that they
move along with the code.

    K2 invariant-3: repeated and late frames are taken

    --- is
    text that stands exactly once below src/
    --- becomes
    text in its place
    --- is
    ...
"""
import re
from pathlib import Path

HERE = Path(__file__).resolve().parent
IS, BECOMES = "--- is\n", "--- becomes\n"


class Stale(Exception):
    """A text does not stand exactly once in the sources."""


def read(path):
    """(what it breaks, [(is, becomes)])"""
    head, *parts = Path(path).read_text().split(IS)
    changes = []
    for part in parts:
        if part.count(BECOMES) != 1:
            raise Stale(f"{Path(path).name}: each '--- is' has one '--- becomes'")
        before, after = part.split(BECOMES)
        changes.append((before.removesuffix("\n"), after.removesuffix("\n")))
    if not changes or not head.strip():
        raise Stale(f"{Path(path).name}: it says what it breaks, and changes something")
    return head.strip().split("\n")[0], changes


def sources(tree):
    return {path: path.read_text() for path in sorted(Path(tree, "src").rglob("*")) if path.suffix in (".cc", ".h")}


def changed(changes, texts):
    """{path: new text} of the sources that the changes touch."""
    edits = {}
    for before, after in changes:
        places = [(path, at) for path, text in texts.items() for at in [text.find(before)] if at >= 0]
        once = len(places) == 1 and texts[places[0][0]].count(before) == 1
        if not before.strip() or not once:
            count = sum(text.count(before) for text in texts.values()) if before.strip() else 0
            raise Stale(f"stands {count} times in src/, once is asked:\n{before}")
        path, at = places[0]
        edits.setdefault(path, []).append((at, before, after))
    results = {}
    for path, changes_here in edits.items():
        text = texts[path]
        for at, before, after in sorted(changes_here, reverse=True):
            text = text[:at] + after + text[at + len(before):]
        results[path] = text
    return results


def survivors():
    """{name: reason} of mutants that no seed can be relied on to notice."""
    known = {}
    for line in (HERE / "SURVIVORS").read_text().splitlines():
        if line and not line.startswith("#"):
            name, reason = line.split(":", 1)
            known[name] = reason.strip()
    return known


def claims(reason):
    """What such a reason says notices the mutant: ([(test, program)], [seed])

    A test is named Suite.Name, a seed `seed N`; the program is the one that is made of the test's source (tests_apart).
    """
    tests = [(test, program_of(test)) for test in re.findall(r"\b[A-Z]\w+\.[A-Z]\w+\b", reason)]
    seeds = [int(seed) for seed in re.findall(r"\bseed (\d+)\b", reason)]
    if not tests and not seeds:
        raise Stale(f"names neither a test nor a seed: {reason}")
    return tests, seeds


def program_of(test):
    definition = re.compile(r"\(\s*{},\s*{}\s*[,)]".format(*test.split(".")))
    for source in sorted((HERE.parent / "unit").glob("*.cc")):
        if definition.search(source.read_text()):
            return f"tests/{source.stem}"
    raise Stale(f"there is no test {test}")
