"""An audit as text for a terminal and as Markdown."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

from belief_utils.reporting import layout
from belief_utils.reporting.audit_findings import QUESTIONS, Finding, Section, sections
from belief_utils.reporting.audit_problems import problems
from belief_utils.reporting.audit_words import ABOUT, HOW_TO_READ, answers, citation, facts, p_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from belief_utils.reporting.audit import Audit

WIDTH = 88
NOTHING_MISSING = "Nothing."
#: The titles of an audit's parts, and of the columns of its figures.
VERDICT, MISSING, READ, CITE = (
    "Verdict",
    "What was missing, degenerate or simplified",
    "How to read this",
    "How to cite this",
)
HEADINGS = ("Figure", "Value", "Interval or bounds", "p value", "Use")

_LONGEST_NAME = 28


def one_line(text: str) -> str:
    """Text of somebody else's, such as an action's name, on one line and without control characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def cells(finding: Finding) -> tuple[str, str, str]:
    """A figure's value, interval or bounds, and p value, as texts."""
    return (
        layout.number(finding.value, finding.decimals),
        layout.interval(finding.low, finding.high, finding.decimals),
        layout.p_value(finding.p),
    )


def to_text(audit: Audit) -> str:
    """The audit for a terminal: see :meth:`belief_utils.reporting.audit.Audit.to_text`."""
    told = answers(audit)
    lines = [one_line(audit.title), "=" * min(len(one_line(audit.title)), WIDTH), *_wrapped(facts(audit)), ""]
    lines += _heading(VERDICT)
    for test, question in QUESTIONS.items():
        lines += [*_wrapped(f"{question} {told[test].short}"), *_wrapped(told[test].sentence, 2), ""]
    for section in sections(audit):
        lines += _section_lines(section)
    lines += [*_heading(MISSING), *_listed(problems(audit) or [NOTHING_MISSING]), ""]
    lines += [*_heading(READ), *_wrapped(ABOUT), *_listed(HOW_TO_READ), ""]
    lines += [*_heading(CITE), *_listed(citation())]
    # Not every terminal has the dashes that tables are set with.
    return "\n".join(lines).translate({0x2212: "-", 0x2013: "-"}) + "\n"


def _heading(text: str) -> list[str]:
    return [*_wrapped(text), "-" * len(text)]


def _wrapped(text: str, indent: int = 0) -> list[str]:
    space = " " * indent
    return textwrap.wrap(one_line(text), WIDTH, initial_indent=space, subsequent_indent=space)


def _listed(texts: Sequence[str]) -> list[str]:
    return [
        line
        for text in texts
        for line in textwrap.wrap(one_line(text), WIDTH, initial_indent="- ", subsequent_indent="  ")
    ]


def _section_lines(section: Section) -> list[str]:
    lines = _heading(section.question)
    if section.instead:
        return [*lines, *_wrapped(f"Cannot be told: {section.instead}."), ""]
    for finding in section.findings:
        value, interval, p = cells(finding)
        parts = [value, interval if interval != "–" else "", p_text(finding.p) if p != "–" else ""]
        figure = f"{finding.label}: {'  '.join(part for part in parts if part)}  ({finding.role})"
        lines += textwrap.wrap(figure, WIDTH, subsequent_indent="    ")
        lines += _wrapped(finding.sentence, 4)
    if section.rows:
        lines += ["", "Share of each action by belief", *_aligned([section.headings, *section.rows])]
    return [*lines, ""]


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """A table with its first column to the left and the others to the right."""
    short = [
        [textwrap.shorten(one_line(cell) or "-", _LONGEST_NAME, placeholder="...") for cell in row] for row in rows
    ]
    widths = [max(len(row[k]) for row in short) for k in range(len(short[0]))]
    return ["  " + "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in short]


def to_markdown(audit: Audit) -> str:
    """The audit as Markdown: see :meth:`belief_utils.reporting.audit.Audit.to_markdown`."""
    told = answers(audit)
    parts = [f"# {_safe(audit.title)}", _safe(facts(audit)), f"## {VERDICT}"]
    parts += [
        f"**{question}** *{_safe(told[test].short)}.* {_safe(told[test].sentence)}"
        for test, question in QUESTIONS.items()
    ]
    for section in sections(audit):
        parts.append(f"## {section.question}")
        if section.instead:
            parts.append(f"Cannot be told: {_safe(section.instead)}.")
            continue
        rows = [(f.label, *cells(f), f.role) for f in section.findings]
        notes = [f"*{f.label}*: {f.sentence}" for f in section.findings]
        parts.append(layout.markdown(HEADINGS, rows, "Figures", notes).rstrip())
        if section.rows:
            table = [[_safe(cell, bars=False) for cell in row] for row in section.rows]
            parts.append(layout.markdown(section.headings, table, "Share of each action by belief", []).rstrip())
    lists = {MISSING: problems(audit) or [NOTHING_MISSING], READ: [ABOUT, *HOW_TO_READ], CITE: citation()}
    for heading, texts in lists.items():
        parts += [f"## {heading}", "\n".join(f"- {_safe(text)}" for text in texts)]
    return "\n\n".join(parts) + "\n"


def _safe(text: str, *, bars: bool = True) -> str:
    """Text that Markdown shows as it is. Bars are left to tables, which escape them themselves."""
    escaped = re.sub(r"([\\`*_\[\]#$|])" if bars else r"([\\`*_\[\]#$])", r"\\\1", one_line(text))
    return escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
