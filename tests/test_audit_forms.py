"""The forms of an audit: text, Markdown, a page that needs nothing else, pictures; whatever the data hold."""

from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from belief_utils import audit
from belief_utils.reporting.audit_pictures import drawn, picture_names
from tests.test_audit import QUICK, simulated


class Page(HTMLParser):
    """The elements of a page, and its text."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.text = [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def plain():
    """An audit of judgments with nothing special about them."""
    return audit(simulated(2), **QUICK)


@pytest.fixture(scope="module")
def plain_page(plain):
    """Its page."""
    return plain.to_html()


HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</figcaption></style><svg onload=alert(1)>",
    "a | b\nc \x1b[31m `d` *e* $f$",
    "治療する",
]


def test_nothing_of_the_users_becomes_markup(plain_page):
    judgments = simulated(3)
    hostile = judgments.assign(action=[HOSTILE[k % 5] for k in range(len(judgments))])
    done = audit(hostile, title="<script>alert('title')</script> & co", **QUICK)
    text, markdown, page = done.to_text(), done.to_markdown(), done.to_html()
    parsed = Page(page)
    assert {tag for tag, _ in parsed.elements} == {tag for tag, _ in Page(plain_page).elements}
    assert not any(name.startswith("on") for _, attributes in parsed.elements for name in attributes)
    for shown in ("<script>alert(1)</script>", "<script>alert('title')</script> & co", HOSTILE[1], HOSTILE[4]):
        assert shown in parsed.text
    assert "<script" not in markdown
    assert "<svg" not in markdown
    assert "\x1b" not in text + markdown + page
    assert all(panel.title and panel.alternative for panel in done.panels)


def test_the_page_needs_nothing_else(plain_page):
    elements = Page(plain_page).elements
    assert not {"script", "link", "iframe", "object", "embed", "base", "a", "form"} & {tag for tag, _ in elements}
    sources = [attributes["src"] for _, attributes in elements if "src" in attributes]
    assert len(sources) == 4
    assert all(source.startswith("data:image/svg+xml;base64,") for source in sources)
    assert not any("href" in attributes or "srcset" in attributes for _, attributes in elements)
    style = plain_page[plain_page.index("<style>") : plain_page.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style
    assert all(attributes.get("alt") for tag, attributes in elements if tag == "img")
    assert ("html", {"lang": "en"}) in elements
    assert any(attributes.get("name") == "viewport" for tag, attributes in elements if tag == "meta")
    policy = next(a["content"] for tag, a in elements if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'")


def test_everything_is_in_every_form(plain, plain_page):
    text = plain.to_text()
    for form in (text, plain.to_markdown(), Page(plain_page).text):
        joined = " ".join(form.replace("**", "").split())
        for heading in ("Verdict", "What was missing, degenerate or simplified", "How to cite this"):
            assert heading in joined
        assert "2602.06286" in joined
        assert "belief-utils" in joined
        assert "as in the paper" in joined
        assert "decides" in joined
    assert max(len(line) for line in text.splitlines()) <= 88
    assert text.isascii()


@pytest.mark.parametrize(
    "change",
    [
        lambda frame: frame.assign(belief=0.4),
        lambda frame: frame.assign(action="defer", outcome=1),
        lambda frame: frame.assign(action=None),
        lambda frame: frame[frame["case"].isin([0, 1])],
    ],
)
def test_degenerate_data_have_a_page(change):
    done = audit(change(simulated(2)), **QUICK)
    text = Page(done.to_html()).text
    assert all(f"Cannot be told: {reason}." in text for reason in done.reasons.values())
    assert "nan" not in text.lower().split()


def test_the_page_is_the_same_each_time(plain, plain_page):
    assert plain.to_html() == plain_page


def test_a_notebook_shows_the_markdown(plain):
    assert plain._repr_markdown_() == plain.to_markdown()


def test_a_page_is_written(plain, plain_page, tmp_path):
    plain.write_html(tmp_path / "audit.html")
    assert (tmp_path / "audit.html").read_text(encoding="utf-8") == plain_page


def test_pictures_stay_within_their_panels_and_show_text_as_text(plain):
    pictures = [content.decode() for content in drawn(plain.panels)]
    assert ["positive" in picture for picture in pictures] == [True, True, True, False]
    assert "share of decisions" in pictures[2]
    assert "share of decisions" not in pictures[3]
    assert "reported probability" in pictures[3]
    assert all("<image" not in picture and 'xlink:href="http' not in picture for picture in pictures)


def test_answers_without_an_action_still_show_calibration():
    judgments = simulated(2)
    done = audit(judgments.assign(action=judgments["action"].where(judgments.index % 3 > 0, None)), **QUICK)
    by_section = {panel.section: panel.shown for panel in done.panels}
    counts = {name: shown.loc[shown["part"] == "outcome", "n"].sum() for name, shown in by_section.items()}
    assert counts == {"sufficiency": 120, "monotonicity": 120, "calibration": 180}
    none = audit(judgments.assign(action=None), **QUICK)
    assert [panel.section for panel in none.panels] == ["calibration"]
    assert b"any" not in drawn(none.panels)[0]


def test_too_many_actions_for_pictures():
    judgments = simulated(2)
    done = audit(judgments.assign(action=[f"action number {k % 20}" for k in range(len(judgments))]), **QUICK)
    assert [panel.section for panel in done.panels] == ["calibration"]
    assert "There are 20 actions, too many for pictures of each." in done.degenerate
    assert Page(done.to_html()).text.count("What turns out") == 1


@given(st.sets(st.text(min_size=1), min_size=1, max_size=12))
@settings(max_examples=50, deadline=None)
def test_names_in_pictures_are_short_and_tell_actions_apart(actions):
    names = picture_names(actions)
    assert names.keys() == actions
    assert len(set(names.values())) == len(actions)
    assert all(len(short) <= 12 and short.isprintable() for short in names.values())
