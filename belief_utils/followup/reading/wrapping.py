"""Take the wrapping off an answer: thoughts, fences, bold marks, tags, tables, LaTeX, typographic characters."""

import html
import re
import unicodedata

LONGEST = 100_000  # characters read of one answer: half from its start, half from its end
BOX = "\ue000"  # stands for \boxed and <answer>, which state a value without the word "Answer"

_THOUGHT = re.compile(
    r"<\s?(?P<close>/)?\s?(?:think|thinking|thoughts?|reasoning|reflection|scratchpad|analysis)\s?>", re.IGNORECASE
)
_SPECIAL_TOKEN = re.compile(r"<\|[^|<>]{0,40}\|>|</?s>")
_ANSWER_TAG = re.compile(r"<(?:answer|final_answer|final|result)>", re.IGNORECASE)
_BREAK_TAG = re.compile(r"</?(?:br|p|div|li|ul|ol|tr|table|hr|h[1-6])\s?/?>", re.IGNORECASE)
_CELL_TAG = re.compile(r"<t[dh]>", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][\w-]{0,30}(?:\s[^<>\n]{0,100})?/?>")

_ANGLE_BRACKETS = re.compile(r"<([^<>\n]{1,40})>")

_SUPERSCRIPT = re.compile("[⁺⁻]?[⁰¹²³⁴-⁹]+")
_VULGAR_FRACTION = re.compile("(?<=\\d)(?=[¼-¾⅐-⅞])")
_FOREIGN_DIGIT = re.compile(r"(?![0-9])\d")
_CHARACTERS = {
    **dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\ufe0f\ue000"), None),
    **dict.fromkeys(map(ord, "“”„«»「」『』"), '"'),
    **dict.fromkeys(map(ord, "‘’‚′"), "'"),
    **dict.fromkeys(map(ord, "•●▪◦‣│┃"), "|"),
    **dict.fromkeys(map(ord, "\u2212\u2010\u2011\u2012\u2013\uff0d"), "-"),
    **dict.fromkeys(map(ord, "—―"), " , "),
    **dict.fromkeys(map(ord, "⇒→➔➜➡"), ":"),
    **dict.fromkeys(map(ord, "⁄∕÷"), "/"),
    **dict.fromkeys(map(ord, "≈≅≃"), "= "),
    **dict.fromkeys(map(ord, "⋅∙·✕"), "×"),
    ord("。"): ". ",
    ord("、"): ", ",
    ord("٪"): "%",
    ord("٫"): ".",
    ord("٬"): ",",
}

_LATEX_TEXT = re.compile(r"\\(?:text|math|operator|under|emph|mbox)\w{0,8}\s?\{([^{}]{0,200})\}")
_LATEX_FRACTION = re.compile(r"\\[dt]?frac\s?(?:\{(-?[\d,]{1,12})\}\s?\{([\d,]{1,12})\}|(\d)\s?(\d))")
_LATEX_MIXED = re.compile(r"(?<=\d)\s?(?=\\[dt]?frac)")
_LATEX_BOX = re.compile(r"\\(?:f?boxed|fbox)\s?\{?")
_LATEX_COMMA = re.compile(r"(?<=\d)(?:\{,\}|\\[,;: ])(?=\d{3})")
_LATEX_NO_SPACE = re.compile(r"\\!")
_ESCAPED_LINE = re.compile(r"\\[nr](?![a-z])")
_LATEX_COMMAND = re.compile(r"\\([A-Za-z]+|[^A-Za-z])")
_LATEX_SYMBOLS = {"times": "×", "cdot": "×", "div": "/", "%": "%", "\\": "\n", "approx": "=", "'": "'"}

_FENCE = re.compile(r"```[ \t]*[a-z+]{0,12}[ \t]*(?=\n)|```(?:json|python|text|txt|plaintext|markdown)?", re.IGNORECASE)
_STRUCK_OUT = re.compile(r"~~[^~\n]{0,300}~~")
_POWER = re.compile(r"(?<=\d)\*\*(?=\d)")
_PRODUCT = re.compile(r"(?<=[\d)])[ \t]?\*[ \t]?(?=[\d($])")
_CURRENCY = re.compile(r"(?<=[-+])[ ]?[$€£¥₹]")
_QUOTED_LINE = re.compile(r"^[ \t]{0,8}>[ \t>]{0,8}", re.MULTILINE)
_RULE_LINE = re.compile(r"^[ \t|:+=_-]{2,}$", re.MULTILINE)
_BLANK_TO_FILL = re.compile(r"_{3,}")
_BULLET = re.compile(r"^[ \t]{0,20}[-+|][ \t]+", re.MULTILINE)
_LINE_GOES_ON = re.compile(r"[ \t]{0,20}\n[ \t]{0,20}=[ \t]?(?=[-\d\w])")
_DOTS = re.compile(r"\.{2,}|(?:\. ){2,}\.")
_TO_SPACE = str.maketrans(dict.fromkeys("`$€£¥₹{}\t\x00", " ") | {"\r": "\n", "\x0b": "\n", "\x0c": "\n"})


def unwrap(text: str) -> tuple[str, bool]:
    """The same words without wrapping, and whether a thought was still open at the end.

    Digits are ASCII, quotes straight and minus signs hyphens; a box is the one character `BOX`. Of an answer above
    100,000 characters the middle is left out.
    """
    answer, thinking = _without_thoughts(text)
    if len(answer) > LONGEST:
        answer = f"{answer[: LONGEST // 2]}\n\n{answer[-LONGEST // 2 :]}"
    return _plain(answer), thinking


def _without_thoughts(text: str) -> tuple[str, bool]:
    """What follows a model's thoughts; a closing mark without an opening one ends a thought begun in the prompt."""
    kept: list[str] = []
    position, thinking = 0, False
    for mark in _THOUGHT.finditer(text):
        if mark["close"]:
            if not thinking:
                kept.clear()
            position, thinking = mark.end(), False
        elif not thinking:
            kept.append(text[position : mark.start()])
            thinking = True
    if not thinking:
        kept.append(text[position:])
    return "\n".join(kept), thinking


def _plain(text: str) -> str:
    if "&" in text:
        text = html.unescape(text)
    if not text.isascii():
        text = _plain_characters(text)
    text = _LATEX_COMMA.sub(",", text)
    if "\\" in text:
        text = _plain_latex(text)
    if "<" in text:
        text = _SPECIAL_TOKEN.sub(" ", text)
        text = _BREAK_TAG.sub("\n", _CELL_TAG.sub(" | ", _ANSWER_TAG.sub(f" {BOX} ", text)))
        text = _ANGLE_BRACKETS.sub(r"[\1]", _TAG.sub(" ", text))
    text = _STRUCK_OUT.sub(" ", _FENCE.sub("\n", text))
    if "*" in text:
        text = _PRODUCT.sub(" × ", _POWER.sub("^", text)).replace("*", "")
    text = _QUOTED_LINE.sub("", _CURRENCY.sub("", text).translate(_TO_SPACE))
    text = _BLANK_TO_FILL.sub("…", _BULLET.sub("", _RULE_LINE.sub("", text))).replace("_", " ")
    text = _LINE_GOES_ON.sub(" = ", text)
    return _DOTS.sub("…", text)


def _plain_characters(text: str) -> str:
    text = _SUPERSCRIPT.sub(lambda match: "^" + unicodedata.normalize("NFKC", match[0]), text)
    text = _VULGAR_FRACTION.sub(" ", text).translate(_CHARACTERS)
    text = unicodedata.normalize("NFKC", text).translate(_CHARACTERS)
    return _FOREIGN_DIGIT.sub(lambda match: str(unicodedata.decimal(match[0])), text)


def _plain_latex(text: str) -> str:
    text = _ESCAPED_LINE.sub("\n", text)
    text = _LATEX_NO_SPACE.sub("", text)
    text = _LATEX_TEXT.sub(r" \1 ", _LATEX_TEXT.sub(r" \1 ", text))
    text = _LATEX_MIXED.sub(" ", text)
    text = _LATEX_FRACTION.sub(lambda match: f"{match[1] or match[3]}/{match[2] or match[4]}", text)
    text = _LATEX_BOX.sub(f" {BOX} ", text)
    return _LATEX_COMMAND.sub(lambda match: _LATEX_SYMBOLS.get(match[1], " "), text)
