"""The Follow-up Questioning Mechanism: which conversations are held about which items, and what comes next in each."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from belief_utils.asking.formats import AnswerFormat
from belief_utils.asking.models import Model, nearest
from belief_utils.asking.questions import Question, keys
from belief_utils.asking.store import Response, Store
from belief_utils.errors import BeliefError
from belief_utils.followup.answers import ParsedAnswer, parse_answer
from belief_utils.followup.echoes import restored
from belief_utils.followup.items import Item
from belief_utils.followup.misleading import misleading_answer
from belief_utils.followup.mitigation import few_shot
from belief_utils.followup.questions import (
    AGAIN,
    ANNOTATORS,
    CLOSED,
    FOLLOW_UPS,
    INITIAL,
    LEADING,
    OPEN,
    Turn,
    Turns,
    at_temperature,
    demonstrations,
    follow_up_text,
    initial_text,
    turns_text,
)

_FREE_TEXT = AnswerFormat(())
#: The plain first question.
PLAIN: Turns = (Turn(INITIAL),)
#: Its answer is drawn twice: the second draw says how often a right answer turns wrong without any question asked.
DRAWS = 2

RIGHT, WRONG = "right", "wrong"


@dataclass(frozen=True)
class Step:
    """One question about one item: the conversation up to it, and its request.

    Attributes:
        misleading: the answer that the last question names, if it is a leading one.
    """

    item: Item
    turns: Turns
    question: Question
    misleading: str | None


@dataclass(frozen=True)
class Study:
    """Conversations that are held about the items of some sets.

    Attributes:
        name: the name on the command line.
        about: what it is for, and where the paper has it.
        conversations: each begins with an initial question.
        after: the first answers that are followed up: right or wrong ones.
        sets: only these item sets; all if empty.
    """

    name: str
    about: str
    conversations: tuple[Turns, ...]
    after: str = RIGHT
    sets: tuple[str, ...] = ()


def conversation(*follow_ups: Turn) -> Turns:
    """A conversation: the plain first question and what follows it."""
    return (*PLAIN, *follow_ups)


_A, _ALL = "A", FOLLOW_UPS
#: The set and the type of question on which the paper looks closer (sections 3.3 and 4).
PAIRED = {"strategyqa": CLOSED, "coin_flip": OPEN, "multiarith": LEADING}
#: Our own sets of the same kinds, which need no benchmark.
OWN_PAIRED = {"facts_tf": CLOSED, "own_coin_flip": OPEN, "own_arithmetic": LEADING}
#: The sets of the closer look.
CLOSER = (*PAIRED, *OWN_PAIRED)
#: The temperatures beside the model's own (paper, Table 3).
TEMPERATURES = (0.0, 1.0)


def _mitigated(kind: str) -> tuple[Turns, ...]:
    """The rows of Table 6 for one type of question, prompt A, without the plain one."""
    held = []
    for method in ("emotion", "cot"):
        for on_first, on_follow in ((method, ""), ("", method), (method, method)):
            held.append((Turn(INITIAL, "", on_first), Turn(kind, _A, on_follow)))
    shots = Turn(INITIAL, "", few_shot(kind, _A))
    return (*held, (shots, Turn(kind, _A)), (shots, Turn(kind, _A, "cot")))


def studies_for(set_name: str) -> dict[str, Study]:
    """What can be studied on an item set, by name, in the order in which it is best asked."""
    kind = {**PAIRED, **OWN_PAIRED}.get(set_name, CLOSED)
    plain = tuple(conversation(Turn(each, _A)) for each in _ALL)
    all_studies = (
        Study("direct", "the Direct Form with the prompts of A (Figure 2, Table 8)", plain),
        Study(
            "progressive",
            "the Progressive Form: three rounds (Figure 3, Table 9)",
            (conversation(*[Turn(each, _A) for each in _ALL]),),
        ),
        Study("control", "right answers asked again without doubt, a control of ours", (conversation(Turn(AGAIN)),)),
        Study("correction", "wrong answers followed up (Table 5)", plain, after=WRONG),
        Study(
            "prompts",
            "the Direct Form with the prompts of B and C (Figure 4, Table 8)",
            tuple(conversation(Turn(each, who)) for who in ANNOTATORS[1:] for each in _ALL),
            sets=CLOSER,
        ),
        Study("mitigation", "prompts that may help (Tables 6 and 16)", _mitigated(kind), sets=CLOSER),
        Study(
            "temperature",
            "other sampling temperatures (Table 3)",
            tuple(at_temperature(conversation(Turn(kind, _A)), each) for each in TEMPERATURES),
            sets=CLOSER,
        ),
    )
    return {study.name: study for study in all_studies if not study.sets or set_name in study.sets}


#: The names of all studies, in the order in which they are best asked.
STUDIES = tuple(studies_for("strategyqa"))


def studies(names: Iterable[str], set_name: str) -> list[Study]:
    """The studies of these names that are made on an item set.

    Raises:
        BeliefError: a name is unknown.
    """
    wanted = [nearest(name, STUDIES, "study") for name in names]
    known = studies_for(set_name)
    return [known[name] for name in wanted if name in known]


def same_conversation(model: Model, turns: Turns) -> Turns | None:
    """The other name of a conversation at the model's own temperature: with it or without.

    Both send the same, and the store keeps one answer for both. ``None`` where there is no other name.
    """
    own, named = _sent(model).get("temperature"), turns[0].temperature
    if own is None or named not in (None, own):
        return None
    return at_temperature(turns, own if named is None else None)


def prefixes(conversations: Iterable[Turns]) -> list[Turns]:
    """All beginnings of some conversations, each once, shorter ones first."""
    found = dict.fromkeys(turns[:length] for turns in conversations for length in range(1, len(turns) + 1))
    return sorted(found, key=len)


def step(model: Model, item: Item, turns: Turns, store: Store) -> Step | None:
    """The last question of a conversation, as it is asked after the answers that the store holds.

    Returns:
        ``None`` while an answer before it is missing, or where a leading question has no answer to name.
    """
    messages = [*demonstrations(item, turns[0]), _user(initial_text(item, turns[0]))]
    first: ParsedAnswer | None = None
    for place, turn in enumerate(turns[1:], start=1):
        answered = store.get(keys(model, _question(model, item, turns[:place], messages), 1)[0])
        if answered is None:
            return None
        first = first or read(item, answered)
        misleading = misleading_answer(item, first.value) if turn.kind == LEADING else None
        if turn.kind == LEADING and misleading is None:
            return None
        messages += [
            {"role": "assistant", "content": restored(item, answered.text)},
            _user(follow_up_text(turn, item.kind, misleading)),
        ]
    suggested = misleading if len(turns) > 1 and turns[-1].kind == LEADING else None
    return Step(item, turns, _question(model, item, turns, messages), suggested)


def read(item: Item, response: Response) -> ParsedAnswer:
    """An answer as it is read."""
    return parse_answer(restored(item, response.text), item.kind, item.options, truncated=response.truncated)


def askable(model: Model, items: Sequence[Item], wanted: Sequence[Study], store: Store) -> Iterator[tuple[Step, int]]:
    """The questions that can be asked now, item by item, each with how many answers it is to have.

    Initial questions always; what follows as soon as the answers before it are there and the first one is of the kind
    that the study follows up. Of items that ask the same, as some of MultiArith and MMLU do, only the first is asked.
    """
    different: dict[tuple[str, tuple[str, ...]], Item] = {}
    for item in items:
        different.setdefault((item.question, item.options), item)
    for item in different.values():
        seen, begins = set(), {turns: _begins(model, item, turns, store) for turns in _first_questions(wanted)}
        for study in wanted:
            for turns in prefixes(study.conversations):
                if turns in seen or (len(turns) > 1 and begins[turns[:1]] != study.after):
                    continue
                if (found := step(model, item, turns, store)) is not None:
                    seen.add(turns)
                    yield found, DRAWS if turns == PLAIN else 1


def _first_questions(wanted: Sequence[Study]) -> set[Turns]:
    return {turns[:1] for study in wanted for turns in study.conversations}


def _begins(model: Model, item: Item, first: Turns, store: Store) -> str | None:
    """Whether a first answer is right or wrong; ``None`` while there is none."""
    answered = store.get(keys(model, step(model, item, first, store).question, 1)[0])
    if answered is None:
        return None
    return RIGHT if read(item, answered).value == item.answer else WRONG


def _question(model: Model, item: Item, turns: Turns, messages: Sequence[Mapping[str, str]]) -> Question:
    name = f"{item.set}/{item.id}/{turns_text(turns)}"
    return Question(name, tuple(messages), _FREE_TEXT, public=item.public, parameters=_parameters(model, turns))


def _parameters(model: Model, turns: Turns) -> dict[str, Any]:
    """What the model's table says of follow-up conversations, and the temperature where a study sets it."""
    parameters = dict(model.followup)
    temperature = turns[0].temperature
    if temperature is not None:
        if "temperature" not in _sent(model):
            raise BeliefError(
                f"{model.name} takes no temperature in data/models.toml, so there is no temperature study of it; leave "
                "the study out"
            )
        parameters["temperature"] = temperature
    return parameters


def _sent(model: Model) -> dict[str, Any]:
    return {**model.parameters, **model.extra_body, **model.followup}


def _user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}
