"""What a message consists of: the prose that asks, and the code, logs, tables and quotations pasted with it.

Only prose is searched for words, so that a pasted stack trace or contract cannot speak for the user. The work is
bounded: of a message longer than ``2 * READ_CHARACTERS`` only its beginning and its end are read.
"""

import re
from collections.abc import Iterator

import attrs

READ_CHARACTERS = 16_384
"""Characters read from each end of a message; everything that is counted is saturated long before."""
ASK_CHARACTERS = 3_000
"""Characters of prose searched for words at each end: a question stands before or after what is pasted."""
_LINE_CHARACTERS = 400

_FENCE = re.compile(r"\s{0,3}(```|~~~)`*~*\s*(\w*)")
_INLINE_CODE = re.compile(r"`[^`\n]+`")
_ADDRESS = re.compile(r"(?<![!-~])(?:[!-.0-~]*/[!-.0-~]*/[!-~]*|[!-?A-~]+@[!-~]+)")
_PLAIN_FENCES = frozenset({"log", "logs", "text", "txt", "console", "output", "csv", "tsv"})
_LIST_ITEM = re.compile(r"\s*(?:[-*\u2022\u2013\u2014]|\(?\d{1,2}[.)\u3001])\s*\S")
_BULLET = re.compile(r"\s*[-*\u2022\u2013\u2014]\s")
_LOG = re.compile(
    r"\s*\[?\d{4}[-/.]\d\d[-/.]\d\d[T ]\d\d:\d\d"
    r"|\s*\[?\d\d:\d\d:\d\d"
    r"|\s*<?\d*>?[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d"
    r"|\s*\[?(?-i:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|PANIC)\b[\]: |]"
    r"|\s*\d{1,3}(?:\.\d{1,3}){3} \S+ \S+ \["
    r"|\s+at [\w$.<>]+\("
    r"|Traceback \(most recent call last\)"
    r'|\s+File "[^"]+", line \d+'
    r"|\s*(?:Caused by: )?(?:[\w$]+\.)*\w*(?:Exception|Error)(?:$|:)"
    r"|\s*npm (?:ERR!|error|WARN)"
    r"|\s*goroutine \d+ \["
    r"|\s*(?:time|level)=\S+ ",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"\s*(?:def|class|import|from|return|const|let|var|function|func|fn|public|private|protected|static|package|using"
    r"|namespace|struct|enum|interface|if|for|while|else|elif|try|except|catch|raise|throw|print|echo|export|async|await"
    r"|type|impl|use|pub|match|switch|case)\b[^\n]*[=(){};<>]\s*$"
    r"|\s*(?:async )?(?:def|func|fn|function) \w+\s*\("
    r"|\s*class \w+(?:\([\w., ]*\))?:\s*$"
    r"|\s*for \w+(?:, ?\w+)* in [^\n]*:\s*$"
    r"|\s*(?:if|elif|while) [^\n]*[=<>(.\[][^\n]*:\s*$"
    r"|\s*(?:else|try|finally):\s*$"
    r"|\s*(?:import [\w.]+(?: as \w+)?|from [\w.]+ import [\w*, ]+)\s*$"
    r"|\s*(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE (?:TABLE|INDEX|VIEW)|ALTER TABLE|FROM|WHERE|JOIN|LEFT JOIN"
    r"|INNER JOIN|GROUP BY|ORDER BY|HAVING|LIMIT)\b"
    r"|\s*#include\s*[<\"]"
    r"|\s*@\w+(?:\(|\s*$)"
    r"|\s*(?://|/\*|\*/)"
    r"|\s*</?[a-zA-Z][\w-]*(?:\s[^>]*)?/?>"
    r'|\s*"[\w.-]+"\s*:\s*\S'
    r"|\s*[{}()\[\]]+[;,)]*\s*$"
    r"|\s*\$ \w"
    r"|\s*apiVersion: \w"
)
# Too weak alone (a line of algebra is an assignment, too); enough right after a line of code.
_CODE_CONTINUED = re.compile(r"\s*[\w.\[\]]+\s*[-+*/|:]?=\s*\S|\s*[\w-]+:(?:\s*$| \S)|\s*#|\s+\S|\s*[\w.]+\(")


@attrs.frozen(slots=True, kw_only=True)
class Segments:
    """One message taken apart. Counts are numbers of lines; ``prose`` keeps its line breaks and its case."""

    prose: str
    code_lines: int = 0
    log_lines: int = 0
    table_rows: int = 0
    quoted_lines: int = 0
    list_items: int = 0

    @property
    def ask(self) -> str:
        """The part of the prose that is searched: its beginning and its end, without URLs, paths and addresses."""
        ask = self.prose
        if len(ask) > 2 * ASK_CHARACTERS:
            ask = "\n".join(_both_ends(ask, ASK_CHARACTERS))
        return _ADDRESS.sub(" ", ask) if "/" in ask or "@" in ask else ask


def split(message: str) -> Segments:
    """Take a message apart, line by line; linear in what is read, bounded for a message of any length."""
    prose: list[str] = []
    counts = {"code": 0, "log": 0, "table": 0, "quote": 0}
    list_items = 0
    for kind, line in _classified(message):
        if kind == "prose":
            line, spans = _INLINE_CODE.subn(" ", line)
            counts["code"] += spans
            list_items += _LIST_ITEM.match(line) is not None
            prose.append(line)
        elif kind != "fence":
            counts[kind] += 1
    return Segments(
        prose="\n".join(prose),
        code_lines=counts["code"],
        log_lines=counts["log"],
        table_rows=counts["table"],
        quoted_lines=counts["quote"],
        list_items=list_items,
    )


def _classified(message: str) -> Iterator[tuple[str, str]]:
    """Yield (kind, line) with kind one of prose, code, log, table, quote, fence."""
    if len(message) <= 2 * READ_CHARACTERS:
        parts, odd_fences = [message], False
    else:
        parts = list(_both_ends(message, READ_CHARACTERS))
        odd_fences = message[len(parts[0]) : -len(parts[1])].count("\n```") % 2 == 1
    fence, info = "", ""
    previous = "prose"
    for number, part in enumerate(parts):
        if number == 1 and odd_fences:  # the middle that is not read opens or closes a fence
            fence, info = ("", "") if fence else ("```", "")
        before = ""
        lines = part.split("\n")
        for line, after in zip(lines, [*lines[1:], ""], strict=True):
            opened = _FENCE.match(line) if "```" in line or "~~~" in line else None
            if opened is not None and (not fence or opened[1] == fence) and line.count(opened[1]) == 1:
                fence, info = ("", "") if fence else (opened[1], opened[2].lower())
                yield "fence", line
                continue
            kind = _fenced_kind(line, info) if fence else _kind(line, previous, before, after)
            if line.strip():
                previous = kind
            before = line
            yield kind, line


def _both_ends(text: str, size: int) -> tuple[str, str]:
    """Return the beginning and the end of a longer text, cut between lines or, in long lines, between words.

    A piece of a word must not be taken for a word, nor the rest of a log line for a sentence.
    """
    head, tail = text[:size], text[-size:]
    for separator in ("\n", " "):
        kept, found, rest = head.rpartition(separator)
        if found and len(rest) < _LINE_CHARACTERS:
            head = kept
            break
    for separator in ("\n", " "):
        rest, found, kept = tail.partition(separator)
        if found and len(rest) < _LINE_CHARACTERS:
            tail = kept
            break
    return head, tail


def _fenced_kind(line: str, info: str) -> str:
    if _LOG.match(line, 0, _LINE_CHARACTERS) or info in _PLAIN_FENCES:
        return "log"
    return "table" if not info and _is_piped(line) else "code"


def _kind(line: str, previous: str, before: str, after: str) -> str:
    stripped = line.strip()
    if not stripped:
        return "prose"
    if stripped[0] == ">":
        return "quote"
    if _LOG.match(line, 0, _LINE_CHARACTERS) or (previous == "log" and line.startswith("    ")):
        return "log"
    if _is_piped(line) or (_is_delimited(line) and (_is_delimited(before) or _is_delimited(after))):
        return "table"
    if _is_code(line[:_LINE_CHARACTERS], previous):
        return "code"
    return "prose"


def _is_piped(line: str) -> bool:
    if line.count("|") >= 2 and (line.lstrip()[0] == "|" or line.count(" | ") >= 2):
        return True
    return line.count("\t") >= 2 and not line.startswith("\t")


def _is_delimited(line: str) -> bool:
    """Say whether a line looks like a CSV row; one alone may be a list of numbers in a sentence."""
    return any(line.count(mark) >= 2 and f"{mark} " not in line for mark in ",;")


def _is_code(line: str, previous: str) -> bool:
    after_code = previous == "code"
    if after_code and line.startswith(("    ", "\t")):
        return True
    # Comments aside, unquoted code is ASCII; sentences of most other languages are not.
    if not line.isascii() and not line.lstrip().startswith(("//", "/*", "#")):
        return False
    if _BULLET.match(line):
        return False
    statement = line.rstrip()
    if statement.endswith(";") and any(mark in statement for mark in "=()[]{}<>+"):
        return True
    return _CODE.match(line) is not None or (after_code and _CODE_CONTINUED.match(line) is not None)
