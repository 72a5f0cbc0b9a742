"""OpenAI's Batch form: a file of requests that is answered within a day at a lower price, and its results.

The lines are those that OpenAI documents for its Batch API: a request has ``custom_id``, ``method``, ``url`` and
``body``; a result has the ``custom_id``, and a ``response`` with ``status_code`` and ``body``, or an ``error`` with
``code`` and ``message``. Results come in any order, errors often in a file of their own.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from belief_utils.asking.ask import missing
from belief_utils.asking.cost import price
from belief_utils.asking.models import Model
from belief_utils.asking.questions import Batch, Question, RequestFailed, line_for, what_is_sent
from belief_utils.asking.replies import answers_of
from belief_utils.asking.responses import request_key
from belief_utils.asking.store import Store
from belief_utils.errors import BeliefError

URL = "/v1/chat/completions"
#: Requests and bytes that one file may have.
MOST_REQUESTS = 50_000
MOST_BYTES = 200_000_000


@dataclass
class Taken:
    """What a file of results brought.

    Attributes:
        answers: answers that are in the store now and were not before.
        known: answers that the store had already, or that stood in the file twice; the first one counts.
        failed: answers that failed requests were to bring; kept as failures.
        short: answers that a reply lacked.
        unknown: ``custom_id`` of results that belong to none of the questions.
        unread: the numbers of lines that are no results.
        tokens_in, tokens_out: as the server counted them, for the new answers.
        dollars: for these tokens, at the prices of the model's table.
        problems: how often what went wrong.
    """

    answers: int = 0
    known: int = 0
    failed: int = 0
    short: int = 0
    unknown: list[str] = field(default_factory=list)
    unread: list[int] = field(default_factory=list)
    tokens_in: int = 0
    tokens_out: int = 0
    dollars: float = 0.0
    problems: Counter[str] = field(default_factory=Counter)


def custom_id(batch: Batch) -> str:
    """The name of a request: the start of the key of its repetition 0, then the repetitions that it brings."""
    return f"{request_key(batch.sent, 0)[:32]}.{'-'.join(map(str, batch.repetitions))}"


def write_requests(path: Path, model: Model, questions: Iterable[Question], repetitions: int, store: Store) -> int:
    """Write what the store lacks as a file of requests.

    Returns:
        How many requests it has.

    Raises:
        BeliefError: the file would be larger than the service takes, or cannot be written.
    """
    batches, _ = missing(model, questions, repetitions, store)
    if len(batches) > MOST_REQUESTS:
        raise BeliefError(
            f"{len(batches):,} requests are more than one batch may have ({MOST_REQUESTS:,}); use --cases"
        )
    lines = []
    for batch in batches:
        more = {"n": len(batch.repetitions)} if len(batch.repetitions) > 1 else {}
        line = {"custom_id": custom_id(batch), "method": "POST", "url": URL, "body": {**batch.sent, **more}}
        lines.append(json.dumps(line) + "\n")
    content = "".join(lines)
    if len(content) > MOST_BYTES:
        raise BeliefError(f"{len(content):,} bytes are more than one batch may have ({MOST_BYTES:,}); use --cases")
    try:
        path.write_text(content, encoding="ascii")
    except OSError as error:
        raise BeliefError(f"{path} cannot be written ({error.strerror})") from error
    return len(batches)


def take_results(
    path: Path,
    model: Model,
    questions: Iterable[Question],
    store: Store,
    waiting: Callable[[], None] | None = None,
) -> Taken:
    """Take a file of results into the store.

    Args:
        questions: all that the file's requests may have been made from.
        waiting: called once if another process holds the store.

    Raises:
        BeliefError: the file cannot be read, or the store cannot be written to. What was taken until then is kept,
            and taking the same file again does no harm.
    """
    asked: dict[str, Batch] = {}
    for question in questions:
        sent = what_is_sent(model, question)
        asked.setdefault(request_key(sent, 0)[:32], Batch(question, sent, ()))
    taken = Taken()
    try:
        with path.open("rb") as file, store.writing(waiting):
            for number, line in enumerate(file, start=1):
                if line.strip() and not _take(line, model, asked, store, taken):
                    taken.unread.append(number)
            store.sync()
    except OSError as error:
        raise BeliefError(f"{path} cannot be read ({error.strerror})") from error
    return taken


def _take(line: bytes, model: Model, asked: Mapping[str, Batch], store: Store, taken: Taken) -> bool:
    """Take one line; ``False`` where it is no result."""
    try:
        result = json.loads(line)
        name = result["custom_id"]
        start, _, rest = name.partition(".")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return False
    batch = asked.get(start)
    if batch is None or not rest.replace("-", "").isdigit():
        taken.unknown.append(name)
        return True
    batch = batch.only([int(number) for number in rest.split("-") if number])
    lacking = [r for r in batch.repetitions if store.get(request_key(batch.sent, r)) is None]
    taken.known += len(batch.repetitions) - len(lacking)
    if not lacking:
        return True
    try:
        answers = answers_of(_body(result))
    except RequestFailed as failure:
        for repetition in lacking:
            store.append(line_for(batch, repetition, failure), sync=False)
        taken.failed += len(lacking)
        taken.problems[str(failure)] += 1
        return True
    for repetition, answer in zip(batch.repetitions, answers, strict=False):
        if repetition in lacking:
            store.append(line_for(batch, repetition, answer), sync=False)
            taken.answers += 1
            lacking.remove(repetition)
    taken.short += len(lacking)
    _bill(model, answers, taken)
    return True


def _body(result: Mapping[str, Any]) -> Any:
    """The reply in a result.

    Raises:
        RequestFailed: there is an error in its place.
    """
    response = result.get("response")
    error = result.get("error")
    if isinstance(response, dict) and response.get("status_code") == 200 and not error:
        return response.get("body")
    what = "no answer"
    if isinstance(response, dict) and response.get("status_code") != 200:
        what = f"status {response.get('status_code')}"
        body = response.get("body")
        error = error or (body.get("error", body) if isinstance(body, dict) else body)
    elif isinstance(error, dict) and error.get("code"):
        what = str(error["code"])
    told = (error.get("message") if isinstance(error, dict) else error) or ""
    text = " ".join(f"{what}: {told}".removesuffix(": ").split())
    raise RequestFailed("".join(character for character in text if character.isprintable())[:300])


def _bill(model: Model, answers: Sequence[Any], taken: Taken) -> None:
    usage = answers[0].usage or {}
    tokens_in, tokens_out = usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0)
    taken.tokens_in += tokens_in
    taken.tokens_out += tokens_out
    taken.dollars += price(model, tokens_in, tokens_out)
