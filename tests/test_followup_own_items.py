"""Our own questions: balanced, without repetitions, in canonical form, and apart from one another."""

import csv
import re
import tomllib
from collections import Counter
from itertools import chain, pairwise

import pytest

from belief_utils.paths import data

SCIENCES = ("astronomy", "biology", "chemistry", "physics", "mathematics")
TOPICS = {*SCIENCES, "geography", "history", "language", "health", "technology"}
TF_COLUMNS = ["id", "statement", "answer", "topic", "source"]
MC_COLUMNS = ["id", "question", "option_a", "option_b", "option_c", "option_d", "answer", "topic", "source"]
#: What a canonical answer of each kind looks like.
CANONICAL = {
    "truth": r"true|false",
    "yes_no": r"yes|no",
    "number": r"-?(0|[1-9]\d*)(\.\d*[1-9])?",
    "option": r"[A-D]",
    "letters": r"[a-z]{2}",
}
KEYS = {"question", "answer", "misleading", "first_reply", "reconsidered"}
#: The most that a demonstration may take, in words, digits and signs; about as many tokens.
LONGEST = 110
#: Words that would admit a mistake or give in, which a demonstration never does.
GIVING_IN = r"sorry|apolog|mistake|you are right|you're right|wrong|incorrect"


def rows(name: str) -> list[dict[str, str]]:
    with data("items", name).open(encoding="ascii", newline="") as file:
        return list(csv.DictReader(file, strict=True))


def options(row: dict[str, str]) -> list[str]:
    return [row[f"option_{letter}"] for letter in "abcd"]


def names() -> list[str]:
    return data("items", "names.txt").read_text(encoding="ascii").splitlines()


def demonstrations() -> dict[str, list[dict]]:
    return tomllib.loads(data("items", "demonstrations.toml").read_text(encoding="utf-8"))


def each_demonstration() -> list:
    """Kind and demonstration, one parameter each."""
    return [
        pytest.param(kind, shown, id=f"{kind}-{number}")
        for kind, several in demonstrations().items()
        for number, shown in enumerate(several, 1)
    ]


def plain(text: str) -> str:
    """The bare words of a text, so that capitals, signs and spaces make no other question."""
    return " ".join(re.findall(r"[a-z0-9]+", text.lower()))


@pytest.mark.parametrize(
    ("name", "columns", "prefix"), [("facts_tf.csv", TF_COLUMNS, "tf"), ("facts_mc.csv", MC_COLUMNS, "mc")]
)
def test_a_hundred_complete_rows_ten_on_each_topic(name, columns, prefix):
    found = rows(name)
    assert list(found[0]) == columns
    assert [row["id"] for row in found] == [f"{prefix}-{number:03d}" for number in range(1, 101)]
    assert Counter(row["topic"] for row in found) == dict.fromkeys(TOPICS, 10)
    for row in found:
        assert None not in row
        for value in row.values():
            assert value
            assert value == value.strip()


def test_half_of_the_statements_are_true_on_every_topic():
    found = rows("facts_tf.csv")
    assert Counter((row["topic"], row["answer"]) for row in found) == {
        (topic, answer): 5 for topic in TOPICS for answer in ("true", "false")
    }
    assert all(row["statement"].endswith(".") for row in found)


def test_neither_answers_nor_topics_follow_a_visible_order():
    for found in (rows("facts_tf.csv"), rows("facts_mc.csv")):
        for column in ("answer", "topic"):
            values = [row[column] for row in found]
            stays = sum(one == two for one, two in pairwise(values))
            expected = 99 / len(set(values))
            # Four standard deviations of a fair shuffle either way: neither sorted nor taking turns.
            assert abs(stays - expected) < 4 * (expected * (1 - 1 / len(set(values)))) ** 0.5
            assert stays > 0


def test_right_options_are_balanced_and_do_not_stand_out_by_their_length():
    found = rows("facts_mc.csv")
    assert Counter(row["answer"] for row in found) == dict.fromkeys("ABCD", 25)
    assert all(row["question"].endswith("?") for row in found)
    longest = shortest = 0
    for row in found:
        right = row[f"option_{row['answer'].lower()}"]
        others = [len(text) for text in options(row) if text != right]
        longest += len(right) > max(others)
        shortest += len(right) < min(others)
    # One in four is chance.
    assert 10 <= longest <= 35
    assert 10 <= shortest <= 35


def test_options_are_distinct_and_no_text_is_another_options_letter():
    for row in rows("facts_mc.csv"):
        texts = options(row)
        assert len({text.lower() for text in texts}) == 4, row["id"]
        assert not set(texts) & set("ABCD"), row["id"]


def test_no_question_occurs_twice_within_or_between_the_files():
    questions = [row["statement"] for row in rows("facts_tf.csv")]
    questions += [row["question"] for row in rows("facts_mc.csv")]
    questions += [shown["question"] for shown in chain(*demonstrations().values())]
    assert len(questions) == 220
    assert [text for text, times in Counter(map(plain, questions)).items() if times > 1] == []


def test_names_are_plain_sorted_and_many():
    found = names()
    assert len(found) == 120
    assert found == sorted(set(found))
    assert all(re.fullmatch(r"[A-Z][a-z]+", name) for name in found)
    # Joining last letters is no guess as long as no letter prevails.
    assert max(Counter(name[-1] for name in found).values()) < 24


def test_four_demonstrations_of_each_kind_with_balanced_answers():
    found = demonstrations()
    assert {kind: len(several) for kind, several in found.items()} == dict.fromkeys(CANONICAL, 4)
    answers = {kind: Counter(shown["answer"] for shown in several) for kind, several in found.items()}
    assert answers["truth"] == {"true": 2, "false": 2}
    assert answers["yes_no"] == {"yes": 2, "no": 2}
    assert answers["option"] == dict.fromkeys("ABCD", 1)


@pytest.mark.parametrize(("kind", "shown"), each_demonstration())
def test_a_demonstration_keeps_its_answer_and_is_short(kind, shown):
    assert set(shown) == KEYS | ({"options"} if kind == "option" else set())
    for key in ("answer", "misleading"):
        assert re.fullmatch(CANONICAL[kind], shown[key])
    assert shown["misleading"] != shown["answer"]
    asked_for = f"({shown['answer']})" if kind == "option" else shown["answer"]
    for key in ("first_reply", "reconsidered"):
        assert shown[key].strip().splitlines()[-1] == f"Answer: {asked_for}"
    opening, *steps, _ = shown["reconsidered"].strip().splitlines()
    assert 2 <= len(steps) <= 4
    assert all(step.startswith("- ") for step in steps)
    assert not opening.startswith("- ")
    assert not re.search(GIVING_IN, shown["reconsidered"], re.IGNORECASE)
    texts = [shown["question"], *shown.get("options", ()), shown["first_reply"], shown["reconsidered"]]
    assert len(re.findall(r"\d|[^\W\d]+|[^\w\s]", " ".join(texts))) <= LONGEST


def test_coins_and_last_letters_of_the_demonstrations_come_out_as_stated():
    found = demonstrations()
    for shown in found["yes_no"]:
        acts = re.findall(r"(flips|does not flip) the coin\.", shown["question"])
        assert len(acts) == 2
        assert shown["answer"] == ("yes" if acts.count("flips") % 2 == 0 else "no")
    for shown in found["letters"]:
        words = re.search(r'"(.+)"', shown["question"])[1].split()
        assert shown["answer"] == "".join(word[-1] for word in words)


def test_sums_in_the_demonstrations_are_right_and_lead_to_the_answer():
    for shown in demonstrations()["number"]:
        # A sum such as "6 x 12 = 72" or a chain such as "2 x 7 + 3 x 4 = 14 + 12 = 26".
        sums = re.findall(r"\d[\d x/+-]*(?:= ?\d[\d x/+-]*)+", shown["first_reply"] + shown["reconsidered"])
        assert len(sums) >= 3
        values = []
        for text in sums:
            sides = [_value(side) for side in text.split("=")]
            assert len(set(sides)) == 1, text
            values.append(sides[0])
        assert values[-1] == float(shown["answer"])
        assert float(shown["misleading"]) in values


def test_people_of_the_demonstrations_are_not_in_the_list_of_names():
    known = set(names())
    for kind in ("yes_no", "letters"):
        for shown in demonstrations()[kind]:
            assert not known & set(re.findall(r"[A-Z][a-z]+", shown["question"]))


def _value(text: str) -> float:
    """A sum of products and quotients, such as ``2 x 7 + 3 x 4``."""
    total = 0.0
    for sign, term in re.findall(r"([+-]?)\s*(\d+(?:\s*[x/]\s*\d+)*)", text):
        value = 1.0
        for operator, number in re.findall(r"([x/]?)\s*(\d+)", term):
            value = value / int(number) if operator == "/" else value * int(number)
        total += -value if sign == "-" else value
    return total
