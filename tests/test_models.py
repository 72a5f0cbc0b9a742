"""The registry of models: what a table may hold and what is said when it holds something else."""

import dataclasses
from pathlib import Path

import pytest

from belief_utils.asking.formats import ANSWER_FORMATS
from belief_utils.asking.models import load_model, load_models, nearest
from belief_utils.errors import BeliefError

WHOLE = 'name = "A"\nkind = "hosted"\nmodel = "a-1"\nbase_url = "http://127.0.0.1:9/v1"\n'


def models_file(folder: Path, text: str) -> Path:
    path = folder / "models.toml"
    path.write_text(text, encoding="utf-8")
    return path


def complaint(folder: Path, text: str) -> str:
    with pytest.raises(BeliefError) as caught:
        load_models(models_file(folder, text))
    said = str(caught.value)
    assert "\n" not in said
    return said


def test_the_projects_own_models_can_be_read() -> None:
    models = load_models()
    assert {"gpt5-minimal", "gpt5-high", "deepseek-r1", "llama4-scout", "smollm2"} <= set(models)
    for key, model in models.items():
        assert model.key == key
        assert model.answer_format in ANSWER_FORMATS
        assert model.base_url.startswith("https://") == (model.kind == "hosted")
        assert bool(model.api_key_env) == (model.kind == "hosted")
    assert [model.key for model in models.values() if model.paper] == [
        "gpt5-minimal",
        "gpt5-high",
        "llama4-scout",
        "deepseek-r1",
    ]


def test_reasoning_models_are_sent_neither_max_tokens_nor_a_temperature() -> None:
    for key in ("gpt5-minimal", "gpt5-high"):
        assert not {"max_tokens", "temperature"} & set(load_model(key).parameters)


def test_entries_and_defaults(tmp_path: Path) -> None:
    text = f"[a]\n{WHOLE}timeout = 600\nprice_in = 1\n[a.parameters]\ntop_p = 0.5\n[a.extra_body]\ntop_k = 0\n"
    model = load_model("a", models_file(tmp_path, text))
    assert (model.name, model.model, model.timeout, model.price_in) == ("A", "a-1", 600, 1)
    assert (model.parameters, model.extra_body) == ({"top_p": 0.5}, {"top_k": 0})
    assert (model.concurrency, model.ask_together, model.answer_format) == (1, False, "text")


def test_a_model_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        load_model("smollm2").model = "another"


@pytest.mark.parametrize(
    ("typed", "meant"), [("smolm2", "smollm2"), ("gpt5-mini", "gpt5-minimal"), ("deepseek", "deepseek-r1")]
)
def test_an_unknown_model_gets_the_nearest_name(typed: str, meant: str) -> None:
    with pytest.raises(BeliefError, match=f"unknown model '{typed}': did you mean '{meant}'"):
        load_model(typed)


def test_without_a_near_name_the_known_ones_are_listed() -> None:
    with pytest.raises(BeliefError, match=r"^unknown fruit 'zzz': known are apple, pear$"):
        nearest("zzz", ["apple", "pear"], "fruit")
    assert nearest("pear", iter(["apple", "pear"]), "fruit") == "pear"


@pytest.mark.parametrize("name", ["name", "kind", "model"])
def test_a_missing_entry_is_named(tmp_path: Path, name: str) -> None:
    text = "".join(line + "\n" for line in WHOLE.splitlines() if not line.startswith(f"{name} "))
    assert f"table [a]: the entry '{name}' is missing" in complaint(tmp_path, f"[a]\n{text}")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("pricein = 1.0", "unknown entry in {path}, table [a]: 'pricein': did you mean 'price_in'?"),
        ('concurrency = "many"', "table [a]: concurrency must be a whole number, not 'many'"),
        ("concurrency = true", "concurrency must be a whole number, not True"),
        ("concurrency = 2.5", "concurrency must be a whole number, not 2.5"),
        ("concurrency = 0", "concurrency must be at least 1"),
        ("rpm = -1", "table [a]: rpm must be 0 or more"),
        ("tpm = 0.5", "table [a]: tpm must be a whole number, not 0.5"),
        ('timeout = "60"', "timeout must be a number, not '60'"),
        ("timeout = 0", "timeout must be more than 0 seconds"),
        ("timeout = nan", "timeout must be more than 0 seconds"),
        ("price_in = false", "price_in must be a number, not False"),
        ('ask_together = "yes"', "ask_together must be true or false, not 'yes'"),
        ("api_key_env = 1", 'api_key_env must be text in "quotes", not 1'),
        ("parameters = 1", "parameters must be a [table] of its own, not 1"),
        ('answer_format = "jsn_object"', "did you mean 'json_object'?"),
        ('key = "b"', "unknown entry"),
    ],
)
def test_a_wrong_entry_is_named(tmp_path: Path, line: str, said: str) -> None:
    found = complaint(tmp_path, f"[a]\n{WHOLE}{line}\n")
    assert said.format(path=tmp_path / "models.toml") in found


def test_an_unknown_kind_and_a_hosted_model_without_address(tmp_path: Path) -> None:
    assert "did you mean 'hosted'?" in complaint(tmp_path, "[a]\n" + WHOLE.replace('"hosted"', '"host"'))
    without = WHOLE.replace('"http://127.0.0.1:9/v1"', '""')
    assert "a hosted model needs a base_url" in complaint(tmp_path, "[a]\n" + without)


def test_files_that_are_no_registry(tmp_path: Path) -> None:
    assert "is not valid TOML" in complaint(tmp_path, "[a\n")
    assert "stands outside any model's table" in complaint(tmp_path, 'name = "A"\n')
    (tmp_path / "models.toml").write_bytes(b'[a]\nname = "\xff"\n')
    with pytest.raises(BeliefError, match="is not valid TOML"):
        load_models(tmp_path / "models.toml")
    with pytest.raises(BeliefError, match="is not there; it lists the models"):
        load_models(tmp_path / "none.toml")
