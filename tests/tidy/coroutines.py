"""Finds statements whose co_await shares a full expression with a temporary that GCC 12 miscompiles.

This is a tokenizer and a brace classifier, not a parser: it knows which `{` opens a block, which a lambda's body and which
an initialiser, and takes everything between two statement boundaries as one statement.
"""

import re
from dataclasses import dataclass

TOKEN = re.compile(
    r"""
    (?P<skip>\s+|//[^\n]*|/\*.*?\*/)
  | (?P<raw>(?:u8|[uUL])?R"(?P<delimiter>[^()\\\s]{0,16})\((?:.*?)\)(?P=delimiter)")
  | (?P<string>(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*")
  | (?P<number>\.?\d(?:[\w.]|'(?=\w)|[eEpP][+-])*)
  | (?P<char>(?:u8|[uUL])?'(?:[^'\\\n]|\\.)+')
  | (?P<word>[A-Za-z_]\w*)
  | (?P<punctuation>->\*?|::|&&|\|\||<<=?|[-+*/%&|^!=<>]=|\+\+|--|\.\.\.|.)
    """,
    re.VERBOSE | re.DOTALL,
)

PARTNER = {")": "(", "]": "[", "}": "{"}
TYPE_HEADS = {"class", "struct", "union", "enum", "namespace"}
BLOCK_BEFORE = {")", ";", "else", "do", "try", "const", "noexcept", "override", "final", "mutable", "constexpr", "extern"}


@dataclass
class Token:
    text: str
    kind: str
    line: int
    match: int = -1  # the partner of a bracket
    brace: str = ""  # of a "{": block, lambda or initialiser


@dataclass
class Finding:
    line: int
    what: str


def tokens_of(source):
    """The tokens of a file without comments and preprocessor lines; brackets know their partners."""
    source = re.sub(r"^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", lambda found: "\n" * found[0].count("\n"), source, flags=re.MULTILINE)
    tokens, line, position = [], 1, 0
    while position < len(source):
        found = TOKEN.match(source, position)
        if found.lastgroup != "skip":
            kind = "string" if found.group("raw") else found.lastgroup
            tokens.append(Token(found[0], kind, line))
        line += found[0].count("\n")
        position = found.end()
    stack = []
    for index, token in enumerate(tokens):
        if token.kind != "punctuation":
            continue
        if token.text in "([{":
            stack.append(index)
        elif token.text in PARTNER:
            while stack and tokens[stack[-1]].text != PARTNER[token.text]:
                stack.pop()
            if stack:
                token.match = stack.pop()
                tokens[token.match].match = index
    for index, token in enumerate(tokens):
        if token.text == "{" and token.kind == "punctuation":
            token.brace = classify(tokens, index)
    return tokens


def is_lambda_intro(tokens, index):
    """Whether the "[" at index begins a lambda (and neither subscripts nor begins an attribute)."""
    token = tokens[index]
    if token.text != "[" or token.match < 0 or index + 1 >= len(tokens):
        return False
    if tokens[index + 1].text == "[" or (index and tokens[index - 1].text == "["):
        return False
    before = tokens[index - 1] if index else None
    if before is None:
        return True
    if before.kind in ("word", "number", "string"):
        return before.text in ("return", "co_return", "co_await", "co_yield", "throw")
    if before.text in ("]", ")"):
        # `[[nodiscard]] [x]` does not occur; `if (x) [y] {...}` neither.
        return False
    after = token.match + 1
    # A structured binding `auto& [a, b] = …`: the intro of a lambda is followed by its parameters or body.
    return after < len(tokens) and tokens[after].text in ("(", "{", "<", "mutable", "noexcept", "->")


def lambda_of_body(tokens, index):
    """The index of the "[" of the lambda whose body opens at index, or -1."""
    position = index - 1
    # Step back over a trailing return type and specifiers to the parameter list or the intro.
    while position >= 0:
        text = tokens[position].text
        if text == "]":
            return tokens[position].match if is_lambda_intro(tokens, tokens[position].match) else -1
        if text == ")":
            opening = tokens[position].match
            before = opening - 1
            if before >= 0 and tokens[before].text == "]" and is_lambda_intro(tokens, tokens[before].match):
                return tokens[before].match
            if before >= 0 and tokens[before].text in ("noexcept", "decltype"):
                position = before - 1
                continue
            if before >= 0 and tokens[before].text == ">":  # template parameters of a generic lambda
                depth, back = 0, before
                while back >= 0:
                    depth += {">": 1, "<": -1}.get(tokens[back].text, 0)
                    if depth == 0:
                        break
                    back -= 1
                if back > 0 and tokens[back - 1].text == "]" and is_lambda_intro(tokens, tokens[back - 1].match):
                    return tokens[back - 1].match
            return -1
        if text in (";", "{", "}", "(", "=", "return") or tokens[position].kind == "string":
            return -1
        position -= 1
    return -1


def classify(tokens, index):
    if lambda_of_body(tokens, index) >= 0:
        return "lambda"
    if index == 0:
        return "block"
    before = tokens[index - 1]
    if before.text in BLOCK_BEFORE:
        return "block"
    if before.text == "{":
        return before.brace if before.brace == "initialiser" else "block"
    if before.text == "}":
        # After a member initialiser `a_{x} {` or a block.
        return "block"
    if before.text in ("=", "(", ",", "return", "co_return", "[", "?", "co_await", "co_yield"):
        return "initialiser"
    if before.kind == "string":  # extern "C" {
        return "block" if index > 1 and tokens[index - 2].text == "extern" else "initialiser"
    if before.text == "]":
        return "block" if before.match > 0 and tokens[before.match + 1].text == "[" else "initialiser"
    # Read the statement's head: a type, a namespace, or a trailing return type.
    position = index - 1
    while position >= 0:
        token = tokens[position]
        if token.match >= 0 and token.text in PARTNER and token.text != "}":
            position = token.match - 1
            continue
        if token.text == "->" and tokens[position - 1].text in (")", "const", "noexcept", "mutable"):
            return "block"
        if token.text in (";", "{", "}", "(", "="):
            break
        if token.text == ":" and token.kind == "punctuation" and before is token:
            return "block"  # case x: {
        if token.text in TYPE_HEADS:
            return "block"
        position -= 1
    return "initialiser"


def statement_of(tokens, index):
    """Tokens' indices [first, last] of the statement that holds the token at index, lambda bodies included."""
    first = index
    while first > 0:
        token = tokens[first - 1]
        if token.text == ";" and token.kind == "punctuation":
            break
        if token.text == "{" and token.brace in ("block", "lambda"):
            break
        if token.text in PARTNER and token.kind == "punctuation" and token.match >= 0:
            if token.text == "}" and tokens[token.match].brace == "block":
                break
            first = token.match
            continue
        first -= 1
    last = index
    while last + 1 < len(tokens):
        token = tokens[last + 1]
        if token.text == ";" and token.kind == "punctuation":
            break
        if token.text == "{" and token.brace == "block":
            break
        if token.text == "}" and token.kind == "punctuation" and tokens[token.match].brace in ("block", "lambda"):
            break
        if token.text in "([{" and token.kind == "punctuation" and token.match >= 0:
            last = token.match
            continue
        last += 1
    return first, last


def findings_of(source, awaiting=frozenset({"co_await"})):
    """What is wrong in a source text. `awaiting` names co_await and the macros that hide one."""
    tokens = tokens_of(source)
    seen, findings = set(), []
    for index, token in enumerate(tokens):
        if token.kind != "word" or token.text not in awaiting:
            continue
        first, last = statement_of(tokens, index)
        if (first, last) in seen:
            continue
        seen.add((first, last))
        position = first
        while position <= last:
            found = tokens[position]
            if found.kind == "punctuation":
                if found.text == "{" and found.brace == "lambda":
                    # Its statements are its own; the closure object belongs to ours.
                    if first <= index <= last and not position < index < found.match:
                        intro = lambda_of_body(tokens, position)
                        if tokens[intro].match > intro + 1 and intro >= first:
                            findings.append(Finding(tokens[intro].line, "capturing lambda"))
                        position = found.match + 1
                        continue
                elif found.text == "{" and found.brace == "initialiser":
                    findings.append(Finding(found.line, "brace initialiser"))
                elif found.text == "?":
                    findings.append(Finding(found.line, "?:"))
            position += 1
    return findings


def awaiting_macros(sources):
    """The names that stand for a co_await: the keyword, and each macro whose definition holds one."""
    names = {"co_await"}
    for source in sources:
        for found in re.finditer(r"^[ \t]*#[ \t]*define[ \t]+(\w+)((?:[^\n\\]|\\\n|\\.)*)", source, re.MULTILINE):
            if "co_await" in found[2]:
                names.add(found[1])
    return frozenset(names)
