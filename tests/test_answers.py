import re
import string
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from belief_utils.beliefs.answers import (
    PROBLEMS,
    ParsedDecision,
    ParsedProbabilities,
    parse_decision,
    parse_probabilities,
)
from belief_utils.errors import BeliefError

# Answer, P(Yes) or None where it is missing, and the problem.
THE_RULES = [
    ("No: 0.7, Yes: 0.3", 0.3, None),
    ("Yes: 30%\nNo: 70%", 0.3, None),
    ('{"No": 0.7, "Yes": 0.3}', 0.3, None),
    ('```json\n{"No": 0.7, "Yes": 0.3}\n```', 0.3, None),
    ("**Yes:** 30% (95% CI 20-40%)", 0.3, None),
    ("Yes: 0.30; No: 0.75", 0.3 / 1.05, "sum"),
    ("Probability: 0,3", 0.3, None),
    ("Wahrscheinlichkeit: 30,5 %", 0.305, None),
    ("Probability: 1%", 0.01, None),
    ("Probability: 1", None, "scale"),
    ("Probability: 150%", None, "out of range"),
    ("Between 20% and 30%", None, "range"),
    ("about 1 in 10", 0.1, None),
    ("odds of 3:1 against", 0.25, None),
    ("Yes: >99%", None, "censored"),
    ("p = 3e-2", 0.03, None),
    ("Yes: .3", 0.3, None),
    ("Yes: 30％", 0.3, None),
    ("I cannot provide medical probabilities.", None, "refusal"),
    ("<think>maybe 80%?</think> Yes: 30%", 0.3, None),
    ("The prevalence is 12%. Yes: 0.3", 0.3, None),
    ("Yes: 0.3. Note that 95% of cases are benign.", 0.3, None),
    ("| No | 70% |\n| Yes | 30% |", 0.3, None),
    ("Yes: 33.33%, No: 66.67%", 0.3333, None),
    ("Yes: 0", 0.0, None),
    ("Yes: -0.1", None, "out of range"),
    ('{"No": 0.00, "Yes": 0.00}', None, "all zero"),
    ('{"No": 2018, "Yes": 2018}', None, "scale"),
    ('{"No": 100, "Yes": 90}', None, "scale"),
]
JSON_AND_TABLES = [
    ('{"Yes": 0.3, "No": 0.7}', 0.3, None),
    ('{"No": "70%", "Yes": "30%"}', 0.3, None),
    ("{'No': 0.7, 'Yes': 0.3,}", 0.3, None),
    ("{No: 0.7, Yes: 0.3}", 0.3, None),
    ('{\n  "No": 0.7,\n  "Yes": 0.3\n}', 0.3, None),
    ('"{\\"No\\": 0.7, \\"Yes\\": 0.3}"', 0.3, None),
    ('{"probabilities": {"No": 0.7, "Yes": 0.3}}', 0.3, None),
    ('{"Yes": {"probability": 0.3}, "No": {"probability": 0.7}}', 0.3, None),
    ('[{"label": "No", "probability": 0.7}, {"label": "Yes", "probability": 0.3}]', 0.3, None),
    ('[{"probability": 0.7, "label": "No"}, {"probability": 0.3, "label": "Yes"}]', 0.3, None),
    ('{"labels": ["No", "Yes"], "probabilities": [0.7, 0.3]}', 0.3, None),
    ('{"yes_probability": 0.3, "no_probability": 0.7}', 0.3, None),
    ('{"pYes": 0.3, "pNo": 0.7}', 0.3, None),
    ('{"P(Yes)": 0.3, "P(No)": 0.7}', 0.3, None),
    ('{"No": 0.7, "Yes": 0.3, "confidence": 0.9}', 0.3, None),
    ('{"probability": 0.3}', 0.3, None),
    ('{"answer": "No", "probability": 0.3}', None, "ambiguous"),
    ('{"Yes": null}', None, "no number"),
    ('{"Yes": null, "No": 0.7}', None, "no number"),
    ('{"Yes": "unknown"}', None, "no number"),
    ('{"Yes": NaN, "No": NaN}', None, "out of range"),
    ('{"No": 0.7, "Yes":', None, "no number"),
    ('```python\nprobabilities = {"No": 0.7, "Yes": 0.3}\n```', 0.3, None),
    ("| Outcome | Probability |\n|:--|--:|\n| No | 0.70 |\n| Yes | 0.30 |", 0.3, None),
    ("| No | Yes |\n|---|---|\n| 70% | 30% |", 0.3, None),
    ("| 1 | No | 70% |\n| 2 | Yes | 30% |", 0.3, None),
    ("| | Prior | Posterior |\n| Yes | 12% | 30% |\n| No | 88% | 70% |", None, "ambiguous"),
    ("| QRS prolonged | Yes |\n| ST abnormal | No |\n| Probability | 0.35 |", 0.35, None),
    ("<table><tr><td>No</td><td>70%</td></tr><tr><td>Yes</td><td>30%</td></tr></table>", 0.3, None),
    ("label,probability\nNo,0.7\nYes,0.3", 0.3, None),
    ("No;0.7\nYes;0.3", 0.3, None),
    ("Yes\t0.3\nNo\t0.7", 0.3, None),
    ("<Yes>0.3</Yes><No>0.7</No>", 0.3, None),
    ("<answer>Yes: 0.3, No: 0.7</answer>", 0.3, None),
]
LABELS_AND_SIDES = [
    ("Yes: 30% / No: 70%", 0.3, None),
    ("30% Yes / 70% No", 0.3, None),
    ("30% Yes, 70% No", 0.3, None),
    ("70% No, 30% Yes", 0.3, None),
    ("Yes 30% No 70%", 0.3, None),
    ("Yes, 30%; No, 70%", 0.3, None),
    ("Yes, 30%, No, 70%", 0.3, None),
    ("Yes - 30%\nNo - 70%", 0.3, None),
    ("Yes—30%; No—70%", 0.3, None),
    ("Yes -30%\nNo -70%", 0.3, None),
    ("Yes → 0.3; No → 0.7", 0.3, None),
    ("No => 0.7, Yes => 0.3", 0.3, None),
    ("Yes ..... 30%\nNo ..... 70%", 0.3, None),
    ("Yes (30%), No (70%)", 0.3, None),
    ("0.3 (Yes), 0.7 (No)", 0.3, None),
    ("P(Yes) = 0.3", 0.3, None),
    ("P(Yes | x) = 0.3, P(No | x) = 0.7", 0.3, None),
    ("0.35 = P(Yes)", 0.35, None),
    ("Yes: 30%No: 70%", 0.3, None),
    ("Yes: 0.30No: 0.70", 0.3, None),
    ("YES: 0.3 NO: 0.7", 0.3, None),
    ("yes: 30, no: 70", 0.3, None),
    ("No: 0.7", 0.3, None),
    ("No: 70%", 0.3, None),
    ("Yes\n30%\nNo\n70%", 0.3, None),
    ("## Yes\n0.3\n## No\n0.7", 0.3, None),
    ("Yes:\n- Probability: 0.3\n- Reason: ECG\nNo:\n- Probability: 0.7", 0.3, None),
    ("No/Yes: 70/30", 0.3, None),
    ("No and Yes: 0.7 and 0.3, respectively", 0.3, None),
    ("Yes and No are 35% and 65% respectively", 0.35, None),
    ("Probability (No, Yes) = (0.7, 0.3)", 0.3, None),
    ("Probabilities for No and Yes:\nNo: 0.7\nYes: 0.3", 0.3, None),
    ("Yes/No: 0.3", None, "ambiguous"),
    ("The probability of Yes is 30% and the probability of No is 70%.", 0.3, None),
    ("I would assign a 30% probability to Yes and 70% to No.", 0.3, None),
    ("Yes has probability 0.3 and No has probability 0.7", 0.3, None),
    ("Yes (has SHD): 0.30\nNo (does not): 0.70", 0.3, None),
    ("Yes, they have SHD: 30%\nNo, they do not: 70%", 0.3, None),
    ("No, with a probability of 70%", 0.3, None),
    ("1. No: 0.7\n2. Yes: 0.3", 0.3, None),
    ("No: 0.7 2. Yes: 0.3", 0.3, None),
    ("1️⃣ No: 0.7\n2️⃣ Yes: 0.3", 0.3, None),
    ("0.3 Yes 0.7", None, "ambiguous"),
    ("There is no 100% certainty, but Yes: 0.3, No: 0.7", 0.3, None),
    ("There is no chance: 0%", 0.0, None),
    ("P(no SHD) = 0.7; P(SHD) = 0.3", 0.3, None),
    ("Yesterday 30% of Nobody; Note 0.4", None, "ambiguous"),
    ("№ 5: 0.3", 0.3, None),
]
NUMBERS = [
    ("Yes: ٠٫٣", 0.3, None),
    ("Yes: ۳۰٪", 0.3, None),
    ("Yes: ३०%", 0.3, None),
    ("Yes：０.３；No：０.７", 0.3, None),
    ("Yes: 30 percent; No: 70 per cent", 0.3, None),
    ("30 Prozent", 0.3, None),
    ("Yes: 300‰", 0.3, None),
    ("Yes: %30", 0.3, None),
    ("$P(\\text{Yes}) = \\frac{3}{10}$", 0.3, None),
    ("P(\\text{Yes} \\mid x) = 0.3", 0.3, None),
    ("\\[ \\boxed{\\text{Yes}: 0.3, \\text{No}: 0.7} \\]", 0.3, None),
    ("The prior is 0.1, so \\boxed{30\\%}", 0.3, None),
    ("$0.3$", 0.3, None),
    ("Yes: 3×10⁻²", 0.03, None),
    ("Yes: $3 \\times 10^{-2}$", 0.03, None),
    ("Yes: 3*10^-1", 0.3, None),
    ("Yes: 1e400", None, "out of range"),
    ("Yes: 0,003", 0.003, None),
    ("Yes: 0·3", 0.3, None),
    ("Yes: 0. 3", None, "ambiguous"),
    ("1 in 1,000", 0.001, None),
    ("1 in 10.000", 0.0001, None),
    ("3 out of 10", 0.3, None),
    ("Yes: 3/10, No: 7/10", 0.3, None),
    ("¼", 0.25, None),
    ("one in a hundred", 0.01, None),
    ("A 1-in-5 chance.", 0.2, None),
    ("3 to 1 in favour", 0.75, None),
    ("The odds are 4 to 1 against.", 0.2, None),
    ("odds of 9:1 in favor of No", 0.1, None),
    ("Odds: 1 to 3", None, "ambiguous"),
    ("The odds are 0.43", None, "ambiguous"),
    ("thirty percent", 0.3, None),
    ("Yes: thirty-five percent, No: sixty-five percent", 0.35, None),
    ("ninety-nine point five percent", 0.995, None),
    ("zero point three", 0.3, None),
    ("Yes: zero", 0.0, None),
    ("one third", None, "no number"),
    ("50/50", 0.5, None),
    ("fifty-fifty", 0.5, None),
    ("Yes: 50/50", 0.5, None),
    ("30/70", None, "no number"),
    ("Yes: 0.3 (30%)\nNo: 0.7 (70%)", 0.3, None),
    ("Yes: 1 in 3 (about 33%)", 1 / 3, None),
    ("~30%", 0.3, None),
    ("approximately .3", 0.3, None),
    ("almost 30%", 0.3, None),
    ("Yes: ~~0.5~~ 0.3", 0.3, None),
]
SCALE_AND_SUM = [
    ("Yes: 1.5", None, "scale"),
    ("Yes: 30", None, "scale"),
    ("Yes: 1", None, "scale"),
    ('{"Yes": 1.0}', None, "scale"),
    ("1.5", None, "scale"),
    ("30", None, "scale"),
    ("Yes: 3, No: 7", None, "scale"),
    ("Yes: 1,000", None, "scale"),
    ("Yes: 1, No: 0", 1.0, None),
    ('{"No": 0, "Yes": 100}', 1.0, None),
    ("Yes: 0.5, No: 99.5", 0.005, None),
    ("Yes: 30%, No: 70", 0.3, None),
    ("No: 99%, Yes: 1", 0.01, None),
    ("Yes: 0.30, No: 0.72", 0.30 / 1.02, None),
    ("Yes: 0.30, No: 0.73", 0.30 / 1.03, "sum"),
    ("Yes: 30, No: 72", 0.30 / 1.02, None),
    ("Yes: 30, No: 73", None, "scale"),
    ("Yes: 60%, No: 60%", 0.5, "sum"),
    ("Yes: 0, No: 0.5", 0.0, "sum"),
    ("Yes: 0%, No: 0%", None, "all zero"),
    ("Yes: 101%", None, "out of range"),
    ("Yes: −5%", None, "out of range"),
    ("minus 10%", None, "out of range"),
    ("Yes: -30%, No: 130%", None, "out of range"),
    ("Yes: Infinity", None, "out of range"),
]
NO_SINGLE_VALUE = [
    ("20–30%", None, "range"),
    ("20 — 30 %", None, "range"),
    ("0.2 to 0.3", None, "range"),
    ("from 20% to about 30%", None, "range"),
    ("20..30%", None, "range"),
    ("20 bis 30 %", None, "range"),
    ("twenty to thirty percent", None, "range"),
    ("1 in 5 to 1 in 4", None, "range"),
    ("Yes: 0.3-0.4, No: 0.6-0.7", None, "range"),
    ("Yes: 30%, No: 60-70%", None, "range"),
    ("95% CI: 20-40%", None, "range"),
    ("Yes: 20% or 30%", None, "ambiguous"),
    ("Yes: 0.2, 0.3", None, "ambiguous"),
    ("Yes: 12% -> 30%", None, "ambiguous"),
    ("<1%", None, "censored"),
    ("&lt;1%", None, "censored"),
    ("probability<1%", None, "censored"),
    ("Yes>=.3", None, "censored"),
    ("less than 5%", None, "censored"),
    ("Yes: no more than 5%", None, "censored"),
    ("at least 40%", None, "censored"),
    ("Yes: 0.3+", None, "censored"),
    ("30% or more", None, "censored"),
    ("slightly over 30%", None, "censored"),
    ("nearly 100%", None, "censored"),
    ("close to 0%", None, "censored"),
    ("Yes: 30% [20%, 40%]", 0.3, None),
    ("Yes: 30%, 95% CI 20–40%", 0.3, None),
    ("Yes: 0.3 ± 0.05", 0.3, None),
    ("5 +/- 2%", 0.05, None),
    ("Probability: 30% (range 20-40%)", 0.3, None),
    ("Probability (0-1): 0.3", 0.3, None),
    ("On a scale of 0-100%, 30%", 0.3, None),
]
REFUSALS = [
    ("", None, "empty"),
    (" \n ", None, "empty"),
    ("<think>hmm</think>", None, "empty"),
    ("As an AI I can't give a probability", None, "refusal"),
    ("I'm sorry, but I can't assist with that.", None, "refusal"),
    ("I must decline.", None, "refusal"),
    ("It is not possible to determine the probability without further tests.", None, "refusal"),
    ("There is insufficient information to estimate this.", None, "refusal"),
    ("I don’t feel comfortable giving a number.", None, "refusal"),
    ("Ich kann keine Wahrscheinlichkeit angeben.", None, "refusal"),
    ("Please consult a doctor.", None, "refusal"),
    ("I cannot provide a probability. 95% of cases are benign.", None, "refusal"),
    ("I can't provide a probability such as 30% or 70%.", None, "refusal"),
    ("Sorry, I can't give numbers like Yes: 30%, No: 70%.", None, "refusal"),
    ("I'm not a doctor, but Yes: 0.3", 0.3, None),
    ("I can't diagnose. However: Yes: 0.3, No: 0.7", 0.3, None),
    ("I can't be certain, but I'd estimate about 30%.", 0.3, None),
    ("Probability: 30%. Please consult a doctor.", 0.3, None),
    ("N/A", None, "no number"),
    ("Yes, definitely.", None, "no number"),
    ("Yes: high, No: low", None, "no number"),
    ("The patient is 55 and has 3 risk factors.", None, "no number"),
]
WITHOUT_LABELS = [
    ("0.3", 0.3, None),
    ("There's a 30% chance.", 0.3, None),
    ("55-year-old patient: 0.3", 0.3, None),
    ("BP 140/90, HR 72, probability 0.3", 0.3, None),
    ("No history of diabetes. 10%", 0.1, None),
    ("Hypertension: No\nDiabetes: No\nProbability: 30%", 0.3, None),
    ("It could be 20% or maybe 40%.", None, "ambiguous"),
    ("0.7, 0.3", None, "ambiguous"),
    ("If treated, 10%. If untreated, 50%.", None, "ambiguous"),
    ("First I thought 0.2; my final answer is 0.4.", 0.4, None),
    ("Prior 12%, posterior 35%", 0.35, None),
    ("30%-40%, so I'd say 35%", 0.35, None),
    ("sensitivity 80%, specificity 90%, prevalence 10% → PPV 47%", 0.47, None),
    ("P = 0.8*0.1/(0.8*0.1+0.2*0.9) = 0.31", 0.31, None),
    ("12% then 80%. <answer>30%</answer>", 0.3, None),
    ("The ejection fraction is 45%.", None, "ambiguous"),
    ("95% of cases are benign.", None, "ambiguous"),
    ("30% more likely", None, "ambiguous"),
    ("p-value 0.03", None, "ambiguous"),
    ("The probability of not having it is 70%", None, "ambiguous"),
    ("There is a 70% chance that they don't have it.", None, "ambiguous"),
    ("No, there is a 30% chance.", None, "ambiguous"),
    ("Answer: No. Probability: 70%", None, "ambiguous"),
    ("P(No) = 1 - P(Yes) = 0.65", None, "ambiguous"),
]
FINAL_AND_THOUGHT = [
    ("Final answer: Yes: 0.4", 0.4, None),
    ("Yes: 0.3, No: 0.7. Final answer: Yes: 0.4, No: 0.6", 0.4, None),
    ("Final answer: Yes: 0.3, No: 0.7. Earlier I considered Yes: 0.5.", 0.3, None),
    ("Prior: Yes: 0.1, No: 0.9. Posterior: Yes: 0.3, No: 0.7.", 0.3, None),
    ("Yes: 0.3. Later Yes: 0.4", None, "ambiguous"),
    ("So Yes: 0.1, No: 0.9 before the test. Yes: 0.3, No: 0.7.", None, "ambiguous"),
    ("Yes: 30%\nNo: 70%\n\nYes: 0.3\nNo: 0.7", 0.3, None),
    ("<think>hmm 30%", None, "truncated"),
    ("<think>Yes: 0.9", None, "truncated"),
    ("90% maybe</think>\n\nYes: 0.3", 0.3, None),
    ("<think>a <think> 90%</think> b</think>Yes: 0.3", 0.3, None),
    ("<thinking>90%</thinking>30%", 0.3, None),
    ("◁think▷90%◁/think▷30%", 0.3, None),
    ("<|channel|>analysis<|message|>90%<|end|><|channel|>final<|message|>30%", 0.3, None),
    ("> Yes: 0.3\n> No: 0.7", 0.3, None),
    ("### Answer\n\n- **No**: 70%\n- **Yes**: 30%", 0.3, None),
]
SHAPES = [
    *THE_RULES,
    *JSON_AND_TABLES,
    *LABELS_AND_SIDES,
    *NUMBERS,
    *SCALE_AND_SUM,
    *NO_SINGLE_VALUE,
    *REFUSALS,
    *WITHOUT_LABELS,
    *FINAL_AND_THOUGHT,
]


@pytest.mark.parametrize(("text", "belief", "problem"), SHAPES)
def test_probability_shapes(text: str, belief: float | None, problem: str | None):
    parsed = parse_probabilities(text)
    assert parsed.problem == problem
    assert parsed.belief == (None if belief is None else pytest.approx(belief, abs=1e-9))
    assert problem is None or problem in PROBLEMS


def test_there_are_many_different_shapes():
    assert len({text for text, *_ in SHAPES}) == len(SHAPES) > 200


@pytest.mark.parametrize(
    ("text", "belief", "problem"),
    [
        ("Yes: 30", None, "truncated"),
        ("Yes: 0.3", None, "truncated"),
        ("about 1 in 1", None, "truncated"),
        ("I think the probability", None, "truncated"),
        ("", None, "truncated"),
        ("The prevalence is 12%, times", None, "truncated"),
        ('{"No": 0.7, "Yes":          ', None, "truncated"),
        ('{"No": 0.7, "Ye', None, "truncated"),
        ("No: 70%, Yes: 3", None, "truncated"),
        ("<think>Yes: 0.3", None, "truncated"),
        ("Yes: 30%", 0.3, None),
        ("Yes: 0.3. This is because of the pati", 0.3, None),
        ("Probability: 30%. This is because", 0.3, None),
        ("No: 0.7, Yes: 0.3\n\nThe reason is", 0.3, None),
        ("Yes: less than 5%, beca", None, "censored"),
        ("I cannot provide medical", None, "refusal"),
    ],
)
def test_an_answer_cut_at_the_token_limit(text: str, belief: float | None, problem: str | None):
    parsed = parse_probabilities(text, truncated=True)
    assert (parsed.belief, parsed.problem) == (belief and pytest.approx(belief), problem)


AGES = ("under 50 years", "50 to 69 years", "70 years or older")


@pytest.mark.parametrize(
    "text",
    [
        '{"under 50 years": 0.1, "50 to 69 years": 0.5, "70 years or older": 0.4}',
        "- Under 50 years: 10\n- 50 to 69 years: 50\n- 70 years or older: 40",
        "10% under 50 years, 50% 50 to 69 years, 40% 70 years or older",
        "| Age | P |\n|---|---|\n| under 50 years | 0.1 |\n| 50 to 69 years | 0.5 |\n| 70 years or older | 0.4 |",
        "under 50 years, 50 to 69 years, 70 years or older: 0.1, 0.5, 0.4",
        "1. under 50 years: 0.1\n2. 50 to 69 years: 0.5\n3. 70 years or older: 0.4\nTotal: 1.0",
        "under 50 years (10%), 50 to 69 years (50%), and 70 years or older (40%). 70 years or older is common.",
        "70 YEARS OR OLDER: 4/10; UNDER 50 YEARS: 1/10; 50 TO 69 YEARS: 5/10",
    ],
)
def test_distribution_over_several_labels(text: str):
    parsed = parse_probabilities(text, AGES)
    assert parsed.problem is None
    assert list(parsed.values) == list(AGES)
    assert list(parsed.values.values()) == pytest.approx([0.1, 0.5, 0.4])
    assert parsed.belief is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("under 50 years: 0.1, 50 to 69 years: 0.5", "no number"),
        ("The patient is 55: 0.3", "no number"),
        ("70 years or older is most likely.", "no number"),
        ("under 50 years: 0, 50 to 69 years: 0, 70 years or older: 0", "all zero"),
        ("under 50 years: 10-20%, 50 to 69 years: 50%, 70 years or older: 40%", "range"),
        ("I cannot say.", "refusal"),
        ("", "empty"),
    ],
)
def test_no_distribution_over_several_labels(text: str, problem: str):
    assert parse_probabilities(text, AGES) == ParsedProbabilities(None, problem)


def test_several_labels_that_do_not_add_up_are_kept_and_marked():
    parsed = parse_probabilities("under 50 years: 0.5, 50 to 69 years: 0.5, 70 years or older: 0.5", AGES)
    assert parsed.problem == "sum"
    assert list(parsed.values.values()) == pytest.approx([1 / 3] * 3)


@pytest.mark.parametrize(
    ("labels", "text", "values"),
    [
        (("<50", "50–69", "≥70"), "<50: 10%\n50-69: 50%\n>=70: 40%", [0.1, 0.5, 0.4]),
        (("≥ 70 years", "< 70 years"), "≥70 years: 0.4; <70 years: 0.6", [0.4, 0.6]),
        (("LVEF ≤ 45%", "LVEF > 45%"), "LVEF ≤ 45%: 30%, LVEF > 45%: 70%", [0.3, 0.7]),
        (("LVEF ≤ 45%", "LVEF > 45%"), "$LVEF \\leq 45\\%$: 0.3, $LVEF > 45\\%$: 0.7", [0.3, 0.7]),
        (("low", "very low", "high"), "Very low: 0.2, low: 0.3, high: 0.5", [0.3, 0.2, 0.5]),
        (("0", "1", "2"), '{"0": 0.2, "1": 0.3, "2": 0.5}', [0.2, 0.3, 0.5]),
        (("(A) mild", "(B) severe"), "(A) mild: 0.2 (B) severe: 0.8", [0.2, 0.8]),
        (("no fever", "fever"), "Probability of fever: 20%, no fever: 80%", [0.8, 0.2]),
        (("male", "female"), "male: 0.3", [0.3, 0.7]),
        (("male", "female"), "0.3", None),
        (("BMI 18.5-24.9", "BMI 25 or more"), "BMI 18.5–24.9: 60%; BMI 25 or more: 40%", [0.6, 0.4]),
    ],
)
def test_labels_are_matched_as_written(labels: tuple[str, ...], text: str, values: list[float] | None):
    parsed = parse_probabilities(text, labels)
    assert (parsed.values and list(parsed.values.values())) == (values and pytest.approx(values))


@pytest.mark.parametrize("labels", [(), ("Yes",), ("Yes", "yes"), ("Yes", "")])
def test_labels_that_cannot_be_told_apart(labels: tuple[str, ...]):
    with pytest.raises(BeliefError, match="two or more different"):
        parse_probabilities("Yes: 0.3", labels)


QUESTION_1 = "(1) Do you feel confident enough to make this diagnostic decision?"
QUESTION_2 = "(2) If you had to decide, would you say that they have colic?"
DECISIONS = [
    ('{"confident": "Yes", "choice": "Yes"}', "positive", None),
    ('{"confident": "Yes", "choice": "No"}', "negative", None),
    ('{"confident": "No", "choice": "Yes"}', "defer", None),
    ('{"confident": "No", "choice": "No"}', "defer", None),
    ('{"choice": "Yes", "confident": "Yes"}', "positive", None),
    ('{"confident": true, "choice": false}', "negative", None),
    ('```json\n{"confident": "Yes", "choice": "No"}\n```', "negative", None),
    ("{'confident': 'Yes', 'choice': 'Yes',}", "positive", None),
    ('{"answer": {"confident": "No", "choice": "Yes"}}', "defer", None),
    ('{"CONFIDENT": "YES", "CHOICE": "NO"}', "negative", None),
    ('{"confident": "Yes, I feel confident", "choice": "No, they don\'t"}', "negative", None),
    ('{"confident": "I do not feel confident", "choice": "Yes"}', "defer", None),
    ('{"confident": "no", "choice": "yes", "explanation": "I am confident that..."}', "defer", None),
    ('{"1": "No", "2": "Yes"}', "defer", None),
    ('["Yes", "No"]', "negative", None),
    ("1. Yes 2. No", "negative", None),
    ("(1) No (2) Yes", "defer", None),
    ("1) Yes\n2) Yes", "positive", None),
    ("(a) Yes (b) No", "negative", None),
    ("Q1: No\nQ2: Yes", "defer", None),
    ("Question 1: Yes\nQuestion 2: No", "negative", None),
    (f"{QUESTION_1} No\n{QUESTION_2} Yes", "defer", None),
    (f"{QUESTION_1} Yes.\n{QUESTION_2} No.", "negative", None),
    ("Yes, No", "negative", None),
    ("No\nYes", "defer", None),
    ("Confident: no. If forced: yes", "defer", None),
    ("**Confident:** Yes\n**Choice:** Yes", "positive", None),
    ("**Confident?** Yes\n\n**Decision:** The patient does not have colic.", "negative", None),
    ("confident=yes, choice=no", "negative", None),
    ("| confident | No |\n| choice | Yes |", "defer", None),
    ("| confident | choice |\n|---|---|\n| Yes | No |", "negative", None),
    ("Confidence: low\nChoice: Yes", "defer", None),
    ("Confidence: high. Decision: No.", "negative", None),
    ("Confident: Not really. Choice: Yes.", "defer", None),
    ("Confident: Yes\nIf I had to choose: No", "negative", None),
    ("I am not confident, but I would say yes.", "defer", None),
    ("I am not confident enough, but if I had to, I would say they have the condition.", "defer", None),
    ("I do not feel confident.", "defer", None),
    ("I don’t feel confident enough to make this decision.", "defer", None),
    ("There is insufficient evidence for me to feel confident.", "defer", None),
    ("I feel confident. I would say yes.", "positive", None),
    ("I feel confident enough. If I had to decide, I would say that they have colic.", "positive", None),
    ("I am confident that they do not have diabetes.", "negative", None),
    ("I am very confident the patient does not have diabetes.", "negative", None),
    ("I feel confident enough to make this decision: No.", "negative", None),
    ("I would not say that they have diabetes, and I feel confident about that.", "negative", None),
    ("Yes, I am confident. No, they do not have it.", "negative", None),
    ("No. If I had to decide, I would say yes.", "defer", None),
    ("1. No, I do not feel confident.\n2. If forced, I would say that they do not have it.", "defer", None),
    ("1. Yes, I feel confident.\n2. They have diabetes.", "positive", None),
    ("I would defer.", "defer", None),
    ("<think>confident: yes</think>Confident: no, choice: no", "defer", None),
    ("Confident: Yes\nChoice: Yes\nFinal answer: Confident: No, Choice: No", "defer", None),
    ("I'm an AI and don't feel confident making diagnoses. If I had to, I'd say they do.", "defer", None),
    ('{"choice": "Yes"}', None, "no confidence"),
    ("I would say yes, they have it.", None, "no confidence"),
    ("Confidence: 80%. Choice: Yes", None, "no confidence"),
    ("Confident: Not applicable. Choice: Yes.", None, "no confidence"),
    ('{"confident": "Maybe", "choice": "Yes"}', None, "no confidence"),
    ('{"confident": "Yes"}', None, "no choice"),
    ('{"confident": "Yes", "choice": "Yes or No"}', None, "no choice"),
    ("The patient has high blood pressure and I am confident.", None, "no choice"),
    ('{"confident": "Yes" or "No", "choice": "Yes" or "No"}', None, "no decision"),
    ("Confident: N/A, Choice: N/A", None, "no decision"),
    ("The patient has a fever.", None, "no decision"),
    ("Yes", None, "ambiguous"),
    ("Confident: Yes\nConfident: No\nChoice: Yes", None, "ambiguous"),
    ("Confident: Yes; Choice: Yes; Choice: No", None, "ambiguous"),
    ("I cannot make a diagnosis.", None, "refusal"),
    ("I'm sorry, but I can't help with medical decisions.", None, "refusal"),
    ("", None, "empty"),
    ("<think>confident: yes, choice: yes", None, "truncated"),
]


@pytest.mark.parametrize(("text", "action", "problem"), DECISIONS)
def test_decision_shapes(text: str, action: str | None, problem: str | None):
    parsed = parse_decision(text)
    assert (parsed.action, parsed.problem) == (action, problem)
    assert problem is None or problem in PROBLEMS


def test_a_deferred_decision_keeps_its_choice():
    parsed = parse_decision('{"confident": "No", "choice": "Yes"}')
    assert parsed == ParsedDecision(False, "positive")
    assert parsed.action == "defer"


@pytest.mark.parametrize(
    ("text", "action", "problem"),
    [
        ('{"confident": "Yes", "choice": "', None, "truncated"),
        ("Confident: Yes\nChoice: No", None, "truncated"),  # perhaps "Not sure"
        ("", None, "truncated"),
        ('{"confident": "Yes", "choice": "No"}\nBecause the', "negative", None),
        ('{"confident": "No", "choice": "', "defer", None),
    ],
)
def test_a_decision_cut_at_the_token_limit(text: str, action: str | None, problem: str | None):
    parsed = parse_decision(text, truncated=True)
    assert (parsed.action, parsed.problem) == (action, problem)


def check(parsed: ParsedProbabilities, labels: tuple[str, ...] = ("No", "Yes")) -> None:
    """What holds for every answer: values for all labels that add up to one, or none with a known reason."""
    if parsed.values is None:
        assert parsed.problem in set(PROBLEMS) - {"sum"}
        assert parsed.belief is None
    else:
        assert parsed.problem in (None, "sum")
        assert list(parsed.values) == list(labels)
        assert all(0 <= value <= 1 for value in parsed.values.values())
        assert sum(parsed.values.values()) == pytest.approx(1, abs=1e-9)


PIECES = (
    'Yes No yes : - – − = , . % 0.3 70 1 1e9 / ( ) < > " { } [ ] | * ** in to or and not about odds CI nan zero ± '
    "<think> </think> ``` \\boxed{ \\ ^ x10^ thirty percent so but confident choice 1. (2) ٣ ½ ⁻² &lt; final answer "
    "less than I cannot provide \u200b \x00 \x01"
)
MIXTURES = st.lists(st.sampled_from([*PIECES.split(" "), " ", "\n"]), max_size=25)
TEXTS = st.one_of(st.text(), MIXTURES.map("".join), MIXTURES.map(" ".join))


@settings(max_examples=400, deadline=None)
@given(text=TEXTS, truncated=st.booleans())
@example(text="9" * 5000, truncated=False)
@example(text="1e" + "9" * 5000, truncated=False)
@example(text="10^9999", truncated=False)
@example(text="\\ud800: 0.3", truncated=False)
def test_any_text_is_read_or_missing_with_a_reason(text: str, truncated: bool):
    check(parse_probabilities(text, truncated=truncated))
    check(parse_probabilities(text, AGES, truncated=truncated), AGES)
    decision = parse_decision(text, truncated=truncated)
    assert decision.problem is None or decision.problem in PROBLEMS
    assert decision.action in ((None,) if decision.problem else ("positive", "negative", "defer"))


@settings(max_examples=200, deadline=None)
@given(text=TEXTS)
def test_the_order_of_the_labels_asked_for_does_not_matter(text: str):
    one, other = parse_probabilities(text), parse_probabilities(text, ("Yes", "No"))
    assert (one.values, one.problem) == (other.values, other.problem)


def spell(percent: int, style: str) -> str:
    """A whole number of percent in one of many styles."""
    return {
        "fraction": f"{percent / 100:.2f}",
        "bare point": f"{percent / 100:.2f}".lstrip("0") if percent < 100 else "1.00",
        "comma": f"{percent / 100:.2f}".replace(".", ","),
        "percent": f"{percent}%",
        "spaced percent": f"{percent} %",
        "long percent": f"{percent}.0 percent",
        "full width": f"{percent}％".translate({ord(d): ord(d) + 0xFEE0 for d in string.digits}),
        "arabic": f"{percent}٪".translate({ord(d): ord("٠") + int(d) for d in string.digits}),
        "out of": f"{percent} out of 100",
        "scientific": f"{percent}e-2",
        "latex": f"${percent}\\%$",
        "about": f"about {percent}%",
        "both": f"{percent / 100:.2f} ({percent}%)",
        "interval": f"{percent}% (95% CI 3-97%)",
    }[style]


STYLES = ["fraction", "bare point", "comma", "percent", "spaced percent", "long percent", "full width", "arabic"]
STYLES += ["out of", "scientific", "latex", "about", "both", "interval"]
FRAMES = (
    "{0}: {1}; {2}: {3}",
    "{0}: {1}\n{2}: {3}",
    "{0} = {1}\n\n{2} = {3}",
    "- **{0}**: {1}\n- **{2}**: {3}",
    "| {0} | {1} |\n| {2} | {3} |",
    '{{"{0}": "{1}", "{2}": "{3}"}}',
    "{0} ({1}) / {2} ({3})",
    "{0} – {1}\n{2} – {3}",
    "{1} {0} / {3} {2}",
    "{1} for {0}, {3} for {2}",
    "P({0}) = {1}, P({2}) = {3}",
    "The prevalence is 12%. {0}: {1}. {2}: {3}. Note that 95% of cases are benign.",
    "<think>maybe 80%, {0}: 0.99</think>\n{0}: {1}\n{2}: {3}",
    "1. {0}: {1}\n2. {2}: {3}",
    "The probability of {0} is {1} and the probability of {2} is {3}.",
    "{0}, {2}: {1} and {3}",
)


@settings(max_examples=400, deadline=None)
@given(
    percent=st.integers(0, 100),
    style=st.sampled_from(STYLES),
    other_style=st.sampled_from(STYLES),
    frame=st.sampled_from(FRAMES),
    yes_first=st.booleans(),
    case=st.sampled_from([str.title, str.lower, str.upper]),
)
def test_pairs_are_read_back_from_many_forms(percent, style, other_style, frame, yes_first, case):
    pair = [(case("Yes"), spell(percent, style)), (case("No"), spell(100 - percent, other_style))]
    (one, value), (other, rest) = pair if yes_first else reversed(pair)
    parsed = parse_probabilities(frame.format(one, value, other, rest))
    assert parsed.problem is None
    assert parsed.belief == pytest.approx(percent / 100, abs=1e-9)


BEFORE = [
    "Sure! Here is my estimate:\n",
    "The patient is a 65-year-old man with LVEF of 45% and BMI 31.2. ",
    "Step 1: consider the base rate of 9%.\nStep 2: update with a likelihood ratio of 2.3.\n",
    "No history of smoking, QRS 120 ms (wide), 3 of 5 risk factors. ",
    "As an AI, I can't diagnose. However, ",
    "Based on 1,200 patients (p < 0.05, 95% CI 0.2-0.4), ",
    "QRS prolonged: Yes. STT abnormal: No. ",
    "Between 10% and 20% of such patients have it. ",
    "**Analysis**\n\n- Age 50–69: +5%\n- LVH: No\n\n**Answer**\n\n",
    "There is no 100% certainty. ",
]
AFTER = [
    " Note that 95% of cases are benign.",
    " Please consult a doctor.",
    "\n\nThese add up to 100%.",
    " (Confidence: 80%)",
    "\nTotal: 1.0",
    " There is no doubt that 30% of patients improve.",
    "\n\n**Explanation:** Given the base rate of 9% and a sensitivity of 80%, this is reasonable.",
    " That is lower than the 45% seen in men over 70.",
    "\n1. Age raises risk by 5%.\n2. No other factors.",
]


@settings(max_examples=400, deadline=None)
@given(
    percent=st.integers(0, 100),
    style=st.sampled_from(STYLES),
    frame=st.sampled_from([*FRAMES, "{0}: {1}", "{2}: {3}", "{1} chance of {0}", "{3} {2}", "P({2}) = {3}"]),
    before=st.sampled_from(BEFORE),
    after=st.sampled_from(AFTER),
)
def test_what_stands_around_never_makes_a_wrong_reading(percent, style, frame, before, after):
    values = frame.format("Yes", spell(percent, style), "No", spell(100 - percent, style))
    parsed = parse_probabilities(before + values + after)
    assert parsed.values is None or parsed.belief == pytest.approx(percent / 100, abs=1e-9)


@settings(max_examples=200, deadline=None)
@given(percent=st.integers(0, 100), style=st.sampled_from(STYLES))
def test_a_single_probability_is_read_back(percent: int, style: str):
    parsed = parse_probabilities(f"I estimate {spell(percent, style)}.")
    if parsed.problem == "scale":
        assert percent == 100  # "1.00" alone may be 1 or 1%
    else:
        assert parsed.belief == pytest.approx(percent / 100, abs=1e-9)


UNITS = ["Yes: ", "0.3 ", "1/", "1.", "20-30% ", "30% (95% CI 20-40%) ", "<think>", "<", "**a", "\\boxed{", "thirty-"]
UNITS += ["I cannot provide ", "(1) (2) ", "not ", "had to decide ", "`", "~~a", "|", "Yes 0.3 0.7 ", "so 30%. ", "ﷺ"]


@pytest.mark.parametrize("unit", UNITS)
def test_a_million_characters_are_read_in_less_than_a_second(unit: str):
    text = (unit * (1_000_000 // len(unit) + 1))[:1_000_000]
    started = time.process_time()
    check(parse_probabilities(text))
    parse_decision(text)
    assert time.process_time() - started < 1


def test_an_answer_stands_at_either_end_of_a_long_text():
    filler = "and so on " * 20_000
    assert parse_probabilities(f"Yes: 30%\nNo: 70%\n{filler}").belief == pytest.approx(0.3)
    assert parse_probabilities(f"{filler}\nYes: 30%\nNo: 70%").belief == pytest.approx(0.3)


def test_every_problem_has_a_one_line_meaning_and_is_met_in_these_tests():
    assert all(meaning and "\n" not in meaning for meaning in PROBLEMS.values())
    met = {problem for *_, problem in [*SHAPES, *DECISIONS]} - {None}
    assert met == set(PROBLEMS)
    assert all(re.fullmatch(r"[a-z ]+", problem) for problem in PROBLEMS)


@pytest.mark.parametrize(
    "text",
    [
        "There is a 70% chance they do not have diabetes.",
        "70% chance the patient doesn't have diabetes",
        "70% likely not to have diabetes",
        "85% probable that the infant does not have colic",
        "90% likely to be free of disease",
        "The chance of being healthy is 80%",
        "The likelihood they are not diabetic is 0.7",
        "They do not have diabetes with probability 0.8",
        "The patient does not have diabetes (80%)",
        "They probably do not have it: 80%",
        "0.7 that they do not",
        "Chance without disease 0.75",
        "No diabetes: 80%",
    ],
)
def test_the_probability_of_not_having_it_is_never_taken_for_the_one_of_having_it(text):
    parsed = parse_probabilities(text)
    assert parsed.values is None
    assert parsed.problem == "ambiguous"


@pytest.mark.parametrize(
    ("text", "belief"),
    [
        ("unlikely to have it, 20%", 0.2),
        ("30% chance, as they do not smoke", 0.3),
        ("no history of stroke has a 20% chance", 0.2),
        ("The patient does not have high blood pressure, so the probability of diabetes is 20%.", 0.2),
        ("The likelihood of diabetes in a patient with no history of stroke is 20%", 0.2),
        ("There is a 20% chance that they have diabetes, which is not negligible", 0.2),
        ("30% probability of having diabetes and does not need treatment", 0.3),
    ],
)
def test_a_not_about_something_else_does_not_matter(text, belief):
    assert parse_probabilities(text).belief == pytest.approx(belief)
