"""The form of an answer: what is asked in words, what holds a model to it, and that both say the same."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belief_utils.asking.formats import ANSWER_FORMATS, AnswerFormat

BELIEF = AnswerFormat.probabilities(("No", "Yes"))
DECISION = AnswerFormat((("confident", ("Yes", "No")), ("choice", ("Yes", "No"))))

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
fields = st.lists(
    st.tuples(names, st.one_of(st.just("probability"), st.lists(names, min_size=1, max_size=3).map(tuple))),
    min_size=1,
    max_size=4,
    unique_by=lambda pair: pair[0],
).map(tuple)


def unescaped(literal: str) -> str:
    """What a quoted literal of a grammar stands for."""
    return re.sub(r"\\(.)", r"\1", literal)


def one_answer(grammar: str) -> str:
    """A text that a grammar of this package allows: the first choice of every rule."""
    rules = dict(line.split(" ::= ", 1) for line in grammar.split("\n"))

    def first(body: str) -> str:
        text = ""
        for token in re.finditer(r'"((?:[^"\\]|\\.)*)"|\[(.)-.\]|(\||\w+)', body):
            literal, digit, name = token.groups()
            if name == "|":
                return text
            text += unescaped(literal) if literal is not None else digit or first(rules[name])
        return text

    return first(rules["root"])


def test_instruction_of_a_belief_shows_the_labels_and_no_number_to_repeat() -> None:
    text = BELIEF.instruction()
    assert text == (
        'Answer with JSON only, in the form {"No": probability, "Yes": probability}, '
        "where each probability is a number between 0 and 1."
    )
    assert not re.search(r"\d\.\d", text)


def test_instruction_of_a_decision_names_the_words() -> None:
    assert DECISION.instruction() == (
        'Answer with JSON only, in the form {"confident": "Yes" or "No", "choice": "Yes" or "No"}.'
    )


def test_grammar_of_a_belief_is_the_one_that_stored_answers_were_held_to() -> None:
    assert BELIEF.grammar() == ('root ::= "{\\"No\\": " p ", \\"Yes\\": " p "}"\np ::= "0." [0-9] [0-9] | "1.00"')


def test_grammar_of_a_decision_offers_the_words_only() -> None:
    grammar = DECISION.grammar()
    assert 'word0 ::= "\\"Yes\\"" | "\\"No\\""' in grammar
    assert "p ::=" not in grammar
    assert json.loads(one_answer(grammar)) == {"confident": "Yes", "choice": "Yes"}


@given(fields)
def test_grammar_schema_and_instruction_describe_the_same_object(pairs: tuple) -> None:
    form = AnswerFormat(pairs)
    answer = json.loads(one_answer(form.grammar()))
    schema = form.schema()
    assert list(answer) == [name for name, _ in pairs] == schema["required"] == list(schema["properties"])
    assert schema["additionalProperties"] is False
    for name, kind in pairs:
        assert json.dumps(name, ensure_ascii=False) in form.instruction()
        if kind == "probability":
            assert answer[name] == 0.0
            assert schema["properties"][name]["type"] == "number"
        else:
            assert answer[name] == kind[0]
            assert schema["properties"][name]["enum"] == list(kind)


@given(fields)
def test_no_line_of_a_grammar_is_broken_by_a_label(pairs: tuple) -> None:
    for line in AnswerFormat(pairs).grammar().split("\n"):
        assert re.match(r"(root|p|word\d+) ::= ", line)


@pytest.mark.parametrize(
    ("how", "names"),
    [
        ("grammar", ["grammar"]),
        ("json_schema", ["response_format"]),
        ("json_object", ["response_format"]),
        ("text", []),
    ],
)
def test_parameters_are_what_each_way_needs(how: str, names: list[str]) -> None:
    assert how in ANSWER_FORMATS
    assert list(BELIEF.parameters(how)) == names


def test_json_schema_is_strict_and_json_object_carries_none() -> None:
    asked = BELIEF.parameters("json_schema")["response_format"]
    assert asked["json_schema"]["strict"] is True
    assert asked["json_schema"]["schema"] == BELIEF.schema()
    assert BELIEF.parameters("json_object") == {"response_format": {"type": "json_object"}}
