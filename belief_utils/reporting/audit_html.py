"""An audit as one HTML page that needs nothing else: style and pictures inside, no script, no request."""

from __future__ import annotations

import base64
import re
from html import escape
from typing import TYPE_CHECKING

from belief_utils.reporting.audit_findings import AS_IN_PAPER, DECIDES, DESCRIBES, QUESTIONS, Finding, Section, sections
from belief_utils.reporting.audit_pictures import Panel, drawn
from belief_utils.reporting.audit_problems import problems
from belief_utils.reporting.audit_style import STYLE_SHEET
from belief_utils.reporting.audit_text import CITE, HEADINGS, MISSING, NOTHING_MISSING, READ, VERDICT, cells, one_line
from belief_utils.reporting.audit_words import ABOUT, HOW_TO_READ, answers, citation, facts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from belief_utils.reporting.audit import Audit

_SIZE = re.compile(rb'<svg[^>]*? width="([\d.]+)pt" height="([\d.]+)pt"')
_CLASSES = {DECIDES: "decides", AS_IN_PAPER: "paper", DESCRIBES: "describes"}
# The page may show its own style and pictures and nothing else, whatever somebody's data hold.
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def to_html(audit: Audit) -> str:
    """The audit as a page: see :meth:`belief_utils.reporting.audit.Audit.to_html`."""
    title = _text(audit.title)
    parts = [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>{title}</title>",
        f"<style>{STYLE_SHEET}</style>",
        "</head>",
        "<body>",
        "<main>",
        f"<header><h1>{title}</h1><p>{_text(facts(audit))}</p></header>",
        _verdict(audit),
        *_sections(sections(audit)),
        _list_of(MISSING, problems(audit) or [NOTHING_MISSING]),
        _list_of(READ, HOW_TO_READ, ABOUT),
        _list_of(CITE, citation()),
        "</main>",
        "</body>",
        "</html>",
    ]
    return "\n".join(parts) + "\n"


def _text(text: str) -> str:
    """Text as it may stand in the page, with what belongs together kept on one line."""
    together = re.sub(r"\bp (=|&lt;) (?=\.)", r"p&nbsp;\1&nbsp;", escape(one_line(text)))
    return re.sub(r"(?<=\d) %", "&nbsp;%", together)


def _verdict(audit: Audit) -> str:
    told = answers(audit)
    shown = [
        f'<div class="answer"><h3>{question}</h3><p class="short">{_text(told[test].short)}</p>'
        f"<p>{_text(told[test].sentence)}</p></div>"
        for test, question in QUESTIONS.items()
    ]
    return f'<section class="verdict"><h2>{VERDICT}</h2><div class="answers">{"".join(shown)}</div></section>'


def _sections(shown: Sequence[Section]) -> list[str]:
    contents = iter(drawn([panel for section in shown for panel in section.panels]))
    return [_section(section, [next(contents) for _ in section.panels]) for section in shown]


def _section(section: Section, contents: list[bytes]) -> str:
    heading = f"<h2>{section.question}</h2>"
    if section.instead:
        return f'<section>{heading}<p class="short">Cannot be told: {_text(section.instead)}.</p></section>'
    pictures = "".join(map(_picture, section.panels, contents))
    return (
        f'<section>{heading}<div class="pictures">{pictures}{_table(section.headings, section.rows)}</div>'
        f"{_figures(section.findings)}</section>"
    )


def _picture(panel: Panel, content: bytes) -> str:
    width, height = (float(number) for number in _SIZE.search(content).groups())
    # Pictures that share a line are equally high.
    place = f"flex: {width / height:.3f} 1 {12 * width / height:.2f}rem; max-width: {20 * width / height:.2f}rem"
    return (
        f'<figure style="{place}"><div class="paper-white"><img alt="{_text(panel.alternative)}" width="{width:.0f}" '
        f'height="{height:.0f}" src="data:image/svg+xml;base64,{base64.b64encode(content).decode("ascii")}"></div>'
        f"<figcaption><b>{_text(panel.title)}.</b> {_text(panel.caption)}</figcaption></figure>"
    )


def _figures(findings: Iterable[Finding]) -> str:
    rows = []
    for finding in findings:
        value, interval, p = cells(finding)
        name = (
            f'<th scope="row">{_text(finding.label)} <span class="role {_CLASSES[finding.role]}">{finding.role}</span>'
            f'<span class="read">{_text(finding.sentence)}</span></th>'
        )
        numbers = "".join(
            f'<td data-label="{heading}"{" class=none" if text == "–" else ""}>{text}</td>'
            for heading, text in zip(HEADINGS[1:4], (value, interval, p), strict=True)
        )
        rows.append(f"<tr>{name}{numbers}</tr>")
    head = "".join(f'<th scope="col">{heading}</th>' for heading in HEADINGS[:4])
    return f'<table class="figures"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'


def _table(headings: tuple[str, ...], rows: tuple[tuple[str, ...], ...]) -> str:
    if not rows:
        return ""
    head = "".join(f'<th scope="col">{_text(heading)}</th>' for heading in headings)
    body = "".join(
        f'<tr><th scope="row">{_text(row[0])}</th>{"".join(f"<td>{cell}</td>" for cell in row[1:])}</tr>'
        for row in rows
    )
    return (
        '<div class="scroll" tabindex="0" role="region" aria-label="Share of each action by belief">'
        f'<table class="shares"><caption>Share of each action by belief</caption><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _list_of(heading: str, texts: Iterable[str], lead: str = "") -> str:
    items = "".join(f"<li>{_text(text)}</li>" for text in texts)
    return f"<section><h2>{heading}</h2>{f'<p>{_text(lead)}</p>' if lead else ''}<ul>{items}</ul></section>"
