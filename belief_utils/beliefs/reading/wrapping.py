"""Take the wrapping off a model's answer, so that what it says can be read.

Thoughts are removed (they are not the answer). Fences, bold marks, tags, LaTeX, table rules, typographic
quotes and dashes, and digits of other scripts are replaced by plain text that says the same.
"""

import html
import re
import unicodedata

LONGEST = 16_000  # characters read of one answer: half from its start, half from its end

# <think>, </think>, [THINK], ◁/think▷ and the like.
_THOUGHT_TAG = re.compile(
    r"<\s?(?P<close>/)?\s?(?:think|thinking|thoughts?|reasoning|reflection|scratchpad|analysis)\s?>"
    r"|[\[◁](?P<other_close>/)?think[\]▷]",
    re.IGNORECASE,
)
_FINAL_CHANNEL = "<|channel|>final<|message|>"
_SPECIAL_TOKEN = re.compile(r"<\|[^|<>]{0,40}\|>|</?s>")

_SUPERSCRIPT = re.compile("[⁺⁻]?[⁰¹²³⁴-⁹]+")
_FOREIGN_DIGIT = re.compile(r"(?![0-9])\d")
_RAISED_POINT = re.compile(r"(?<=\d)·(?=\d)(?!10\^)")
_CHARACTERS = {
    **dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\ufe0f"), None),
    **dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)], None),
    **dict.fromkeys(range(0x2010, 0x2016), "-"),
    **dict.fromkeys([*map(ord, "•●▪◦‣∙│"), *range(0x2500, 0x2580)], "|"),
    **dict.fromkeys(map(ord, "“”„«»‹›「」『』"), '"'),
    **dict.fromkeys(map(ord, "‘’‚′"), "'"),
    **dict.fromkeys(map(ord, "≈≃≅∼〜"), "~"),
    **dict.fromkeys(map(ord, "⇒⟶➔➜➡"), "→"),
    **dict.fromkeys(map(ord, "⩽≲≦"), "≤"),
    **dict.fromkeys(map(ord, "⩾≳≧"), "≥"),
    ord("\u20e3"): ")",  # the frame of a keycap digit: a list marker
    ord("…"): " - ",
    ord("⁄"): "/",
    ord("∕"): "/",
    ord("٪"): "%",
    ord("٫"): ".",
    ord("٬"): ",",
    ord("、"): ",",
    ord("。"): ". ",
    ord("№"): "#",  # compatibility normalisation would make the word "No" of it
    ord("º"): "°",
}

_ESCAPED_CHARACTER = re.compile(r"\\u([0-9a-fA-F]{4})")
_ESCAPED_SPACE = re.compile(r"\\[nrt](?![a-z])")
_LATEX_TEXT = re.compile(
    r"\\(?:text(?:bf|it|normal|rm)?|math(?:rm|bf|sf|it)|operatorname|underline|emph)\s?\{([^{}]{0,200})\}"
)
_LATEX_FRACTION = re.compile(r"\\[dt]?frac\s?\{(\d{1,9})\}\s?\{(\d{1,9})\}")
_LATEX_BOX = re.compile(r"\\(?:f?boxed|fbox)\s?\{")
_LATEX_COMMAND = re.compile(r"\\([a-zA-Z]+|[^a-zA-Z])")
_LATEX_SYMBOLS = {"%": "%", '"': '"', "'": "'", "/": "/", "-": "-", "\\": "\n", "mid": "|", "infty": "∞", "pm": "±"}
_LATEX_SYMBOLS |= dict.fromkeys(("approx", "sim", "simeq"), "~")
_LATEX_SYMBOLS |= dict.fromkeys(("le", "leq"), "≤") | dict.fromkeys(("ge", "geq"), "≥")
_LATEX_SYMBOLS |= dict.fromkeys(("to", "rightarrow", "Rightarrow"), "→")
_LATEX_SYMBOLS |= {"lt": "<", "gt": ">", "times": "×", "cdot": "·"}

_TAG = re.compile(r"<(?P<close>/)?(?P<inside>(?P<name>[A-Za-z][\w-]{0,40})(?:\s[^<>]{0,200})?)/?>")
_INLINE_TAGS = frozenset(("b", "strong", "i", "em", "u", "s", "span", "code", "pre", "a", "font", "sub", "sup", "math"))
_BLOCK_TAGS = frozenset(
    ("p", "div", "br", "hr", "tr", "li", "ul", "ol", "table", "thead", "tbody", "html", "body", "dl")
)
_ANSWER_TAGS = frozenset(("answer", "final", "final_answer", "output", "response", "result"))

_FENCE = re.compile(r"```[ \t]*(?:json\w*|python|text|txt|yaml|yml|xml|csv|markdown|md|latex|plaintext)?\b", re.I)
_STRUCK_OUT = re.compile(r"~~[^~]{0,500}~~")
_ARROW = re.compile(r"[-=]{1,3}>")
_QUOTED_LINE = re.compile(r"^[ \t]*(?:>[ \t]?)+(?=[^\d\s>.~=])", re.MULTILINE)
_EMPHASIS = re.compile(r"(?<!\d)(?<!\d\s)\*+|\*+(?!\s?\d)")  # what stands between digits is a product
_RULE_LINE = re.compile(r"^[ \t|:+=-]+$", re.MULTILINE)
_LEADERS = re.compile(r"\.{3,}|(?<=[\d%])\.\.(?=[\d.])")  # "Yes ..... 30%", "20..30%"
_RUN_TOGETHER = re.compile(r"\b(p|prob|probability|chance)(?=[A-Z])|(?<=[a-z])(?=Prob|Chance)")
_TO_SPACE = str.maketrans({"_": " ", "`": " ", "$": " ", "#": " ", "\r": "\n", "\x00": " "})


def without_thoughts(text: str) -> tuple[str, bool]:
    """What follows a model's thoughts, and whether a thought was still open at the end.

    A closing mark without an opening one ends a thought that began in the prompt.
    """
    kept: list[str] = []
    position, thinking = 0, False
    for mark in _THOUGHT_TAG.finditer(text):
        if mark["close"] or mark["other_close"]:
            if not thinking:
                kept.clear()
            position, thinking = mark.end(), False
        elif not thinking:
            kept.append(text[position : mark.start()])
            thinking = True
    if not thinking:
        kept.append(text[position:])
    answer = "\n".join(kept)
    if _FINAL_CHANNEL in answer:
        answer = answer.rpartition(_FINAL_CHANNEL)[2]
    return _SPECIAL_TOKEN.sub(" ", answer), thinking


def plain(text: str) -> str:
    """The same words without markup: ASCII digits, plain quotes and dashes, no emphasis, tags or LaTeX.

    Of an answer above 16,000 characters the middle is left out.
    """
    text = _shortened(text)
    if "&" in text:
        text = html.unescape(text)
    if not text.isascii():
        text = _shortened(_plain_characters(text))
    if "\\" in text:
        text = _plain_latex(text)
    if ">" in text:
        text = _ARROW.sub("→", _TAG.sub(_plain_tag, text))
        text = _QUOTED_LINE.sub("", text)
    if "<" in text or ">" in text:
        text = text.replace(">=", "≥").replace("<=", "≤")
    if "`" in text:
        text = _FENCE.sub("\n", text)
    if "~~" in text:
        text = _STRUCK_OUT.sub(" ", text)
    if "*" in text:
        text = _EMPHASIS.sub("", text)
    text = _RUN_TOGETHER.sub(lambda match: f"{match[0]} ", text.translate(_TO_SPACE))
    return _RULE_LINE.sub("", _LEADERS.sub(" - ", text))


def _shortened(text: str) -> str:
    half = LONGEST // 2
    return text if len(text) <= LONGEST else f"{text[:half]}\n\n{text[-half:]}"


def _plain_characters(text: str) -> str:
    text = _SUPERSCRIPT.sub(lambda match: "^" + unicodedata.normalize("NFKC", match[0]), text)
    text = unicodedata.normalize("NFKC", text.translate(_CHARACTERS)).translate(_CHARACTERS)
    text = _RAISED_POINT.sub(".", text)
    return _FOREIGN_DIGIT.sub(lambda match: str(unicodedata.decimal(match[0])), text)


def _plain_latex(text: str) -> str:
    text = _ESCAPED_SPACE.sub("\n", text)
    text = _ESCAPED_CHARACTER.sub(lambda match: chr(int(match[1], 16)), text)
    text = _LATEX_TEXT.sub(r" \1 ", _LATEX_TEXT.sub(r" \1 ", text))
    text = _LATEX_FRACTION.sub(r"\1/\2", text)
    text = _LATEX_BOX.sub("\nFinal answer: ", text)
    return _LATEX_COMMAND.sub(lambda match: _LATEX_SYMBOLS.get(match[1], " "), text)


def _plain_tag(match: re.Match[str]) -> str:
    name = match["name"].lower()
    if name in _INLINE_TAGS:
        return " "
    if name in ("td", "th"):
        return " " if match["close"] else " | "
    if match["close"] or name in _BLOCK_TAGS:
        return "\n"
    if name in _ANSWER_TAGS:
        return "\nFinal answer: "
    return f"\n{match['inside']}: "  # <Yes>0.3</Yes>: the tag itself is the label
