"""The commands that README.md, the pages of docs/ and the runbooks tell operators to type: the lines of their fenced
shell blocks. Used by commands_test.py and by the cases of the real cluster."""
import dataclasses
import pathlib
import re
import subprocess

TREE = pathlib.Path(__file__).resolve().parents[2]
SHELL = ("sh", "bash", "shell", "console")
ASSIGNMENT = re.compile(r"""(?:export )?[A-Z_]+=(?:"[^"]*"|'[^']*'|\$\(.*\)|[^\s$]*)""")
FENCE = re.compile(r"^(?P<indent> *)```(?P<kind>\w*) *(?P<label>[^\n`]*)\n(?P<text>.*?)^(?P=indent)```$", re.M | re.S)
# Below these headings the commands have their own case, which types them in the order of their page, and fails if it
# has no expectation for one: docs/migration.md (tests/cluster/cases/seeds.py) and docs/tutorial.md (tutorial.py).
OF_SEEDS = "Its commands"
OF_TUTORIAL = ("On a cluster on this machine", "5. Uninstall")


@dataclasses.dataclass(frozen=True)
class Block:
    page: str      # its path in the tree
    kind: str      # sh, text, promql, ...
    label: str     # the text after the language
    text: str
    number: int    # of its first line
    headings: tuple  # the headings above it, the outermost first


@dataclasses.dataclass(frozen=True)
class Command:
    line: str        # without its comment
    before: tuple    # the assignments above it in its block, which it may need
    place: str       # docs/page.md:12


def page_paths():
    found = [TREE / "README.md", *(TREE / "docs").rglob("*.md"), *(TREE / "alerts/runbooks").glob("*.md")]
    return sorted(str(path.relative_to(TREE)) for path in found)


def headings_above(text):
    """Returns the headings above the end of this text, the outermost first."""
    above = {}
    for line in re.sub(FENCE, "", text).splitlines():
        if found := re.match(r"(#+) (.*)", line):
            above = {level: name for level, name in above.items() if level < len(found[1])} | {len(found[1]): found[2]}
    return tuple(above.values())


def blocks_of(page):
    text = (TREE / page).read_text()
    return [Block(page, found["kind"], found["label"], re.sub(f"^{found['indent']}", "", found["text"], flags=re.M),
                  text.count("\n", 0, found.start()) + 2, headings_above(text[:found.start()]))
            for found in FENCE.finditer(text)]


def blocks():
    return [block for page in page_paths() for block in blocks_of(page)]


def is_whole(text):
    """Returns whether the text is a complete command; one that ends with a backslash, or within quotes, a loop or a
    here-document, is not."""
    if not re.search(r"""['"\\({]|<<|^(?:for|while|until|if|case)\b""", text):
        return True
    checked = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True, check=False)
    return checked.returncode == 0 and not checked.stderr and not text.rstrip().endswith("\\")


def without_comment(line):
    """Returns the line without its comment; a # within quotes begins none."""
    quote = ""
    for at, sign in enumerate(line):
        if sign in "'\"" and quote in ("", sign):
            quote = "" if quote else sign
        elif sign == "#" and not quote and (at == 0 or line[at - 1] in " \t"):
            return line[:at].rstrip()
    return line.rstrip()


def commands_in(block):
    """Returns the commands of a block. A command in the background and all that follows it in its block are one
    command."""
    found, before, text, start = [], [], "", 0
    for offset, line in enumerate(block.text.splitlines()):
        start = start if text else offset
        line = line if text.endswith("\\") else without_comment(line)
        text = f"{text}\n{line}" if text else line
        if not text or not is_whole(text) or re.search(r"[^&]&$", text, re.M):
            continue
        if ASSIGNMENT.fullmatch(text):
            before.append(text)
        else:
            found.append(Command(text, tuple(before), f"{block.page}:{block.number + start}"))
        text = ""
    if text:
        found.append(Command(text, tuple(before), f"{block.page}:{block.number + start}"))
    return found


def is_told(block):
    return not {OF_SEEDS, *OF_TUTORIAL}.isdisjoint(block.headings)


def commands():
    """Returns the commands of all pages, each line once, without those that have their own case, and without blocks
    with a label (`sh kind`)."""
    once = {}
    for block in blocks():
        for command in commands_in(block) if block.kind in SHELL and not block.label and not is_told(block) else ():
            once.setdefault(command.line, command)
    return list(once.values())
