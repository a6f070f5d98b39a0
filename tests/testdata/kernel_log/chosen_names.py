#!/usr/bin/env python3
"""Lists the kernel's log messages that print a name which a process chooses.

Reads kernel source archives (linux-source-*.deb of Debian and Ubuntu, linux-*.tar.xz) and writes
one line for each message: the versions that have it, a tab, and the message, with what pr_fmt puts
before it. {comm} is where a process's name is printed (at most 15 bytes), {file} that of a file (at
most 255), the source of a mount, or the value of an option of it; any other conversion became a
digit or a letter. Names of options are left out: those that a message begins with are the file
system's own.

    tests/testdata/kernel_log/chosen_names.py ARCHIVE... > tests/testdata/kernel_log/chosen_names.txt
"""
import io
import re
import subprocess
import sys
import tarfile

# Not on machines that have GPUs of a data centre; and aufs, whose Makefile defines pr_fmt.
LEFT_OUT = re.compile(r"/(arch/(?!x86/|arm64/)[^/]+|Documentation|tools|samples|scripts|drivers/(staging|media|usb|input)|sound|fs/aufs|ubuntu/aufs)/")
CALL = re.compile(r"\b((?:v?printk\w*|_printk|pr_\w+|dev_\w+|pci_\w+|netdev_\w+|net_\w+_ratelimited|drm_\w+|DRM_\w+|"
                  r"WARN\w*|panic|ext4_\w+|xfs_\w+|btrfs_\w+|audit_log\w*|die|oops|\w*[Pp]rintk\w*|nfs\w*|fs_\w+|(?:error|warn|info|inval)fc?|\w*_warn\w*|\w*_err\w*|\w*_info\w*|\w*_notice\w*))\s*\(")
CHOSEN = re.compile(r"->comm\b|\bcomm\b|%p[Dd]\d?|->d_name\.name|bprm->filename|bprm->interp|->d_iname|"
                    r"\bfc->source\b|->mnt_devname\b|\bparam->string\b")
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
PR_FMT = re.compile(r"#\s*define\s+pr_fmt\(\w+\)\s+(.*)")
NOT_A_LOG = re.compile(r"^(pr_fmt|panic_on\w*|die_\w+|audit_log_(?!error)\w*|\w*seq_printf|pci_(read|write)\w*|drm_(mode|syncobj|gem|sched_job)_\w*)$")


def arguments(text, start):
    """The text between the parentheses of a call, or None."""
    depth, i, quoted = 1, start, False
    while i < len(text) and i < start + 3000:
        c = text[i]
        if quoted:
            if c == "\\":
                i += 1
            elif c == '"':
                quoted = False
        elif c == '"':
            quoted = True
        elif c == "(":
            depth += 1
        elif c == ")":
            depth -= 1
            if depth == 0:
                return text[start:i]
        i += 1
    return None


def prefix_of(text, path):
    found = PR_FMT.search(text)
    if not found:
        return ""
    words = found.group(1).replace("KBUILD_MODNAME", '"%s"' % path.rsplit("/", 1)[-1][:-2].replace("-", "_"))
    return "".join(STRING.findall(words))


def literal_format(args):
    """Of the first string of the call: literals that follow each other are one."""
    found = STRING.search(args)
    if not found:
        return None
    text, at = found.group(1), found.end()
    while True:
        more = re.compile(r'\s*(?:KERN_\w+\s*)?"((?:[^"\\]|\\.)*)"').match(args, at)
        if not more:
            return text, args[at:]
        text += more.group(1)
        at = more.end()


# print_vma_addr() is called with the text that goes on in its line.
KNOWN = {"prefix": " in "}
CONVERSION = re.compile(r"%(?:%|[-+ #0']*(\*|\d+)?(?:\.(\*|\d+))?(?:hh|h|ll|l|z|t|j|L)?([diouxXcsp])([A-Za-z]*\d?))")


def split_arguments(text):
    parts, depth, quoted, start = [], 0, False, 0
    for i, c in enumerate(text):
        if c == '"' and text[i - 1] != "\\":
            quoted = not quoted
        elif not quoted and c in "([{":
            depth += 1
        elif not quoted and c in ")]}":
            depth -= 1
        elif not quoted and c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return parts + [text[start:].strip()]


def message_of(form, rest):
    """The format with a mark for each chosen name; None if it has none."""
    values = split_arguments(rest)[1:]
    has_name = False

    def fill(match):
        nonlocal has_name
        if match.group(0) == "%%":
            return "%"
        for star in (match.group(1), match.group(2)):
            if star == "*" and values:
                values.pop(0)
        value = values.pop(0) if values else ""
        kind, extension = match.group(3), match.group(4)
        # Letters behind %d or %s are text; behind %p they say what is printed.
        text = "" if kind == "p" else extension
        if kind == "p" and extension[:1] in ("D", "d"):
            has_name = True
            more = extension[1:].lstrip("234")
            return "{file}" + more
        if kind == "s" and CHOSEN.search(value):
            has_name = True
            return ("{comm}" if re.search(r"\bcomm\b", value) else "{file}") + text
        if kind == "p" and extension[:1] not in ("x", "G", "V", "I", "S", "s", "B", "K", "U", "M", "a", "f", "b", "e", "h"):
            text = extension
        return KNOWN.get(value, "x" if kind in "sc" else "1") + text

    message = CONVERSION.sub(fill, form)
    return message if has_name else None


INCLUDED = re.compile(r'#\s*include\s+"([^"/]+)"')


def formats_of(text, path):
    """Pairs of the headers of its folder that may define its pr_fmt, and the message."""
    prefix = prefix_of(text, path)
    own = [] if PR_FMT.search(text) else [path.rsplit("/", 1)[0] + "/" + name for name in INCLUDED.findall(text)]
    for call in CALL.finditer(text):
        name = call.group(1)
        if NOT_A_LOG.match(name):
            continue
        args = arguments(text, call.end())
        if args is None or not CHOSEN.search(args):
            continue
        split = literal_format(args)
        if not split:
            continue
        form, rest = split
        first = (split_arguments(rest) + ["", ""])[1]
        if form.startswith("%s") and re.search(r"KERN_|level|lvl", first):  # the level, which is no text
            form = form[2:]
            rest = "," + ",".join(split_arguments(rest)[2:])
        message = message_of(form, rest)
        if message:
            by_pr = name.startswith("pr_")
            yield (own if by_pr else []), (prefix if by_pr else "") + message


def members(archive):
    if archive.endswith(".deb"):
        listing = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", archive], stdout=subprocess.PIPE)
        with tarfile.open(fileobj=listing.stdout, mode="r|") as outer:
            for member in outer:
                if re.search(r"linux-source-[^/]*\.tar\.(xz|bz2|zst|gz)$", member.name) and member.isfile():
                    stream = outer.extractfile(member)
                    yield from sources(stream, member.name.rsplit(".", 1)[-1])
                    break
        listing.kill()
        return
    with open(archive, "rb") as stream:
        yield from sources(stream, archive.rsplit(".", 1)[-1])


def sources(stream, kind):
    with tarfile.open(fileobj=stream, mode="r|" + kind) as tar:
        for member in tar:
            if member.isfile() and member.name.endswith((".c", ".h")) and not LEFT_OUT.search("/" + member.name):
                yield member.name, tar.extractfile(member).read().decode("utf-8", "replace")


def main():
    found = {}
    for archive in sys.argv[1:]:
        version = re.search(r"(\d+\.\d+)", archive.rsplit("/", 1)[-1]).group(1)
        messages, prefixes = [], {}
        for path, text in members(archive):
            if path.endswith(".h") and PR_FMT.search(text):
                prefixes[path] = prefix_of(text, path)
            if CHOSEN.search(text):
                messages += formats_of(text, path)
        for headers, form in messages:
            before = [prefixes[header] for header in headers if header in prefixes]
            form = (before[0] if before else "") + re.sub(r"\\n$", "", form)
            found.setdefault(form, set()).add(version)
    for form, versions in sorted(found.items()):
        form = form.replace("\\n", "\\x0a").replace('\\"', '"')
        print(",".join(sorted(versions, key=lambda v: [int(n) for n in v.split(".")])) + "\t" + form)


if __name__ == "__main__":
    main()
