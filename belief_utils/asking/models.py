"""The registry of models: what each is called, where it is and exactly what it is sent."""

import difflib
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, field
from pathlib import Path
from typing import Any, Literal

from belief_utils.asking.formats import ANSWER_FORMATS
from belief_utils.errors import BeliefError
from belief_utils.paths import data

Kind = Literal["hosted", "local", "simulated"]

_KINDS = {
    str: 'text in "quotes"',
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    dict: "a [table] of its own",
}


@dataclass(frozen=True)
class Model:
    """A model's table in ``data/models.toml``.

    Attributes:
        key: the name in files and on the command line.
        name: the name shown in tables and figures.
        kind: ``hosted`` (an OpenAI-compatible address), ``local`` (a file that runs here) or ``simulated``.
        model: the model id that is sent.
        base_url: the address of the OpenAI-compatible API; empty for models that run here.
        api_key_env: the environment variable that holds the key; empty where none is needed.
        parameters: request parameters, sent as they stand.
        extra_body: parameters outside OpenAI's own, sent as they stand.
        answer_format: how the model is held to the form of an answer (see ``formats.ANSWER_FORMATS``).
        ask_together: whether all repetitions of a case may be asked for in one request (``n``).
        concurrency: how many requests may be under way at once.
        timeout: seconds that one attempt at a request may take.
        rpm, tpm: requests and tokens per minute that the server allows; 0 for no limit.
        price_in, price_out: US dollars per million tokens.
        answer_tokens: about how many tokens an answer takes, reasoning included; for estimates only.
        paper: whether the belief paper reports on this model.
        note: a sentence for whoever reads the list of models.
        agent: the knobs of a simulated agent of the belief paper.
        respondent: the knobs of a simulated respondent of the follow-up paper.
        followup: request parameters of follow-up conversations; they replace those of ``parameters``.
        file: where a local model's weights are (``package``, ``path``, ``gguf``, ``env``, ``sha256``).
    """

    key: str
    name: str
    kind: Kind
    model: str
    base_url: str = ""
    api_key_env: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    answer_format: str = "text"
    ask_together: bool = False
    concurrency: int = 1
    timeout: float = 600.0
    price_in: float = 0.0
    price_out: float = 0.0
    answer_tokens: int = 30
    paper: bool = False
    note: str = ""
    agent: Mapping[str, float] = field(default_factory=dict)
    respondent: Mapping[str, float] = field(default_factory=dict)
    followup: Mapping[str, Any] = field(default_factory=dict)
    file: Mapping[str, str] = field(default_factory=dict)
    rpm: int = 0
    tpm: int = 0


def nearest(name: str, known: Iterable[str], what: str) -> str:
    """``name`` if it is known.

    Raises:
        BeliefError: it is not; the message gives the nearest known name and the whole list.
    """
    known = list(known)
    if name in known:
        return name
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.4)
    hint = f"did you mean {close[0]!r}? " if close else ""
    raise BeliefError(f"unknown {what} {name!r}: {hint}known are {', '.join(known)}")


def load_models(path: Path | None = None) -> dict[str, Model]:
    """All models of ``data/models.toml``, in the order of the file.

    Raises:
        BeliefError: the file is not TOML, or a table lacks an entry, has an unknown one or a value of another
            kind.
    """
    path = path or data("models.toml")
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise BeliefError(f"{path} is not there; it lists the models") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BeliefError(f"{path} is not valid TOML: {error}") from error
    return {key: _model(key, table, path) for key, table in tables.items()}


def load_model(key: str, path: Path | None = None) -> Model:
    """One model of the registry.

    Raises:
        BeliefError: there is no such model; the message gives the nearest name.
    """
    models = load_models(path)
    return models[nearest(key, models, "model")]


def _model(key: str, table: Any, path: Path) -> Model:
    where = f"{path}, table [{key}]"
    if not isinstance(table, dict):
        raise BeliefError(f"{path}: {key} stands outside any model's table; every model needs a [table]")
    fields = Model.__dataclass_fields__
    for name, value in table.items():
        nearest(name, [f for f in fields if f != "key"], f"entry in {where}:")
        _check_kind(value, fields[name], where)
    for name in ("name", "kind", "model"):
        if not table.get(name):
            raise BeliefError(f"{where}: the entry {name!r} is missing")
    nearest(table["kind"], ("hosted", "local", "simulated"), f"kind in {where}:")
    nearest(table.get("answer_format", "text"), ANSWER_FORMATS, f"answer_format in {where}:")
    if table["kind"] == "hosted" and not table.get("base_url"):
        raise BeliefError(f"{where}: a hosted model needs a base_url")
    if table.get("concurrency", 1) < 1:
        raise BeliefError(f"{where}: concurrency must be at least 1")
    for name in ("rpm", "tpm"):
        if table.get(name, 0) < 0:
            raise BeliefError(f"{where}: {name} must be 0 or more")
    if not table.get("timeout", 1) > 0:
        raise BeliefError(f"{where}: timeout must be more than 0 seconds")
    return Model(key=key, **table)


def _check_kind(value: Any, entry: Field, where: str) -> None:
    """Compare a value with the kind of its entry's default; what must be given is text."""
    if entry.default_factory is not MISSING:
        kind = dict
    else:
        kind = str if entry.default is MISSING else type(entry.default)
    # In Python True is a number too, and 600 is as good as 600.0.
    right = type(value) in (int, float) if kind is float else type(value) is kind
    if not right:
        raise BeliefError(f"{where}: {entry.name} must be {_KINDS[kind]}, not {value!r}")
