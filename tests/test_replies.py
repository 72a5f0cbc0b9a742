"""From a reply's JSON to answers: what a server may leave out, and what is no reply."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belief_utils.asking.questions import RequestFailed
from belief_utils.asking.replies import answers_in, answers_of

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["choices", "message", "content", "index", "usage", "logprobs", "token", "prompt_tokens"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=15,
)


def reply(**more) -> dict:
    return {"choices": [{"index": 0, "finish_reason": "stop", "message": {"content": "yes"}}], **more}


def test_what_a_server_may_leave_out() -> None:
    (answer,) = answers_of({"choices": [{"message": {"content": "yes"}}]})
    assert answer.text == "yes"
    assert {answer.finish_reason, answer.usage, answer.model, answer.fingerprint, answer.reasoning} == {None}


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_thoughts_are_read_under_either_name(name: str) -> None:
    whole = reply()
    whole["choices"][0]["message"][name] = "hm"
    assert answers_of(whole)[0].reasoning == "hm"


def test_log_probabilities_are_kept_in_brief() -> None:
    whole = reply()
    top = [{"token": "yes", "logprob": -0.1, "bytes": [1]}, {"token": "no", "logprob": -2.0, "bytes": None}]
    whole["choices"][0]["logprobs"] = {"content": [{**top[0], "top_logprobs": top}], "refusal": None}
    assert answers_of(whole)[0].logprobs == [{"token": "yes", "logprob": -0.1, "top": [["yes", -0.1], ["no", -2.0]]}]


@pytest.mark.parametrize("usage", [None, 7, {"prompt_tokens": "many"}])
def test_a_count_that_is_none_is_no_count(usage: object) -> None:
    assert answers_of(reply(usage=usage))[0].usage is None


def test_the_bill_stands_with_the_first_answer() -> None:
    whole = reply(usage={"prompt_tokens": 5, "completion_tokens": None})
    whole["choices"].append({"index": 1, "message": {"content": "no"}})
    assert [answer.usage for answer in answers_of(whole)] == [{"prompt_tokens": 5, "completion_tokens": 0}, None]


@given(anything)
def test_no_reply_whatever_is_more_than_a_failed_request(whole: object) -> None:
    said, answers = "the server's reply ", []
    try:
        answers = answers_in(json.dumps(whole).encode())
    except RequestFailed as failure:
        said = str(failure)
    assert said.startswith("the server's reply ")
    assert all(isinstance(answer.text, str) for answer in answers)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[" * 100_000])
def test_what_is_not_json(content: bytes) -> None:
    with pytest.raises(RequestFailed, match=r"^the server's reply is not JSON$"):
        answers_in(content)
