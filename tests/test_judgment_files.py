"""Files of judgments: kinds of files, columns and their synonyms, what cells mean, and one-line errors."""

import json
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from belief_utils import read_judgments
from belief_utils.errors import BeliefError

PLAIN = """\
case,repetition,belief,action,outcome
7,0,0.25,negative,0
7,1,0.3,defer,0
8,0,1,positive,1
"""


@pytest.fixture
def write(tmp_path):
    """Writes a text or bytes into a file and gives its path."""

    def writing(content, name="judgments.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return writing


def problem(path, **options):
    """The one line that reading a file fails with."""
    with pytest.raises(BeliefError) as caught:
        read_judgments(path, **options)
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_plain_csv(write):
    found = read_judgments(write(PLAIN))
    assert list(found.columns) == ["case", "repetition", "belief", "action", "outcome"]
    assert found["case"].tolist() == [7, 7, 8]
    assert found["repetition"].tolist() == [0, 1, 0]
    assert found["belief"].tolist() == [0.25, 0.3, 1.0]
    assert found["action"].tolist() == ["negative", "defer", "positive"]
    assert found["outcome"].tolist() == [0, 0, 1]
    assert found.attrs["notes"] == []


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("judgments.tsv", PLAIN.replace(",", "\t")),
        ("judgments.txt", PLAIN.replace(",", ";")),
        ("judgments.csv", "\ufeff" + PLAIN.replace("\n", "\r\n")),
        ("judgments.csv", "\n" + PLAIN.replace("\n7,1", "\n\n7,1") + ",,,,\n"),
        ("judgments.csv", PLAIN.replace("case", " Case ").replace("0.3,defer", ' "0.3" ,Defer')),
    ],
)
def test_other_ways_to_write_the_same_table(write, name, content):
    pd.testing.assert_frame_equal(read_judgments(write(content, name)), read_judgments(write(PLAIN, "plain.csv")))


def test_json_lines_may_leave_out_what_is_missing_and_hold_more(write):
    records = [
        {"id": "a", "rep": 1, "p": 0.25, "a": "treat", "theta": False, "text": ["ignored"]},
        {"id": "a", "rep": 2, "p": None, "a": "treat", "theta": False},
        {"id": "b", "rep": 1, "a": None, "theta": True},
    ]
    found = read_judgments(write("\n".join(map(json.dumps, records)) + "\n\n", "judgments.jsonl"))
    assert found["case"].tolist() == ["a", "a", "b"]
    assert found["repetition"].tolist() == [1, 2, 1]
    assert found["belief"].isna().tolist() == [False, True, True]
    assert found["action"].tolist()[:2] == ["treat", "treat"]
    assert found["action"].isna().tolist() == [False, False, True]
    assert found["outcome"].tolist() == [0, 0, 1]


def test_parquet_reads_like_csv(write, tmp_path):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed, it is optional")
    frame = pd.read_csv(write(PLAIN))
    frame["long"] = "not read"
    frame.to_parquet(tmp_path / "judgments.parquet")
    pd.testing.assert_frame_equal(read_judgments(tmp_path / "judgments.parquet"), read_judgments(write(PLAIN)))
    frame.assign(belief=[0.1, 2.0, 0.3]).to_parquet(tmp_path / "wrong.parquet")
    assert "wrong.parquet, row 2, column belief: 2.0 is outside [0, 1]" in problem(tmp_path / "wrong.parquet")


def test_parquet_without_pyarrow_says_what_to_install(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert "needs the package pyarrow" in problem(write(b"PAR1", "judgments.parquet"))


def test_a_damaged_parquet_file(write):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed, it is optional")
    assert "is not a Parquet file that can be read" in problem(write(b"PAR1", "judgments.parquet"))


@pytest.mark.parametrize(
    "header",
    ["id,rep,p,a,theta", "ID,Rep,Probability,Decision,Y", "item,trial,prob,choice,truth", "Case ID,j,P,A,True"],
)
def test_synonyms_in_any_case(write, header):
    found = read_judgments(write(PLAIN.replace("case,repetition,belief,action,outcome", header)))
    pd.testing.assert_frame_equal(found, read_judgments(write(PLAIN, "plain.csv")))


def test_other_columns_are_left_alone_and_order_does_not_matter(write):
    text = "note,outcome,p_star,action,belief_problem,belief\nx,1,.2,defer,,0.5\n"
    found = read_judgments(write(text))
    assert list(found.columns) == ["case", "repetition", "belief", "action", "outcome"]
    assert found.iloc[0].tolist() == [0, 0, 0.5, "defer", 1]


def test_columns_can_be_named(write):
    text = "p,p_yes,action,outcome\n0.9,0.2,defer,1\n"
    assert read_judgments(write(text), columns={"belief": "p_yes"})["belief"].tolist() == [0.2]
    assert "no column 'q' for belief: it has p, p_yes, action, outcome" in problem(write(text), columns={"belief": "q"})
    assert "there is no column 'credit' to name" in problem(write(text), columns={"credit": "p"})


def test_without_case_each_row_is_a_case(write):
    found = read_judgments(write("p,a,y\n.5,x,1\n.5,x,0\n"))
    assert found["case"].tolist() == [0, 1]
    assert found.attrs["notes"] == ["There is no case id: each row was taken as a case of its own."]


def test_repetitions_without_case_are_refused(write):
    assert "numbers repetitions in the column rep but has no column for case" in problem(
        write("rep,p,a,y\n0,.5,x,1\n1,.5,x,1\n")
    )


@pytest.mark.parametrize("repetition", ["", ",rep"])
def test_without_numbers_repetitions_count_within_the_case(write, repetition):
    blank = "," if repetition else ""
    rows = [f"{case},.5,x,1{blank}" for case in "abab"]
    found = read_judgments(write("\n".join([f"case,p,a,y{repetition}", *rows])))
    assert found["repetition"].tolist() == [0, 0, 1, 1]


def test_numbers_as_case_ids_keep_their_zeros(write):
    assert read_judgments(write("id,p,a,y\n007,.5,x,1\n7,.5,x,0\n"))["case"].tolist() == ["007", "7"]
    assert read_judgments(write("id,p,a,y\n10,.5,x,1\n7.0,.5,x,0\n"))["case"].tolist() == [10, 7]


@pytest.mark.parametrize(
    ("labels", "positive", "expected"),
    [
        (["yes", "no", "YES"], None, [1, 0, 1]),
        (["True", "false", "true"], None, [1, 0, 1]),
        (["1", "0", "1"], None, [1, 0, 1]),
        (["1.0", "0.0", "1"], None, [1, 0, 1]),
        (["sick", "well", "Sick"], "sick", [1, 0, 1]),
        (["sick", "well", "sick"], "well", [0, 1, 0]),
        (["well", "well", "well"], "sick", [0, 0, 0]),
        (["no", "yes", "no"], "no", [1, 0, 1]),
    ],
)
def test_outcomes_as_text(write, labels, positive, expected):
    text = "p,a,y\n" + "".join(f".5,x,{label}\n" for label in labels)
    if labels == ["sick", "well", "Sick"]:
        assert "third outcome" in problem(write(text), positive=positive)
        return
    assert read_judgments(write(text), positive=positive)["outcome"].tolist() == expected


def test_two_labels_need_the_positive_one(write):
    path = write("p,a,y\n.5,x,sick\n.5,x,well\n")
    assert "line 2, column y: 'sick' is neither 1 or 0" in problem(path)
    assert "--positive" in problem(path)
    assert "no outcome is 'ill'; they are sick and well" in problem(path, positive="ill")


def test_percent_only_when_asked_for(write):
    path = write("p,a,y\n30,x,1\n0.5,x,0\n 45 % ,x,1\n")
    assert "line 2, column p: 30 is outside [0, 1]; for beliefs in percent use --percent" in problem(path)
    found = read_judgments(path, percent=True)
    assert found["belief"].tolist() == [0.30, 0.005, 0.45]
    assert found.attrs["notes"][-1] == "Beliefs were read as percentages."
    assert "101 is outside [0, 100]" in problem(write("p,a,y\n101,x,1\n"), percent=True)
    assert "use --percent" in problem(write("p,a,y\n45%,x,1\n"))
    assert "percent" not in problem(write("p,a,y\n-0.1,x,1\n"))


def test_percent_of_small_numbers_is_doubted(write, caplog):
    read_judgments(write("p,a,y\n0.3,x,1\n0.9,x,0\n"), percent=True)
    assert "really in percent" in caplog.text


def test_missing_values(write):
    found = read_judgments(write("case,p,a,y\n1,,x,1\n1,NA,,1\n2,nan,None,\n3,0.5,NULL,None\n"))
    assert found["belief"].isna().tolist() == [True, True, True, False]
    assert found["action"].isna().tolist() == [False, True, False, True]
    assert found["action"][2] == "None"
    assert found["outcome"].tolist()[:2] == [1, 1]
    assert found["outcome"].isna().tolist() == [False, False, True, True]


def test_actions_keep_their_names_unless_replaced(write):
    path = write("p,a,y\n.5,POSITIVE,1\n.5,Wait ,1\n.5,wait,1\n")
    assert read_judgments(path)["action"].tolist() == ["positive", "Wait", "wait"]
    assert read_judgments(path, actions={"wait": "defer"})["action"].tolist() == ["positive", "Wait", "defer"]
    assert "no action is 'treat'; they are POSITIVE, Wait, wait" in problem(path, actions={"treat": "positive"})


STATES = """\
case,belief_flu,belief_cold,belief_none of these,action,outcome
1,.5,.25,.25,rest,cold
2,.1,.9,0,tea,None of these
3,.1,.9,,tea,flu
"""


def test_more_than_two_outcomes(write):
    found = read_judgments(write(STATES))
    assert list(found.columns)[2:5] == ["belief_flu", "belief_cold", "belief_none of these"]
    assert found["outcome"].tolist() == ["cold", "none of these", "flu"]
    one = read_judgments(write(STATES), positive="cold")
    assert one["belief"].tolist() == [0.25, 0.9, 0.9]
    assert one["outcome"].tolist() == [1, 0, 0]
    assert "line 2: " not in problem(write(STATES), positive="measles")
    text = problem(write(STATES.replace("rest,cold", "rest,measles")))
    assert "line 2, column outcome: 'measles' has no column belief_measles" in text
    text = problem(write(STATES.replace("2,.1,.9", "2,.1,.5")))
    assert "line 3, columns belief_flu, belief_cold, belief_none of these: beliefs add up to 0.6, not to 1" in text


def test_two_outcomes_with_a_belief_about_each(write):
    found = read_judgments(write("belief_yes,belief_no,action,outcome\n.3,.7,x,no\n.4,.6,x,yes\n"))
    assert found["belief"].tolist() == [0.3, 0.4]
    assert found["outcome"].tolist() == [0, 1]
    path = write("belief_sick,belief_well,action,outcome\n.3,.7,x,well\n")
    assert "say which of sick, well is the positive outcome" in problem(path)
    assert read_judgments(path, positive="well")["belief"].tolist() == [0.7]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "judgments.csv is empty"),
        ("\n \n", "judgments.csv is empty"),
        ("p,a,y\n", "judgments.csv has no rows below its header"),
        ("p,a\n.5,x\n", "has no column for outcome: call it outcome, theta, y, truth"),
        ("b,a,y\n.5,x,1\n", "no column for belief: call it belief, p, probability"),
        ("p,a,y,belief\n.5,x,1,.5\n", "the columns p, belief could both be belief"),
        ("p,p,a,y\n.5,.5,x,1\n", "the columns p, p could both be belief"),
        ("p,a,y\n.5,x,1\n.5,x\n", "line 3: 2 values where the header has 3 columns"),
        ("p,a,y\n.5,x,1,2\n", "line 2: 4 values where the header has 3 columns"),
        ("p,a,y\n\n.5,x,1\nhigh,x,1\n", "line 4, column p: 'high' is not a number"),
        ("p,a,y\n0_5,x,1\n", "line 2, column p: '0_5' is not a number"),
        ('p,a,y\n"0,5",x,1\n', "line 2, column p: '0,5' is not a number"),
        ("p,a,y\n1.5,x,1\n7,x,1\n1.5,x,1\n", "line 2, column p: 1.5 is outside [0, 1]"),
        ("p,a,y\n1.5,x,1\n.7,x,1\n1.5,x,1\n", "(the first of 2 such lines)"),
        ("p,a,y\ninf,x,1\n", "line 2, column p: inf is outside [0, 1]"),
        ('p,a,y\n.5,"two\nlines",1\n.5,x,0.3\n', "line 4, column y: 0.3 is neither 1 or 0, yes or no"),
        ("p,a,y\n.5,x,1\n.5,x,0\n.5,x,maybe\n", "line 4, column y: 'maybe' is a third outcome"),
        ("p,a,y\n.5,x,a\n.5,x,b\n.5,x,c\n", "line 4, column y: 'c' is a third outcome"),
        ("id,p,a,y\n3,.5,x,yes\n4,.5,x,no\n3,.5,x,no\n", "y: case 3 has the outcome 'no' here and 'yes' on line 2"),
        ("id,p,a,y\n3,.5,x,1\n,.5,x,1\n", "line 3, column id: the case id is missing"),
        ("id,rep,p,a,y\n3,1,.5,x,1\n3,1,.5,x,1\n", "line 3, column rep: repetition 1 of case 3 is on line 2 already"),
        ("id,rep,p,a,y\n3,first,.5,x,1\n", "line 2, column rep: 'first' is not a whole number"),
        ("id,rep,p,a,y\n3,1,.5,x,1\n3,,.5,x,1\n", "line 3, column rep: '' is not a whole number"),
        ('p,a,y\n.5,"x,1\n' + ".5,x,1\n" * 30_000, "is a quotation mark not closed?"),
        ("p,a,y\n.5,x,1\n".encode("utf-16"), "line 1: not UTF-8 text"),
        ("p,a,y\n.5,x,1\n.5,é,1\n".encode("latin-1"), "line 3: not UTF-8 text; save it as UTF-8"),
    ],
)  # fmt: skip
def test_bad_input_is_named_in_one_line(write, text, told):
    assert told in problem(write(text))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"p": 0.5, "a": "x", "y": 1}\n{"p": 0.5,\n', "judgments.jsonl, line 2: not JSON"),
        ('\n[{"p": 0.5, "a": "x", "y": 1}]\n', "line 2: not a JSON object"),
        ('{"p": [0.5], "a": "x", "y": 1}\n', "line 1, column p: neither text nor a number"),
        ('{"p": true, "a": "x", "y": 1}\n', "line 1, column p: 'True' is not a number"),
        ('{"p": 0.5, "a": "x"}\n', "no column for outcome"),
        ("", "judgments.jsonl is empty"),
    ],
)
def test_bad_json_lines(write, text, told):
    assert told in problem(write(text, "judgments.jsonl"))


def test_files_that_are_not_there(tmp_path):
    assert "there is no file" in problem(tmp_path / "nothing.csv")
    assert "there is no file" in problem(tmp_path)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.one_of(st.none(), st.floats(0, 1)),
            st.one_of(st.none(), st.text(st.characters(codec="utf-8", exclude_categories=["C"]), min_size=1)),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_what_is_written_is_read(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("round") / "judgments.csv"
    given_frame = pd.DataFrame(rows, columns=["belief", "action"]).assign(outcome=1)
    given_frame.to_csv(path, index=False)
    found = read_judgments(path)
    np.testing.assert_array_equal(found["belief"].to_numpy(), given_frame["belief"].to_numpy(float))
    missing = {"", "na", "n/a", "nan", "null"}
    for read, (_, written) in zip(found["action"], rows, strict=True):
        text = (written or "").strip()
        if text.casefold() in missing:
            assert pd.isna(read)
        elif text.casefold() not in ("positive", "negative", "defer"):
            assert read.strip() == text or read == text.split(".")[0]


def test_a_hundred_thousand_rows(write):
    rng = np.random.default_rng(0)
    n = 100_000
    frame = pd.DataFrame(
        {
            "case": np.arange(n) // 5,
            "repetition": np.arange(n) % 5,
            "belief": rng.random(n),
            "action": rng.choice(["positive", "negative", "defer"], n),
            "outcome": (np.arange(n) // 5) % 2,
        }
    )
    path = write(frame.to_csv(index=False))
    pd.testing.assert_frame_equal(read_judgments(path), frame, check_dtype=False)
