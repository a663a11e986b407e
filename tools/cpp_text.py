# SPDX-License-Identifier: Apache-2.0
"""C++ as far as tools/check reads it: as text, without a parser."""
import re


def end_of_block(text, begin):
    """Behind the brace that closes the one before `begin`."""
    depth, end = 1, begin
    while depth > 0 and end < len(text):
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        end += 1
    return end


def without_blocks(text):
    """What stands in no braces of its own: what is called within a body is not declared by that."""
    bare, at = "", 0
    while (begin := text.find("{", at)) >= 0:
        bare += text[at:begin + 1]
        at = end_of_block(text, begin + 1)
    return bare + text[at:]


def declares(header, parts):
    """Does this text say the last of these names in the body of the classes or namespaces before it?"""
    *outer, name = parts
    if not outer:
        return re.search(rf"(?<!return )(?<![\w.>]){re.escape(name)}\s*[(;={{,\[]", without_blocks(header)) is not None
    scope = rf"\b(?:class|struct|union|namespace)\s+(?:[\w:]+(?:\([^)]*\))?\s+)*{outer[0]}\b[^;(){{}}]*{{"
    return any(declares(header[found.end():end_of_block(header, found.end()) - 1], parts[1:]) for found in re.finditer(scope, header))


def functions(text):
    """(first line, last line) of every function that is in no other one, however it is wrapped."""
    bare = re.sub(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*',
                  lambda found: re.sub(r"[^\n]", " ", found.group()), text, flags=re.S | re.M)
    line, head, head_line, open_blocks = 1, "", None, []
    for character in bare:
        if character == "{":
            scope = re.match(r"\s*((typedef|inline|static|constexpr|template\s*<[^{]*>)\s+)*(namespace|struct|class|union|enum|extern)\b", head) \
                and not re.search(r"\)[\w\s]*$", head)
            outside = all(kind == "scope" for kind, _ in open_blocks)
            within = open_blocks and open_blocks[-1][0] == "within" or outside and not scope and goes_on(head)
            kind = "within" if within else "scope" if scope else "function" if outside and "(" in head else "block"
            open_blocks.append((kind, head_line or line))
        elif character == "}" and open_blocks:
            kind, begun = open_blocks.pop()
            if kind == "function":
                yield begun, line
            if kind == "within":
                head += "()"
                continue
        if open_blocks and open_blocks[-1][0] == "within":
            pass
        elif character in "{};" or character == ":" and re.search(r"\b(public|private|protected)\s*$", head):
            head, head_line = "", None
        else:
            if head_line is None and not character.isspace():
                head_line = line
            head += character
        line += character == "\n"


def goes_on(head):
    """Does a brace behind it belong to a function's head still: among arguments, or what a member begins with?"""
    member = re.search(r"\)\s*(noexcept\s*)?(?<!:):(?!:)(.*,)?\s*[\w:]+(<[^{}]*>)?\s*$", head, re.S)
    return member or head.count("(") > head.count(")")
