"""Find the numbers of a text, in digits or spelled out, with their exact values."""

import re
from dataclasses import dataclass
from fractions import Fraction

_DECIMALS = 6  # digits kept after the point, as in the items' own answers
_LONGEST = 40  # digits of the longest number that is read

_UNITS = {
    word: value
    for value, word in enumerate(
        (
            *(
                "zero",
                "one",
                "two",
                "three",
                "four",
                "five",
                "six",
                "seven",
                "eight",
                "nine",
                "ten",
                "eleven",
                "twelve",
            ),
            *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
        )
    )
}
_TENS = {
    word: 10 * value
    for value, word in enumerate(
        ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"), start=2
    )
}
_SCALES = {"hundred": 100, "dozen": 12, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_SHORT_SCALES = {"k": 10**3, "K": 10**3, "M": 10**6, "B": 10**9}

_WORD = "|".join(sorted((*_UNITS, *_TENS, *_SCALES), key=len, reverse=True))
_RUN = r"\d+(?:[.,':]\d+)*"
_NUMBER = re.compile(
    rf"""(?:(?P<word_sign>\b(?:minus|negative)\s)|(?P<sign>[-+][ ]?))?
    (?:
        (?<![\w.])(?<!\d[,:'])(?:
            (?P<whole>\d{{1,9}})[ ](?P<over>\d{{1,4}})/(?P<below>\d{{1,4}})(?![\d/]|[.,]\d)
            |(?P<spaced>\d{{1,3}}(?:[ ]\d{{3}})+(?:\.\d+)?)(?![\d,.:'/-]*\d|-?[^\W\d])
            |(?P<run>{_RUN})(?:[ ]?/[ ]?(?P<under>{_RUN}))?)
        |(?<![\w.,])(?P<point>\.\d+)
        |\b(?P<words>(?:an?\s(?=hundred|dozen|thousand|million
        |billion))?(?:{_WORD})\b(?:(?:-|\s(?:and\s)?)(?:{_WORD})\b){{0,12}}))
    (?:(?P<ordinal>(?:st|nd|rd|th)\b)
        |(?P<power>\^)
        |[eE](?P<exponent>[-+]?\d{{1,2}})\b
        |[ ]?[×x][ ]?10[ ]?\^[ ]?(?P<ten>-?\d{{1,2}})\b
        |(?P<short>[kKMB])\b
        |[ ](?P<scale>hundred|dozen|thousand|million|billion|trillion)\b)?""",
    re.VERBOSE | re.IGNORECASE,
)
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?|\d{1,3}(?:'\d{3})+(?:\.\d+)?")
_GROUPED_BY_POINTS = re.compile(r"\d{1,3}(?:\.\d{3}){2,}(?:,\d+)?|\d{1,3}(?:\.\d{3})+,\d+")
_DECIMAL_COMMA = re.compile(r"0,\d+|\d+,(?:\d{1,2}|\d{4,})")
_PLAIN = re.compile(r"\d*\.\d+|\d+")
_NOT_A_COUNT = re.compile(r"\b(?:the|these|those|any|of|no|every|this|each|which)\s$", re.IGNORECASE)
_HOW_SURE = re.compile(r"\s?(?:%|percent)\s(?:sure|certain|confident|positive|correct|right|agree)\b", re.IGNORECASE)
_A_LABEL = re.compile(
    r"\b(?:step|question|part|problem|case|example|method|option|figure|table|line)\s?#?$", re.IGNORECASE
)


@dataclass(frozen=True)
class Number:
    """A number in a text.

    Attributes:
        start: where it starts, its sign included.
        end: where it ends.
        value: its value; None where it cannot be read with certainty, as in ``1,23,4`` or ``9:30``.
        is_operand: a plus or minus sign before it ties it to what stands before.
    """

    start: int
    end: int
    value: Fraction | None
    is_operand: bool = False


def find_numbers(text: str) -> list[Number]:
    """The numbers of a text in their order, without ordinals ("9th"), names of steps ("step 2") and idle "one"s."""
    found = []
    for match in _NUMBER.finditer(text):
        start, operand = match.start(), False
        if match["sign"] or match["word_sign"]:
            operand = _is_operator(text, match)
            if operand or (match["sign"] and not _is_signed(text, match)):
                start = match.end("sign" if match["sign"] else "word_sign")
        before = text[max(0, start - 12) : start]
        idle = match["words"] and (match["words"].lower() == "one" or _NOT_A_COUNT.search(before)) and before.strip()
        if idle and not re.search(r"(?:\bis|[:=])\W*$", before):
            continue
        if match["ordinal"] or _HOW_SURE.match(text, match.end()) or _A_LABEL.search(before):
            continue
        value = _value(match)
        if (
            value is not None
            and start == match.start()
            and (match["word_sign"] or (match["sign"] or "").startswith("-"))
        ):
            value = -value
        found.append(Number(start, match.end(), value, operand))
    return found


def written(value: Fraction) -> str:
    """A number in canonical form: a plain decimal without trailing zeros, six digits after the point at the most."""
    scaled = round(abs(value) * 10**_DECIMALS)
    if not scaled:
        return "0"
    whole, rest = divmod(scaled, 10**_DECIMALS)
    decimals = f".{rest:0{_DECIMALS}d}".rstrip("0").rstrip(".")
    return f"{'-' if value < 0 else ''}{whole}{decimals}"


def _before(text: str, position: int) -> str:
    """The last character that is not a space among the few before a position; empty at the start."""
    return text[max(0, position - 4) : position].rstrip()[-1:]


def _is_operator(text: str, match: re.Match[str]) -> bool:
    """Whether the sign stands between two numbers: "10 - 3"."""
    before = _before(text, match.start())
    return before.isdigit() or (before in (")", "%") and bool(before))


def _is_signed(text: str, match: re.Match[str]) -> bool:
    """Whether the sign belongs to the number: after a word only if it touches the number and not the word."""
    before = _before(text, match.start())
    return not before.isalpha() or (text[match.start() - 1].isspace() and not match["sign"].endswith(" "))


def _value(match: re.Match[str]) -> Fraction | None:
    if match["power"] or match.end() - match.start() > 4 * _LONGEST:
        return None
    if match["words"]:
        value: Fraction | None = _spelled(match["words"].lower())
    elif match["whole"]:
        below = int(match["below"])
        value = int(match["whole"]) + Fraction(int(match["over"]), below) if below else None
    elif match["spaced"]:
        value = Fraction(match["spaced"].replace(" ", "")) if len(match["spaced"]) <= _LONGEST else None
    else:
        value = _digits(match["run"] or match["point"])
        if match["under"] and value is not None:
            below = _digits(match["under"])
            value = value / below if below else None
    if value is None:
        return None
    power = match["exponent"] or match["ten"]
    if power:
        return value * Fraction(10) ** int(power)
    if match["short"]:
        return value * _SHORT_SCALES[match["short"]] if match["short"] in _SHORT_SCALES else value
    return value * _SCALES[match["scale"].lower()] if match["scale"] else value


def _digits(run: str) -> Fraction | None:
    if len(run) > _LONGEST:
        return None
    if _GROUPED.fullmatch(run) and not run.startswith("0"):
        return Fraction(re.sub("[,']", "", run))
    if _GROUPED_BY_POINTS.fullmatch(run):
        return Fraction(run.replace(".", "").replace(",", "."))
    if _DECIMAL_COMMA.fullmatch(run):
        return Fraction(run.replace(",", "."))
    return Fraction(run) if _PLAIN.fullmatch(run) else None


def _spelled(words: str) -> Fraction | None:
    """The value of a number in words; None for words that follow each other without being one number."""
    total, part, last = 0, 0, 10**15
    for word in re.split(r"[\s-]+", words):
        if word in ("a", "an", "and"):
            part = part if word == "and" else 1
        elif word in _SCALES:
            part, last = (part or 1) * _SCALES[word], 10**15 if word == "hundred" else 0
            if _SCALES[word] > 100:
                total, part, last = total + part, 0, 10**15
            elif word == "hundred":
                last = 100
        else:
            size = _UNITS.get(word, _TENS.get(word, 0))
            fits = last >= 100 or (last >= 20 and 0 < size < 10)
            if not fits:
                return None
            part, last = part + size, size
    return Fraction(total + part)
