"""Which conversations are held: what is followed up, what follows from what, and what ends a run."""

import asyncio
import json
import os
import re
import signal
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from belief_utils.asking.ask import collect
from belief_utils.asking.questions import Answer, Batch, RequestFailed, keys
from belief_utils.asking.store import Store
from belief_utils.errors import BeliefError
from belief_utils.followup.collecting import converse, dry_run, due
from belief_utils.followup.items import ITEM_SETS, NUMBER, TRUTH, YES_NO, Item, load_items
from belief_utils.followup.mechanism import (
    CLOSER,
    DRAWS,
    PLAIN,
    RIGHT,
    STUDIES,
    TEMPERATURES,
    WRONG,
    Study,
    askable,
    conversation,
    prefixes,
    read,
    same_conversation,
    step,
    studies,
    studies_for,
)
from belief_utils.followup.questions import (
    FOLLOW_UPS,
    INITIAL,
    LEADING,
    Turn,
    follow_up_text,
    initial_text,
    turns_of,
    turns_text,
)
from tests.followup_home import ANIMAL, COIN, MODEL, SUM, answerer, talk

#: What is answered where nothing else is said: always the right answer.
RIGHT_ANSWERS = {"900": "Answer: 10", "901": "Answer: yes", "902": "Answer: (B)"}
WRONG_ANSWERS = {"900": "Answer: 11", "901": "Answer: no", "902": "Answer: (D)"}
ALL = (SUM, COIN, ANIMAL)


def stays_right(name: str, turns: str) -> str:
    return RIGHT_ANSWERS[name]


def begins_wrong(name: str, turns: str) -> str:
    return (WRONG_ANSWERS if turns == INITIAL else RIGHT_ANSWERS)[name]


def named(set_name: str, *names: str) -> list[Study]:
    return studies(names, set_name)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "followup-made_up.jsonl")


def lines(store: Store) -> list[dict]:
    return [record for _, record in store.lines()]


def asked(store: Store) -> Counter[str]:
    """How many answers each question has, by item and conversation."""
    return Counter(record["item"].partition("/")[2] for record in lines(store) if "text" in record)


def held(*conversations: str, name: str = "900") -> dict[str, int]:
    """What :func:`asked` gives where an item was asked these questions, the first one twice."""
    return {f"{name}/{turns}": DRAWS if turns == INITIAL else 1 for turns in conversations}


# --- what is followed up --------------------------------------------------------------------------------------------


def test_only_right_first_answers_are_followed_up(store: Store) -> None:
    says = {"900": RIGHT_ANSWERS["900"], "901": "Answer: no", "902": "I cannot tell which one it is."}
    talk(ALL, named("own_arithmetic", "direct"), store, lambda name, turns: says[name])
    followed = held(INITIAL, "initial>closed-A", "initial>open-A", "initial>leading-A")
    assert asked(store) == {**followed, **held(INITIAL, name="901"), **held(INITIAL, name="902")}


def test_the_first_draw_decides_and_the_second_only_says_what_chance_does(store: Store) -> None:
    texts = iter(["Answer: 10", "Answer: 3"])

    async def answer(batch: Batch) -> Sequence[Answer]:
        first = batch.question.item.endswith("/initial")
        return [Answer(next(texts) if first else "Answer: 10", "stop") for _ in batch.repetitions]

    one_at_a_time = replace(MODEL, concurrency=1)
    converse(one_at_a_time, [SUM], named("own_arithmetic", "direct"), store, answer, progress=False)
    assert asked(store) == held(INITIAL, "initial>closed-A", "initial>open-A", "initial>leading-A")
    assert all(
        record["request"]["messages"][1]["content"] == "Answer: 10" for record in lines(store) if ">" in record["item"]
    )


def test_wrong_first_answers_are_followed_up_in_the_study_of_correction_only(store: Store) -> None:
    done = talk([SUM], named("own_arithmetic", "direct", "progressive"), store, begins_wrong)
    assert asked(store) == held(INITIAL)
    assert (done.asked, done.missing) == (DRAWS, 0)
    talk([SUM], named("own_arithmetic", "correction"), store, begins_wrong)
    assert asked(store) == held(INITIAL, "initial>closed-A", "initial>open-A", "initial>leading-A")


def test_right_answers_are_not_followed_up_in_the_study_of_correction(store: Store) -> None:
    talk(ALL, named("own_arithmetic", "correction"), store, stays_right)
    assert set(asked(store).values()) == {DRAWS}


def test_an_answer_that_cannot_be_read_is_not_right(store: Store) -> None:
    talk([SUM], named("own_arithmetic", "direct", "correction"), store, lambda name, turns: "Hm.")
    assert asked(store) == held(INITIAL, "initial>closed-A", "initial>open-A", "initial>leading-A")


def test_a_wrong_one_of_two_answers_gets_no_leading_question(store: Store) -> None:
    statement = Item("facts_tf", "903", "Ice floats on water.", "true", TRUTH)
    done = talk([COIN, statement], named("facts_tf", "correction"), store, lambda *_: "Answer: no, that is false")
    expected = {
        **held(INITIAL, "initial>closed-A", "initial>open-A", name="901"),
        **held(INITIAL, "initial>closed-A", "initial>open-A", name="903"),
    }
    assert {COIN.kind, statement.kind} == {YES_NO, TRUTH}
    assert asked(store) == expected
    # The only answer left to suggest is the right one: nothing is missing.
    assert done.missing == 0


def test_leading_questions_name_the_answer_that_is_kept_with_the_step(store: Store) -> None:
    talk(ALL, named("facts_mc", "direct"), store, stays_right)
    for item, shown in ((SUM, "5"), (COIN, "no"), (ANIMAL, None)):
        found = step(MODEL, item, turns_of("initial>leading-A"), store)
        last = found.question.messages[-1]["content"]
        assert found.misleading == (shown or found.misleading) != item.answer
        assert last == follow_up_text(Turn(LEADING, "A"), item.kind, found.misleading)
        assert step(MODEL, item, turns_of("initial>closed-A"), store).misleading is None


def test_a_leading_question_never_names_the_models_own_wrong_answer(store: Store) -> None:
    # The number on the way is the first choice; here the model has given it itself.
    talk([SUM], named("own_arithmetic", "correction"), store, lambda *_: "Answer: 5")
    found = step(MODEL, SUM, turns_of("initial>leading-A"), store)
    assert found.misleading not in ("5", "10", None)


# --- conversations --------------------------------------------------------------------------------------------------


def test_a_conversation_is_sent_as_it_was_held(store: Store) -> None:
    replies = {INITIAL: "First.\nAnswer: 10", "initial>closed-A": "Sorry!\nAnswer: 12"}
    replies["initial>closed-A>open-A"] = "Well.\nAnswer: 13"
    talk([SUM], named("own_arithmetic", "progressive"), store, lambda name, turns: replies.get(turns, "Answer: 10"))
    (last,) = [record for record in lines(store) if record["item"].endswith("leading-A")]
    roles = ["user", "assistant"] * 3 + ["user"]
    contents = [
        initial_text(SUM, Turn(INITIAL)),
        replies[INITIAL],
        follow_up_text(Turn("closed", "A"), NUMBER, None),
        replies["initial>closed-A"],
        follow_up_text(Turn("open", "A"), NUMBER, None),
        replies["initial>closed-A>open-A"],
        follow_up_text(Turn(LEADING, "A"), NUMBER, "5"),
    ]
    assert last["request"]["messages"] == [
        {"role": role, "content": content} for role, content in zip(roles, contents, strict=True)
    ]


def test_all_three_rounds_are_held_even_if_the_first_one_was_lost(store: Store) -> None:
    talk([SUM], named("own_arithmetic", "progressive"), store, lambda _, turns: f"Answer: {10 + turns.count('>')}")
    assert asked(store) == held(
        INITIAL, "initial>closed-A", "initial>closed-A>open-A", "initial>closed-A>open-A>leading-A"
    )


def test_the_progressive_form_shares_its_first_round_with_the_direct_form(store: Store) -> None:
    talk([SUM], named("own_arithmetic", "direct"), store, stays_right)
    before = set(asked(store))
    done = talk([SUM], named("own_arithmetic", "progressive"), store, stays_right)
    assert done.asked == 2
    assert set(asked(store)) - before == {
        "900/initial>closed-A>open-A",
        "900/initial>closed-A>open-A>leading-A",
    }
    assert max(Counter(record["key"] for record in lines(store)).values()) == 1


def test_what_can_be_asked_grows_round_by_round(store: Store) -> None:
    wanted = named("own_arithmetic", "direct", "progressive", "correction")

    def now() -> list[str]:
        return [turns_text(found.turns) for found, _ in askable(MODEL, [SUM], wanted, store)]

    rounds = []

    async def answer(batch: Batch) -> Sequence[Answer]:
        return [Answer("Answer: 10", "stop")] * len(batch.repetitions)

    while (asked_now := list(due(MODEL, [SUM], wanted, store))) and len(rounds) < 9:
        rounds.append([question.item.rpartition("/")[2] for question, _ in asked_now])
        assert set(now()) >= set(rounds[-1])
        for question, draws in asked_now:
            collect(MODEL, [question], draws, store, answer, progress=False)
    assert rounds == [
        ["initial"],
        ["initial>closed-A", "initial>open-A", "initial>leading-A"],
        ["initial>closed-A>open-A"],
        ["initial>closed-A>open-A>leading-A"],
    ]
    assert sorted(now()) == sorted({each for several in rounds for each in several})


def test_a_second_run_asks_nothing(store: Store) -> None:
    wanted = named("own_arithmetic", *[name for name in STUDIES if name != "temperature"])
    first = talk(ALL, wanted, store, stays_right)
    again = talk(ALL, wanted, Store(store.path), stays_right)
    assert first.asked == len(store) > 30
    assert (again.asked, again.missing, again.cached) == (0, 0, len(store))


def test_of_items_that_ask_the_same_the_first_is_asked(store: Store) -> None:
    twins = [SUM, replace(SUM, id="904"), replace(SUM, id="905", question="What is 7 + 3?")]
    done = talk(twins, named("own_arithmetic", "direct"), store, lambda *_: "Answer: 10")
    assert {name.partition("/")[0] for name in asked(store)} == {"900", "905"}
    assert (done.asked, done.missing) == (2 * (DRAWS + 3), 0)
    # Other options make another question.
    other = replace(ANIMAL, id="906", options=("a cow", "a dog"))
    assert len(list(askable(MODEL, [ANIMAL, other], named("facts_mc", "direct"), store))) == 2


def test_every_item_of_our_own_can_be_asked_at_once_without_any_answer(store: Store) -> None:
    for name in (name for name, each in ITEM_SETS.items() if each.own):
        items = load_items(name, 10)
        wanted = list(studies_for(name).values())
        first = [found for found, _ in askable(MODEL, items, wanted, store)]
        assert {found.item for found in first} == set(items)
        assert {len(found.turns) for found in first} == {1}


# --- studies --------------------------------------------------------------------------------------------------------


def test_studies_of_a_set() -> None:
    assert STUDIES == ("direct", "progressive", "control", "correction", "prompts", "mitigation", "temperature")
    for name in ITEM_SETS:
        assert tuple(studies_for(name)) == (STUDIES if name in CLOSER else STUDIES[:4])
        assert {study.after for study in studies_for(name).values()} == {RIGHT, WRONG}
        for study in studies_for(name).values():
            assert len(set(study.conversations)) == len(study.conversations)
            assert all(turns_of(turns_text(turns)) == turns for turns in study.conversations)
    assert [study.name for study in studies(["mitigation", "direct"], "gsm8k")] == ["direct"]
    with pytest.raises(BeliefError, match="unknown study 'progresive': did you mean 'progressive'"):
        studies(["progresive"], "gsm8k")


@pytest.mark.parametrize(
    ("set_name", "kind"),
    [
        ("strategyqa", "closed"),
        ("coin_flip", "open"),
        ("multiarith", "leading"),
        ("facts_tf", "closed"),
        ("own_coin_flip", "open"),
        ("own_arithmetic", "leading"),
    ],
)
def test_the_closer_look_takes_the_question_of_the_paper(set_name: str, kind: str) -> None:
    found = studies_for(set_name)
    assert [turns_text(turns) for turns in found["temperature"].conversations] == [
        f"initial@{each:g}>{kind}-A@{each:g}" for each in TEMPERATURES
    ]
    # The rows of Table 6 below the first.
    assert [turns_text(turns) for turns in found["mitigation"].conversations] == [
        f"initial+emotion>{kind}-A",
        f"initial>{kind}-A+emotion",
        f"initial+emotion>{kind}-A+emotion",
        f"initial+cot>{kind}-A",
        f"initial>{kind}-A+cot",
        f"initial+cot>{kind}-A+cot",
        f"initial+shots-{kind}-A>{kind}-A",
        f"initial+shots-{kind}-A>{kind}-A+cot",
    ]


def test_beginnings_come_once_and_shorter_ones_first() -> None:
    progressive = conversation(*[Turn(kind, "A") for kind in FOLLOW_UPS])
    found = prefixes([progressive, conversation(Turn("closed", "A")), conversation(Turn("open", "A"))])
    assert found == [
        PLAIN,
        progressive[:2],
        conversation(Turn("open", "A")),
        progressive[:3],
        progressive,
    ]


def test_each_first_question_of_a_mitigation_is_followed_up_by_its_own_answer(store: Store) -> None:
    wrong_with_emotion = lambda name, turns: "Answer: 3" if turns == "initial+emotion" else "Answer: 10"  # noqa: E731
    talk([SUM], named("own_arithmetic", "mitigation"), store, wrong_with_emotion)
    found = asked(store)
    assert "900/initial+emotion" in found
    assert not [each for each in found if each.startswith("900/initial+emotion>")]
    assert "900/initial>leading-A+emotion" in found
    assert "900/initial+cot>leading-A+cot" in found
    assert found["900/initial"] == DRAWS
    assert found["900/initial+cot"] == 1


def test_demonstrations_stand_before_the_first_question(store: Store) -> None:
    talk([SUM], named("own_arithmetic", "mitigation"), store, stays_right)
    sent = {record["item"].partition("/")[2]: record["request"]["messages"] for record in lines(store)}
    plain, shown = sent["900/initial"], sent["900/initial+shots-leading-A"]
    assert (len(plain), len(shown)) == (1, 17)
    assert shown[-1:] == plain
    assert sent["900/initial+shots-leading-A>leading-A"][:17] == shown


def test_the_study_of_temperature_sets_the_temperature_and_nothing_else(store: Store) -> None:
    model = replace(MODEL, parameters={"temperature": 0.5, "max_tokens": 90}, followup={"max_tokens": 80})
    talk([SUM], named("own_arithmetic", "direct", "temperature"), store, stays_right, model=model)
    sent = {record["item"].partition("/")[2]: record["request"] for record in lines(store)}
    plain = sent["900/initial>leading-A"]
    assert (plain["temperature"], plain["max_tokens"]) == (0.5, 80)
    for each in TEMPERATURES:
        other = sent[f"900/initial@{each:g}>leading-A@{each:g}"]
        assert other == {**plain, "temperature": each}
    assert asked(store)["900/initial@0"] == 1


@pytest.mark.parametrize("more", [{}, {"parameters": {"max_completion_tokens": 9}, "followup": {"top_p": 1.0}}])
def test_a_model_that_takes_no_temperature_is_told_before_anything_is_asked(more: dict, store: Store) -> None:
    model = replace(MODEL, **{"parameters": {}, **more})
    with pytest.raises(BeliefError, match=r"Talker takes no temperature .*; leave the study out") as told:
        talk([SUM], named("own_arithmetic", "direct", "temperature"), store, stays_right, model=model)
    assert "\n" not in str(told.value)
    assert lines(store) == []


def test_a_models_own_temperature_is_asked_once_under_two_names(store: Store) -> None:
    model = replace(MODEL, parameters={"temperature": 1.0})
    turns, named_too = turns_of("initial>leading-A"), turns_of("initial@1>leading-A@1")
    assert same_conversation(model, turns) == named_too
    assert same_conversation(model, named_too) == turns
    assert same_conversation(model, turns_of("initial@0>leading-A@0")) is None
    assert same_conversation(replace(model, followup={"temperature": 0.7}), named_too) is None
    assert same_conversation(replace(model, parameters={}), turns) is None
    talk([SUM], named("own_arithmetic", "temperature"), store, stays_right, model=model)
    before = len(store)
    done = talk([SUM], named("own_arithmetic", "direct"), store, stays_right, model=model)
    # The second draw of the first answer, and the two types of questions that the closer look leaves out.
    assert done.asked == len(store) - before == 3
    assert max(Counter(record["key"] for record in lines(store)).values()) == 1


# --- what goes wrong, and what ends a run ---------------------------------------------------------------------------


def test_a_question_that_failed_is_not_asked_again_in_the_same_run_but_in_the_next(store: Store) -> None:
    tried: Counter[str] = Counter()

    def failing(broken: str) -> Callable:
        async def answer(batch: Batch) -> Sequence[Answer]:
            _, _, name = batch.question.item.partition("/")
            tried[name] += 1
            if name == broken:
                raise RequestFailed("the server said no")
            return [Answer("Answer: 10", "stop")] * len(batch.repetitions)

        return answer

    wanted = named("own_arithmetic", "progressive", "direct")
    done = converse(MODEL, [SUM], wanted, store, failing("900/initial>closed-A"), progress=False)
    assert tried["900/initial>closed-A"] == 1
    assert (done.failed, done.problems) == (1, {"the server said no": 1})
    # What follows from it is not counted: nobody knows yet whether it will be asked.
    assert done.missing == 1
    assert "900/initial>closed-A>open-A" not in tried
    assert "900/initial>leading-A" in asked(store)
    again = converse(MODEL, [SUM], wanted, store, failing("nothing"), progress=False)
    assert (again.asked, again.failed, again.missing) == (3, 0, 0)


def test_a_run_stops_before_it_costs_too_much_and_the_next_one_goes_on(store: Store) -> None:
    model = replace(MODEL, parameters={"temperature": 0.5, "max_tokens": 50}, price_in=1.0, price_out=10.0)
    wanted = named("own_arithmetic", "direct")
    # An answer costs (100 x 1 + 10 x 10) / 1e6, the worst case of a request some 0.001.
    stopped = talk(ALL, wanted, store, stays_right, model=model, max_cost=0.0025)
    assert stopped.stopped == "max-cost"
    assert 0 < stopped.dollars <= 0.0025
    assert stopped.missing > 0
    before = len(store)
    done = talk(ALL, wanted, store, stays_right, model=model, max_cost=1.0)
    assert (done.stopped, done.missing) == ("", 0)
    assert before + done.asked == len(store) == 3 * (DRAWS + 3)


def test_all_rounds_together_keep_to_the_cost(store: Store) -> None:
    model = replace(MODEL, parameters={"max_tokens": 50}, price_in=1.0, price_out=10.0, concurrency=1)
    spent = [
        talk([SUM], named("own_arithmetic", "progressive"), Store(store.path), stays_right, model=model, max_cost=limit)
        for limit in (0.0019, 0.0022)
    ]
    assert all(done.stopped in ("", "max-cost") for done in spent)
    assert all(done.dollars <= limit for done, limit in zip(spent, (0.0019, 0.0022), strict=True))


def test_ctrl_c_ends_the_run_after_the_answers_under_way_and_the_next_one_goes_on(store: Store) -> None:
    calls = 0

    async def interrupted(batch: Batch) -> Sequence[Answer]:
        nonlocal calls
        calls += 1
        if calls == 2:
            os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(0.02)
        return [Answer("Answer: 10", "stop")] * len(batch.repetitions)

    assert threading.current_thread() is threading.main_thread()
    items = [replace(SUM, id=str(number), question=f"What is {number} - {number} + 10?") for number in range(6)]
    wanted = named("own_arithmetic", "direct", "progressive")
    done = converse(MODEL, items, wanted, store, interrupted, progress=False)
    assert done.stopped == "interrupted"
    assert 2 <= done.asked < 12
    assert done.missing > 0
    again = talk(items, wanted, store, lambda name, turns: "Answer: 10")
    assert (again.stopped, again.missing) == ("", 0)
    assert len(store) == 6 * (DRAWS + 5)


def test_a_dry_run_counts_requests_and_sends_nothing(store: Store) -> None:
    wanted = named("own_arithmetic", "direct", "progressive")
    cold = dry_run(MODEL, ALL, wanted, store)
    assert (cold.requests, cold.answers, cold.cached) == (3 * DRAWS, 3 * DRAWS, 0)
    together = dry_run(replace(MODEL, ask_together=True), ALL, wanted, store)
    assert (together.requests, together.answers) == (3, 3 * DRAWS)
    talk(ALL, wanted, store, stays_right)
    assert dry_run(MODEL, ALL, wanted, store).requests == 0
    more = dry_run(MODEL, [*ALL, replace(SUM, id="9", question="What is 9 + 1?")], wanted, store)
    assert (more.requests, more.answers, more.cached) == (DRAWS, DRAWS, len(store))


# --- what the store holds -------------------------------------------------------------------------------------------


def test_the_store_holds_no_text_of_a_benchmark(store: Store) -> None:
    secret = "a very particular zebra"
    item = Item("gsm8k", "0", f"How many stripes has {secret}?", "10", NUMBER, intermediates=("5",), public=False)
    talk(
        [item, replace(SUM, set="gsm8k", id="1")],
        named("gsm8k", "direct", "progressive"),
        store,
        lambda *_: "Answer: 10",
    )
    written = store.path.read_text(encoding="utf-8")
    assert "zebra" not in written
    held_back = [json.loads(line) for line in written.splitlines() if '"gsm8k/0/' in line]
    assert len(held_back) == DRAWS + 5
    for record in held_back:
        assert set(record) <= {"key", "item", "repetition", "text", "finish_reason", "usage", "time", "hash"}
        assert re.fullmatch(r"[0-9a-f]{64}", record["key"])
    # Our own texts are kept.
    assert written.count(SUM.question) >= DRAWS + 5


def test_answers_are_found_again_by_what_was_sent(store: Store) -> None:
    talk([SUM], named("own_arithmetic", "direct"), store, stays_right)
    begun = step(MODEL, SUM, PLAIN, store)
    response = Store(store.path).get(keys(MODEL, begun.question, 1)[0])
    assert response.item == "own_arithmetic/900/initial"
    assert read(SUM, response).value == "10"
    reworded = replace(SUM, question="What is twice 2 + 3?")
    assert store.get(keys(MODEL, step(MODEL, reworded, PLAIN, store).question, 1)[0]) is None
    assert step(MODEL, reworded, turns_of("initial>closed-A"), store) is None


def test_an_answer_that_was_cut_off_is_read_with_care(store: Store) -> None:
    async def cut(batch: Batch) -> Sequence[Answer]:
        return [Answer("Let me see. That is 2 + 3 = 5 and so Answer: 10", "length")] * len(batch.repetitions)

    converse(MODEL, [SUM], named("own_arithmetic", "direct"), store, cut, progress=False)
    # It may have been about to say 100.
    assert asked(store) == held(INITIAL)


def test_answerers_of_the_tests_are_asked_by_name(store: Store) -> None:
    seen = []

    def says(name: str, turns: str) -> str:
        seen.append((name, turns))
        return "Answer: (B)"

    converse(MODEL, [ANIMAL], named("facts_mc", "direct"), store, answerer(says), progress=False)
    assert set(seen) == {("902", turns) for turns in ("initial", *[f"initial>{kind}-A" for kind in FOLLOW_UPS])}
