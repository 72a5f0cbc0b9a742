"""Read single numbers: 0.3, 0,3, 30 %, 3e-2, "thirty percent", "1 in 10", "3:1 against".

What stands around them (a range, "less than", a confidence interval) is for `qualifiers.py` to tell.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

HIDDEN = "\x00"  # stands for each character of a label, whose own digits are never read as a value
_READ = "\x01"  # stands for each character of a number that was read already


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a text, `text[start:end]`, with the words that qualify it ("about", "less than").

    `value` is a probability where `certain` (percent, "1 in 10", odds), else as written. `telling` says that
    it looks like a probability even without a label. Where a `problem` is named, the value is not used.
    """

    start: int
    end: int
    value: float
    certain: bool = False
    telling: bool = False
    problem: str | None = None
    dashed: bool = False  # "Yes -30%": a minus or a dash


_TO_NINETEEN = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_LARGE = {"hundred": 100, "thousand": 1000, "million": 1_000_000}
_WORDS = (
    {word: n for n, word in enumerate(_TO_NINETEEN.split())}
    | {word: 10 * n for n, word in enumerate(_TENS.split(), 2)}
    | _LARGE
)
_WORD = f"(?:{'|'.join(sorted(_WORDS, key=len, reverse=True))})"
_PERCENT = r"(?:\s{0,3}%|[\s-]?(?:percent(?:age)?|per\s?cent|pct|prozent|procent|por\sciento|pour\scent)\b)"
_WHOLE = r"(?:\d{1,3}(?:[,.'\s]\d{3})+(?!\d)|\d+)"  # with any thousands separator
_FLAGS = re.VERBOSE | re.IGNORECASE

_EVEN = re.compile(r"(?<![\w.,/])50\s?%?\s?[-/:]\s?50\s?%?(?![\w/]|[.,]\d)|\bfifty[\s-]fifty\b", re.IGNORECASE)
_ODDS = re.compile(  # 3:1, 3 to 1 against, three to one in favour
    rf"""(?<![\w.,:/-])(?P<left>\d{{1,9}}(?:\.\d{{1,9}})?|{_WORD})(?:(?P<colon>:)|\s?-?to-?\s?)
    (?P<right>\d{{1,9}}(?:\.\d{{1,9}})?(?![\w:%]|[.,]\d)|{_WORD}\b)
    (?P<side>,?\s(?:odds\s)?(?:against|in\sfavou?r))?""",
    _FLAGS,
)
_ODDS_BEFORE = re.compile(r"\bodds\b(?P<side>\s(?:against|in\sfavou?r))?[^.;\n\d]{0,30}$", re.IGNORECASE)
_ODDS_AFTER = re.compile(r"\sodds\b", re.IGNORECASE)
_RATIO = re.compile(  # 1 in 10, 3/10, 3 out of 10, one in a hundred
    rf"""(?<![\w.,/^])(?P<top>{_WHOLE}|{_WORD})
    (?:\s?(?P<slash>/)\s?|[\s-](?:in|out\sof|per|von|aus|sur)[\s-](?:a\s|every\s)?)
    (?P<bottom>{_WHOLE}|{_WORD}\b)(?![\w/%]|[.,]\d|\s%)""",
    _FLAGS,
)
_SPELT = re.compile(  # thirty-five percent, zero point three
    rf"\b(?P<name>(?:point\s)?{_WORD}(?:[\s-](?:and\s|point\s)?{_WORD}){{0,8}})\b(?P<percent>{_PERCENT})?",
    re.IGNORECASE,
)
_SPELT_RANGE_BEFORE = re.compile(rf"\b{_WORD}(?:\s(?:to|or)\s|\s?-\s?)$", re.IGNORECASE)
_PLAIN = re.compile(  # -0.3, 0,3, .3, 1,000, 3e-2, 3 x 10^-2, 30 %
    rf"""(?<![\w^])(?<![^.]\.)(?:(?<!\d)(?<!\d\s)(?P<first>%)\s?)?(?:(?<![\w%)\]{HIDDEN}{_READ}])(?P<sign>-|−\s?|\bminus\s))?
    (?P<digits>[1-9]\d{{0,2}}(?:,\d{{3}})+(?:\.\d+)?(?![\d,])|\d+[.,]\d+|\.\d+|\d+(?:\.(?=\s?%))?)
    (?P<power>e[-+−]?\d{{1,4}}|\s?[x×*·]\s?10(?:\^|\*\*)\{{?[-+−]?\d{{1,4}}\}}?|\^\{{?[-+−]?\d{{1,4}}\}}?)?
    (?!\.\d)(?:(?P<percent>{_PERCENT})|(?P<mille>\s?‰)|(?!\w))""",
    _FLAGS,
)
_NOT_A_NUMBER = re.compile(r"(?<![\w.])[-+−]?(?:nan|inf|infinity|∞)(?!\w)", re.IGNORECASE)
_NO_VALUE = re.compile(
    r"(?<=[:=|(])[\s\"']{0,3}(?P<word>n/a|n\.a\.|null|none|unknown|undefined|\?+)(?![\w?])", re.IGNORECASE
)
_ASKED_FOR = re.compile(r"(?:[:=|→]|\b(?:is|was|be|of|at|equals))[\s\"']{0,3}$|^\s*$", re.IGNORECASE)
_CLAUSE_ENDS = re.compile(r"[\s\"']*(?:[.,;)}|\n]|$)")


def read_numbers(text: str) -> list[Number]:
    """All numbers of a text in which labels are hidden, each on its own, in their order."""
    found: list[Number] = []
    for pattern, read in _READERS:
        new = [number for match in pattern.finditer(text) if (number := read(match, text)) is not None]
        if new:
            text = _hide(text, new)
            found += new
    return sorted(found, key=lambda number: number.start)


def _hide(text: str, numbers: list[Number]) -> str:
    pieces, position = [], 0
    for number in numbers:
        pieces += text[position : number.start], _READ * (number.end - number.start)
        position = number.end
    return "".join([*pieces, text[position:]])


def _read_even(match: re.Match[str], text: str) -> Number:
    return Number(*match.span(), 0.5, certain=True, telling=True)


def _read_odds(match: re.Match[str], text: str) -> Number | None:
    """Odds with their direction; without one they can be read both ways."""
    before = _ODDS_BEFORE.search(text[max(0, match.start() - 60) : match.start()])
    side = match["side"] or (before and before["side"])
    before = before or _ODDS_AFTER.match(text, match.end())
    left, right = _size(match["left"]), _size(match["right"])
    if left + right == 0 or not (side or before or match["colon"]):
        return None
    if not side:
        return Number(*match.span(), 0.0, telling=before is not None, problem="ambiguous")
    part = right if side.lower().endswith("against") else left
    return Number(*match.span(), part / (left + right), certain=True, telling=True)


def _read_ratio(match: re.Match[str], text: str) -> Number | None:
    top, bottom = _size(match["top"]), _size(match["bottom"])
    if top > bottom or bottom == 0 or (match["slash"] and top + bottom == 100):
        return None  # a blood pressure; "30/70" is a split
    return Number(*match.span(), top / bottom, certain=True, telling=True)


def _read_spelt(match: re.Match[str], text: str) -> Number | None:
    value = _spelt_value(match["name"].lower())
    if value is None:
        return None
    before, percent = text[max(0, match.start() - 20) : match.start()], match["percent"]
    if percent:
        problem = "range" if _SPELT_RANGE_BEFORE.search(before) else "out of range" if value > 100 else None
        return Number(*match.span(), value / 100, certain=True, telling=True, problem=problem)
    if "point" not in match["name"].lower() and not (
        _ASKED_FOR.search(before) and _CLAUSE_ENDS.match(text, match.end())
    ):
        return None  # "one of the", "two risk factors"
    return Number(*match.span(), value, telling=0 <= value < 1)


def _read_plain(match: re.Match[str], text: str) -> Number | None:
    digits, power = match["digits"], match["power"] or ""
    if power.startswith("^") and digits != "10":
        return None
    value = float(f"{'1' if power.startswith('^') else _plain_digits(digits)}e{_exponent(power) or 0}")
    percent = bool(match["percent"] or match["first"])
    certain = percent or bool(match["mille"])
    value /= 100 if percent else 1000 if match["mille"] else 1
    problem = "out of range" if match["sign"] or (certain and value > 1) or value == float("inf") else None
    dashed = bool(match["sign"]) and text[: match.start()].rstrip(" ")[-1:] == HIDDEN
    telling = certain or 0 < value < 1 or (value <= 1 and (power != "" or not digits.isdigit()))
    return Number(*match.span(), value, certain, telling, problem, dashed)


def _read_not_a_number(match: re.Match[str], text: str) -> Number:
    return Number(*match.span(), 0.0, telling=True, problem="out of range")


def _read_no_value(match: re.Match[str], text: str) -> Number:
    return Number(*match.span("word"), 0.0, problem="no number")


_READERS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], str], Number | None]], ...] = (
    (_EVEN, _read_even),
    (_ODDS, _read_odds),
    (_RATIO, _read_ratio),
    (_SPELT, _read_spelt),
    (_PLAIN, _read_plain),
    (_NOT_A_NUMBER, _read_not_a_number),
    (_NO_VALUE, _read_no_value),
)


def _size(written: str) -> float:
    """The whole number, or plain decimal, that digits or one word stand for."""
    if written.lower() in _WORDS:
        return float(_WORDS[written.lower()])
    return float(re.sub(r"[,'\s]|\.(?=\d{3}(?!\d))", "", written))


def _plain_digits(written: str) -> str:
    """Digits as Python reads them; a comma is a decimal comma unless it parts thousands."""
    if re.fullmatch(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?", written):
        return written.replace(",", "")
    return written.replace(",", ".")


def _exponent(power: str) -> str:
    return re.sub(r"^e|.*(?:\^|\*\*)|[{}+]", "", power.lower().strip()).replace("−", "-")


def _spelt_value(name: str) -> float | None:
    """The value of number words, or None where they do not make one number ("thirty forty")."""
    before, point, after = f" {name} ".replace("-", " ").replace(" and ", " ").partition(" point ")
    decimals = [_WORDS.get(word, 10) for word in after.split()]
    if point and (not decimals or max(decimals) > 9 or " point " in f" {after} "):
        return None
    total, last = 0, None
    for word in before.split():
        value = _WORDS.get(word, -1)
        if word == "hundred" and (last is None or 0 < last < 10):
            total = 100 * (last or 1)
        elif last is None or (last >= 100) or (20 <= last < 100 and 0 < value < 10 and last % 10 == 0):
            total += value
        else:
            return None
        last = 100 if word == "hundred" else value
    return float(f"{total}.{''.join(map(str, decimals))}") if point else float(total)
