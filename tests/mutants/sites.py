# SPDX-License-Identifier: Apache-2.0
"""Places in C++ sources where one small thing can be changed: an operator, a constant, a statement left out. By lines and
patterns, not by a parser: what does not build is not a mutant."""
import hashlib
import re
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

# With spaces around: templates and references have none.
OPERATORS = {" + ": " - ", " - ": " + ", " < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ", " == ": " != ", " != ": " == ",
             " && ": " || ", " || ": " && ", " += ": " -= ", " -= ": " += ", " & ": " | ", " | ": " & ", " |= ": " &= ", " &= ": " |= ",
             " >> ": " << ", " << ": " >> ", " * ": " / ", " / ": " * "}
WORDS = {"std::min": "std::max", "std::max": "std::min", "true": "false", "false": "true"}
NUMBER = re.compile(r"(?<![\w.'])\d[\d']*(?=[^\w.']|$)")
WORD = re.compile("|".join(rf"\b{word}\b" for word in WORDS))
OPERATOR = re.compile("|".join(re.escape(operator) for operator in sorted(OPERATORS, key=len, reverse=True)))
INCREMENT = re.compile(r"\+\+|--")
# A statement on a line of its own that is no declaration: a call, an assignment, a count.
STATEMENT = re.compile(r"^\s+(?!return\b|break\b|continue\b|case\b|using\b|static\b|const\b|constexpr\b|auto\b|else\b|for\b|if\b|throw\b"
                       r"|public\b|friend\b)(?:[+-]{2})?[\w:.\->\[\]()*]+(?:\(.*\)| [-+|&]?= .*|[+-]{2})?;$")
JUMP = re.compile(r"^\s+(?:if \(.*\) )?(?:return|continue);$")
# Nothing here does anything when it runs, or it is there for people.
SKIPPED = re.compile(r"^\s*(#|//|static_assert|assert|template|using|namespace|friend|enum|\[\[)|^\s*constexpr char|\bcase\b.*:$")


@dataclass(frozen=True)
class Site:
    path: str  # from the root
    line: int  # from 1
    before: str
    after: str  # the whole line
    nth: int  # of those with the same name but for this

    @property
    def name(self):
        """Stays when lines move: of the file's name and the two texts."""
        first = hashlib.sha256("\n".join(self.texts).encode()).hexdigest()[:12]
        return first if self.nth == 1 else f"{first}-{self.nth}"

    @property
    def texts(self):
        return Path(self.path).name, self.before.strip(), self.after.strip()


def code_of(line):
    """How much of the line is code: up to a comment."""
    at = line.find("//")
    return line if at < 0 else line[:at]


def changes(line):
    code = code_of(line)
    rest = line[len(code):]
    if not code.strip() or SKIPPED.search(line) or '"' in code:
        return
    for pattern, other in ((OPERATOR, lambda text: OPERATORS[text]), (WORD, lambda text: WORDS[text]),
                           (INCREMENT, lambda text: "--" if text == "++" else "++"),
                           (NUMBER, lambda text: "1" if text == "0" else str(int(text.replace("'", "")) + 1))):
        for found in pattern.finditer(code):
            yield code[:found.start()] + other(found.group()) + code[found.end():] + rest
    if STATEMENT.match(code.rstrip()):
        yield code[:len(code) - len(code.lstrip())] + ";"
    if JUMP.match(code.rstrip()):
        yield re.sub(r"(return|continue);", ";", code) + rest


def sites_in(root, paths):
    """All of them, in the order of paths and lines."""
    seen = Counter()
    for path in paths:
        for number, line in enumerate(Path(root, path).read_text().split("\n"), 1):
            for after in changes(line):
                site = Site(str(path), number, line, after, 1)
                seen[site.texts] += 1
                yield replace(site, nth=seen[site.texts])


ROOMS = ("node", "link", "flow", "egress", "ingress", "routing")


def core_sources(root):
    """From the root."""
    return [path.relative_to(root) for room in ROOMS for path in sorted((root / "src" / room).rglob("*")) if path.suffix in (".cc", ".h")]


def equivalents(root):
    """{name of a site: why changing it changes nothing}"""
    lines = (root / "tests/mutants/EQUIVALENT").read_text().splitlines()
    return {name: reason.strip() for name, reason in (line.split(":", 1) for line in lines if line and not line.startswith("#"))}
