"""The form that an answer is asked in, for every way that a model can be held to it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

#: How a model may be held to the form; each model's table in models.toml names one.
ANSWER_FORMATS = ("grammar", "json_schema", "json_object", "text")

_PROBABILITY = "probability"


@dataclass(frozen=True)
class AnswerFormat:
    """A flat JSON object: per field either a probability or one of a few words.

    Attributes:
        fields: pairs of a field's name and what it holds, ``"probability"`` or a tuple of the words allowed;
            without any the answer is free text.
    """

    fields: tuple[tuple[str, str | tuple[str, ...]], ...]

    @classmethod
    def probabilities(cls, labels: tuple[str, ...]) -> "AnswerFormat":
        """One probability per label, in the order of the labels."""
        return cls(tuple((label, _PROBABILITY) for label in labels))

    def instruction(self) -> str:
        """The sentence that ends a prompt; it shows no number that a model could repeat."""
        parts = [f"{json.dumps(name, ensure_ascii=False)}: {_shown(kind)}" for name, kind in self.fields]
        text = "Answer with JSON only, in the form {" + ", ".join(parts) + "}"
        if any(kind == _PROBABILITY for _, kind in self.fields):
            text += ", where each probability is a number between 0 and 1"
        return text + "."

    def grammar(self) -> str:
        """The form as a GBNF grammar (llama.cpp): probabilities have two decimals."""
        rules = []
        parts = []
        for number, (name, kind) in enumerate(self.fields):
            opening = ("{" if number == 0 else ", ") + json.dumps(name, ensure_ascii=False) + ": "
            if kind == _PROBABILITY:
                rule = "p"
            else:
                rule = f"word{number}"
                words = " | ".join(_quoted(json.dumps(word, ensure_ascii=False)) for word in kind)
                rules.append(f"{rule} ::= {words}")
            parts.append(f"{_quoted(opening)} {rule}")
        if any(kind == _PROBABILITY for _, kind in self.fields):
            rules.append('p ::= "0." [0-9] [0-9] | "1.00"')
        return "\n".join(["root ::= " + " ".join(parts) + ' "}"', *rules])

    def schema(self) -> dict[str, Any]:
        """The form as a JSON schema; the bounds of numbers are stated though few servers enforce them."""
        properties: dict[str, Any] = {}
        for name, kind in self.fields:
            if kind == _PROBABILITY:
                properties[name] = {"type": "number", "minimum": 0, "maximum": 1}
            else:
                properties[name] = {"type": "string", "enum": list(kind)}
        return {
            "type": "object",
            "properties": properties,
            "required": [name for name, _ in self.fields],
            "additionalProperties": False,
        }

    def parameters(self, how: str) -> Mapping[str, Any]:
        """What is added to a request so that a model keeps the form.

        Args:
            how: one of :data:`ANSWER_FORMATS`; ``"text"`` adds nothing.
        """
        if not self.fields:
            return {}
        if how == "grammar":
            return {"grammar": self.grammar()}
        if how == "json_schema":
            schema = {"name": "answer", "strict": True, "schema": self.schema()}
            return {"response_format": {"type": "json_schema", "json_schema": schema}}
        if how == "json_object":
            return {"response_format": {"type": "json_object"}}
        return {}


def _shown(kind: str | tuple[str, ...]) -> str:
    if kind == _PROBABILITY:
        return _PROBABILITY
    return " or ".join(json.dumps(word, ensure_ascii=False) for word in kind)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
