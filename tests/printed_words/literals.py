"""Extracts the texts that users read from the sources: string literals of C++, summaries and descriptions of alerts.

`phrases_of_cpp(text)` and `phrases_of_rules(text)` yield (line, phrase). Adjacent literals are one phrase; so are those
with values between them, `"gpu " + name + " is lost"`, which becomes "gpu … is lost"."""
import re

VALUE = "…"
TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
      | (?P<include>^[ ]*\#[ ]*include[^\n]*)
      | (?P<raw>\bR"(?P<fence>[^\s()\\]*)\((?P<body>.*?)\)(?P=fence)")
      | (?P<literal>"(?P<text>(?:[^"\\\n]|\\.)*)")
      | (?P<character>'(?:[^'\\\n]|\\.[^'\n]*)')""",
    re.VERBOSE | re.DOTALL | re.MULTILINE)
ESCAPE = re.compile(r"\\(.)")
# A value between two literals: `+ name +`, `<< name <<`, with calls in it, but no statement and no other argument.
BETWEEN = re.compile(r"\s*(?P<sign>\+|<<)(?P<value>[^;{}?]+?)(?P=sign)\s*(?:std::string\(|std::string_view\()?\s*")
WORD = re.compile(r"(?<![\w./-])[A-Za-z][a-z']*(?![\w/(=])")
# PromQL, JSON, XML, format strings of programs, regular expressions.
NOT_PROSE = re.compile(r'[{}<>|=]{2}|\b(?:sum|rate|max|count)\(|\\n\s*[{}]|":\s|</\w|\(\?|\[\^|\\[dswb][+*]|\.\*'
                       r'|^\s*[.#]?[\w-]+\s*\{')
FEWEST_WORDS = 3


def joint_of(between):
    """Returns the text between two literals of one phrase, nothing or a value; None if they belong to two phrases."""
    if not between.strip():
        return ""
    match = BETWEEN.fullmatch(between)
    if not match:
        return None
    depth = 0
    for character in match["value"]:
        depth += (character in "([") - (character in ")]")
        if depth < 0 or (depth == 0 and character == ","):
            return None
    return VALUE if depth == 0 else None


def is_prose(phrase):
    return len(WORD.findall(phrase)) >= FEWEST_WORDS and not NOT_PROSE.search(phrase)


def unescaped(text):
    return ESCAPE.sub(lambda match: {"n": "\n", "t": "\t"}.get(match[1], match[1]), text)


def phrases_of_cpp(text):
    phrase, line, between, end = "", 0, ";", 0
    for token in TOKEN.finditer(text):
        between += text[end:token.start()]
        end = token.end()
        body = unescaped(token["text"]) if token["literal"] else token["body"]
        if body is None:
            between += "" if token["comment"] else ";"
            continue
        joint = joint_of(between)
        if joint is None:
            if is_prose(phrase):
                yield line, " ".join(phrase.split())
            phrase, line = body, text.count("\n", 0, token.start()) + 1
        else:
            phrase += joint + body
        between = ""
    if is_prose(phrase):
        yield line, " ".join(phrase.split())


def phrases_of_rules(text):
    """Yields the texts of `summary:` and `description:` of alerts, on one line or in a block below."""
    lines = text.split("\n")
    number = 0
    while number < len(lines):
        match = re.match(r"^( *)(summary|description): *(.*)$", lines[number])
        first = number + 1
        number += 1
        if not match:
            continue
        parts = [match[3].strip(" >|-")]
        while number < len(lines) and (not lines[number].strip() or
                                       lines[number].startswith(match[1] + " ")):
            parts.append(lines[number].strip())
            number += 1
        yield first, " ".join(" ".join(parts).split()).strip('"')
