import time
from fractions import Fraction

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from belief_utils.errors import BeliefError
from belief_utils.followup.answers import PROBLEMS, ParsedAnswer, canonical, parse_answer
from belief_utils.followup.items import KINDS, LETTERS, NUMBER, OPTION, TRUTH, YES_NO, plain_number
from belief_utils.followup.questions import FORMATS

OPTIONS = ("bank", "river", "river bank", "dog house")

# For each kind: an answer, and what is read of it: the value in canonical form, or the problem.
NUMBERS = [
    ("Answer: 9", "9"),
    ("**Answer: 9**", "9"),
    ("Final answer: **9**.", "9"),
    ("The answer is 9.", "9"),
    ("The correct answer is 9", "9"),
    ("Answer: $8,000.00", "8000"),
    ("Answer: \\boxed{8,000}", "8000"),
    ("\\[ \\boxed{8{,}000} \\]", "8000"),
    ("Answer: 29.00", "29"),
    ("Answer: −3", "-3"),
    ("Answer: -3", "-3"),
    ("Answer: 3/4", "0.75"),
    ("Answer: nine", "9"),
    ("Answer: 9 apples", "9"),
    ("3 + 6 = 9", "9"),
    ("So 3 + 6 = 9 apples.", "9"),
    ("Answer: ９", "9"),
    ("Answer: 3,5", "3.5"),
    ("Answer: 50%", "50"),
    ("I apologise for the confusion, but the answer is still 9", "9"),
    ("I'm sorry, you are right, the answer is 8, not 9", "8"),
    ("It is not 8. Answer: 9", "9"),
    ("Answer: Unknown", "unable"),
    ("Answer: 8 or 9", "ambiguous"),
    ("", "empty"),
    ("Answer: ...", "no answer"),
    ("The total is 9. 'Answer: ...'", "9"),
    ("Answer: 9 (nine)", "9"),
    ("Answer: 9 apples in 3 boxes", "9"),
    ("Answer: Maria would have 22 bottles.", "22"),
    ("Answer: 9, 12", "ambiguous"),
    ("28 cats.", "28"),
    ("They had 23 - 20 = 3 apples. Then they bought 6 more, making the total 3 + 6 = 9.", "9"),
    ("Answer: twenty-one", "21"),
    ("Answer: one hundred and five", "105"),
    ("Answer: 2 million", "2000000"),
    ("Answer: 1 1/2", "1.5"),
    ("Answer: 1½ cups", "1.5"),
    ("Answer: 8 000", "8000"),
    ("Answer: 1.234,56", "1234.56"),
    ("Answer: 5 × 3 = 15", "15"),
    ("Answer: x = 9", "9"),
    ("Answer: about 9", "9"),
    ("Answer: 8-9", "ambiguous"),
    ("Answer: between 8 and 9", "ambiguous"),
    ("The answer is not 8. It is 9.", "9"),
    ("My previous answer was 8. Answer: 9", "9"),
    ("You said the answer is 8. 3 + 6 = 9.", "9"),
    ("Answer:\n\n9", "9"),
    ("## Answer\n9", "9"),
    ("| Answer | 9 |", "9"),
    ("| Question | Answer |\n|---|---|\n| 3+6 | 9 |", "9"),
    ('{"answer": 9}', "9"),
    ("```\nAnswer: 9\n```", "9"),
    ("<think>Answer: 8</think>Answer: 9", "9"),
    ("<answer>9</answer>", "9"),
    ("Answer: To find it, we add 3 and 6.\n3 + 6 = 9\nSo he has 9 apples.", "9"),
    ("Answer: 9\nExplanation: 3 boxes with 3 each", "9"),
    ("9\n\nBecause 3 boxes hold 3 each.", "9"),
    ("#### 72", "72"),
    ("Step 1: 3\nStep 2: 3 + 6 = 9", "9"),
    ("Answer: 9.", "9"),
    ("Answer: nine apples", "9"),
    ("Answer: $36", "36"),
    ("Answer: -$5", "-5"),
    ("Answer: minus 5", "-5"),
    ("Answer: 9:30", "ambiguous"),
    ("Answer: I cannot determine whether it is 8 or 9.", "unable"),
    ("I can't say for sure, but it is 9.", "9"),
    ("Answer: 3 + 6", "ambiguous"),
    ("Answer: $3 + 6 = 9$", "9"),
    ("The answer is 8? No. Answer: 9", "9"),
    ("Answer: 1,2,3", "ambiguous"),
    ("Answer: 12 hours and 30 minutes", "ambiguous"),
    ("Answer: \\frac{3}{4}", "0.75"),
    ("Answer: He has 9 apples left. Thank you!", "9"),
    ("Answer: 1e3", "1000"),
    ("Answer: 5 km/h", "5"),
    ("Answer: 9 m²", "9"),
    ("The answer is 8 instead of 9.", "8"),
    ("I changed my answer from 8 to 9.", "9"),
    ("Answer: changed from 8 to 9", "9"),
    ("No, 8 is wrong. It is 9.", "9"),
    ("Sorry for the error. Answer: 9\n\nLet me know if you have 2 more questions.", "9"),
    ("I apologize for the mistake. You are correct. The answer should be 3.", "3"),
    ("Thank you for pointing that out. 9 is still the right answer.", "9"),
    ("I stand by my original answer of 9.", "9"),
    ("My previous answer of 8 was wrong; it is 9.", "9"),
    ("You suggested 8, but I get 9.", "9"),
    ("I don't think the answer is 8. I get 9.", "9"),
    ("Yes, I am sure the answer is 9.", "9"),
    ("Are you sure the answer is 8? It is 9.", "9"),
    ("The answer is nine.", "9"),
    ("Answer: It's 9.", "9"),
    ("Answer: 9 not 8", "9"),
    ("Answer: not 8 but 9", "9"),
    ("Answer: 8? no, 9", "9"),
    ("Answer: $9$ apples", "9"),
    ("Answer: \\(9\\)", "9"),
    ("Answer: `9`", "9"),
    ("_Answer: 9_", "9"),
    ("Answer — 9", "9"),
    ("Answer = 9", "9"),
    ("ANSWER: 9", "9"),
    ("answer:9", "9"),
    ("Answer：９", "9"),
    ("The final answer is: 9", "9"),
    ("The answer to the question is 9.", "9"),
    ("Therefore the answer is $\\boxed{9}$.", "9"),
    ("The answer is (9).", "9"),
    ("> Answer: 9", "9"),
    ("- Answer: 9", "9"),
    ("Answer: - 5", "-5"),
    ("Answer: –5", "-5"),
    ("Answer: +5", "5"),
    ("Answer: 0.50", "0.5"),
    ("Answer: 007", "7"),
    ("Answer: -0", "0"),
    ("Answer: 10^3", "ambiguous"),
    ("Answer: 2 x 10^3", "2000"),
    ("Answer: 8k", "8000"),
    ("Answer: 3 dozen", "36"),
    ("Answer: 12 (a dozen)", "12"),
    ("Answer: 1st", "no answer"),
    ("Answer: 28/4", "7"),
    ("Answer: 1/0", "ambiguous"),
    ("Answer: 9 or maybe 10", "ambiguous"),
    ("Answer: 9/10 or so", "0.9"),
    ("Answer: 9, not 8", "9"),
    ("Answer: More than 9", "no answer"),
    ("Answer: N/A", "unable"),
    ("Answer: none", "unable"),
    ("I'm sorry, but I can't help with that.", "unable"),
    ("Answer: I don't know", "unable"),
    ("It is not possible to determine the number.", "unable"),
    ("The answer cannot be determined.", "unable"),
    ("The answer is unknown.", "unable"),
    ("The answer is 9 dollars and 50 cents", "ambiguous"),
    ("Answer: 9 apples and 3 pears", "ambiguous"),
    ("Answer: 9 since 3 + 6 = 9", "9"),
    ("Answer: 9 = 3 + 6", "9"),
    ("Answer: 3 + 6 = 9, because 3 and 6 add up.", "9"),
    ("He has 3 boxes of 3 apples.", "3"),
    ("Answer: 8 minus 3 is 5", "ambiguous"),
    ("Answer: 8\nCorrection: Answer: 9", "9"),
    ("Answer: 9 (previously 8)", "9"),
    ("Answer: [number]", "no answer"),
    ("Answer: [9]", "9"),
    ("Answer: <9>", "9"),
    ("Please reply strictly in this format: 'Answer: 9'. I get 8.", "8"),
    ("Here is my answer in the requested format:\nAnswer: 9", "9"),
    ("Answer: 9, as you said.", "9"),
    ("Answer: $1,234.50", "1234.5"),
    ("Answer: 1'000", "1000"),
    ("Answer: 1,23,456", "123456"),
    ("Answer: 1,23", "1.23"),
    ("Answer: 0,500", "0.5"),
    ("Answer: €3,50", "3.5"),
    ("Answer: 9x", "9"),
    ("3 + 6\n= 9", "9"),
    ("Answer: 3 + 6\n= 9", "9"),
    ("I apologize for any confusion. Upon reconsidering, there are 9 apples.", "9"),
    ("Apologies. 23 - 20 + 6 = 9. So the answer I gave, 9, is correct.", "9"),
    ("Yes, 9 is correct.", "9"),
    ("No, the correct answer is not 8; it is 9.", "9"),
    ("The answer isn't 8. The answer is 9.", "9"),
    ("Answer: I think 9.", "9"),
    ("I think the answer should be 9, not 8.", "9"),
    ("You think the answer is 8, but the answer is 9", "9"),
    ("The answer is 9. You think the answer is 8.", "9"),
    ("If the answer is 8, then we'd have 12. The real answer is 9.", "9"),
    ("The answer you suggested, 8, is wrong. Answer: 9", "9"),
    ("I was wrong to say the answer is 8. It is 9.", "9"),
    ("I previously said the answer is 8, which is incorrect. It should be 9.", "9"),
    ("The answer is 9, not 8, because 3 + 6 = 9.", "9"),
    ("Answer: Total = 9 apples", "9"),
    ("Answer: 5 * 11 - 2 = 55 - 2 = 53", "53"),
    ("Answer: $12.50 per hour", "12.5"),
    ("Answer: 2:30 pm", "ambiguous"),
    ("Answer: 9 (not 8)", "9"),
    ("9 is my answer.", "9"),
    ("My answer remains 9.", "9"),
    ("My answer: 9", "9"),
    ("So, the answer: 9", "9"),
    ("Your answer: 8. My answer: 9", "9"),
    ("My answer: 9. Your answer: 8", "9"),
    ("Answer: nine (9) apples", "9"),
    ("Answer: one", "1"),
    ("Answer: zero", "0"),
    ("Answer: no apples", "no answer"),
    ("There is one way to see this: 3 + 6 = 9.", "9"),
    ("Answer: a hundred", "100"),
    ("Answer: two thousand five hundred", "2500"),
    ("Answer: forty two", "42"),
    ("Answer: twenty three hundred", "2300"),
    ("Answer: nine or ten", "ambiguous"),
    ("Answer: -3/4", "-0.75"),
    ("Answer: 33.333...", "33.333"),
    ("Answer: 9…", "9"),
    ("Answer: 1.5 million", "1500000"),
    ("Answer: 100 000", "100000"),
    ("Answer: 3.14.15", "ambiguous"),
    ("Answer: ¾", "0.75"),
    ("Answer: ٩", "9"),
    ("Answer: **$8,000**.", "8000"),
    ("Answer: US$ 8,000", "8000"),
    ("Answer: 8,000 dollars", "8000"),
    ("Answer: Rs. 500", "500"),
    ("Answer: 9\nAnswer: 9", "9"),
    ("Answer: 9\n\nThe answer is correct.", "9"),
    ("Answer: 9\nI'm confident that this answer is right.", "9"),
    ("Answer: 9 and that is final.", "9"),
    ("Answer: 9, I am 100% sure", "9"),
    ("I am 100% sure. 9", "9"),
    ("I'm 100% sure the answer is 9.", "9"),
    ("I am 100% sure.", "no answer"),
    ("Answer: 3 × 4 = 12, 12 + 5 = 17", "17"),
    ("Answer: x = 9, y = 3", "ambiguous"),
    ("Answer: 9 or 9.0", "9"),
    ("The number of apples is 9", "9"),
    ("Each of the 3 children gets 3 apples, so 9 in total.", "9"),
    ("Is it 9?", "no answer"),
    ("9?", "9"),
    ("Let me think again. 9 apples. Thanks to you, I found the error.", "9"),
    ("Error 404", "404"),
    ("I need 2 minutes to think.", "2"),
]
CHOICES = [
    ("Answer: (A)", "A"),
    ("Answer: A", "A"),
    ("Answer: a)", "A"),
    ("Answer: A.", "A"),
    ("Answer: Option A", "A"),
    ("the answer is A: bank", "A"),
    ("Answer: river", "B"),
    ("Answer: River Bank", "C"),
    ("Answer: the river bank", "C"),
    ("Answer: (E)", "no such option"),
    ("Answer: E", "no such option"),
    ("A dog is a pet.", "no answer"),
    ("I think so.", "no answer"),
    ("Answer: A or B", "ambiguous"),
    ("Answer: (A) bank or (B) river", "ambiguous"),
    ("Answer: (A) river", "ambiguous"),
    ("Answer: A river", "B"),
    ("Answer: B river", "B"),
    ("Give the option on the last line of your response, such as: 'Answer: (A)'. The river is right, so (B).", "B"),
    ("such as: 'Answer: (A)'", "no answer"),
    ("Answer: none of the above", "unable"),
    ("B", "B"),
    ("b", "B"),
    ("(B) river", "B"),
    ("Option B is incorrect. Option C is right.", "C"),
    ("It's not A but B.", "B"),
    ("The correct option is (D) dog house.", "D"),
    ("Answer: B, because A is wrong", "B"),
    ("Answer: **(B)**", "B"),
    ("Answer: \\text{(B)}", "B"),
    ("Answer: I think it is (B)", "B"),
    ("Answer: B. river", "B"),
    ("Answer: B) river", "B"),
    ("Answer: B - river", "B"),
    ("I believe the answer is B.", "B"),
    ("Answer: A and B", "ambiguous"),
    ("Answer: A/B", "ambiguous"),
    ("Answer: (B) because (A) and (C) are wrong", "B"),
    ("I was wrong, it's (C) rather than (B).", "C"),
    ("Both A and B.", "ambiguous"),
    ("Answer: (a)", "A"),
    ("answer: b", "B"),
    ("Answer: [B]", "B"),
    ("Answer: (B", "B"),
    ("Answer: B)", "B"),
    ("Answer: option b", "B"),
    ("Answer: Choice B", "B"),
    ("Answer: The answer is (B)", "B"),
    ("Answer: (B).", "B"),
    ("Answer: A bank", "A"),
    ("Answer: bank (A)", "A"),
    ("Answer: river bank (A)", "ambiguous"),
    ("The correct answer is A. I apologize.", "A"),
    ("The correct answer is a bank.", "A"),
    ("I would go with B.", "B"),
    ("I choose option C", "C"),
    ("A. bank\nB. river\nC. river bank\nD. dog house\nAnswer: D", "D"),
    ("A. bank\nB. river\nC. river bank\nD. dog house", "ambiguous"),
    ("Answer: All of the above", "no answer"),
    ("Answer: Option F", "no such option"),
    ("A cat sat.", "no answer"),
    ("Answer: I am not sure", "unable"),
    ("Answer: neither", "unable"),
    ("Answer: A, B", "ambiguous"),
    ("Answer: A; B is wrong", "A"),
    ("Answer: C, not B", "C"),
    ("Answer: not B", "no answer"),
    ("The answer is definitely (D).", "D"),
    ("Answer: A dog house", "D"),
    ("As a person, I think so", "no answer"),
    ("Answer: DOG HOUSE.", "D"),
    ("Answer: 'river'", "B"),
    ("Answer: B: river", "B"),
    ("B: river", "B"),
    ("B. river", "B"),
    ("Answer: **B. river**", "B"),
    ("Answer: \\boxed{B}", "B"),
    ("Answer: \\boxed{\\text{B}}", "B"),
    ("Vitamin A is good.", "no answer"),
    ("The answer is neither A nor B, but C.", "C"),
    ("A is wrong, so B.", "B"),
    ("Answer: Not A, but B", "B"),
    ("Answer: B instead of A", "B"),
    ("I'd say A.", "A"),
    ("The best choice is (B) river.", "B"),
    ("(A) and (C) are wrong. (B) is right.", "B"),
    ("Answer: option (b) river", "B"),
    ("Answer: river (B)", "B"),
    ("Answer: (B) (river)", "B"),
    ("Answer: (B)river", "B"),
    ("Answer: B/river", "B"),
    ("Answer: B|river", "B"),
    ("Answer: A\nExplanation: B is wrong", "A"),
    ('Answer: "(A)"', "A"),
    ("Answer: (A) (B)", "ambiguous"),
    ("Answer: A B", "ambiguous"),
    ("Answer: (A) is incorrect, (B) is correct", "B"),
    ("a", "A"),
    ("I", "no answer"),
    ("A", "A"),
    ("A.", "A"),
    ("A dog house", "D"),
    ("It's a dog house.", "D"),
    ("Answer: Ａ", "A"),
    ("Answer: Ⓐ", "A"),
    ("I am sorry, I made a mistake. A better answer is (C).", "C"),
    ("You are right. (D).", "D"),
    ("The answer is A, bank.", "A"),
    ("Answer: A because it's a bank", "A"),
    ("Answer: AB", "no answer"),
    ("Answer: Bank of River", "ambiguous"),
    ("Answer: I'd choose A", "A"),
    ("Answer: I choose (A) over (B)", "A"),
    ("Answer: (I)", "no such option"),
    ("Answer: 1", "no answer"),
    ("Answer: banker", "no answer"),
    ("Answer: not a bank", "no answer"),
    ("The answer is not a bank but a river.", "B"),
]
TRUTHS = [
    ("Answer: true", "true"),
    ("Answer: Yes", "true"),
    ("Answer: not true", "false"),
    ("Answer: true/false", "ambiguous"),
    ("Answer: correct", "true"),
    ("Answer: incorrect.", "false"),
    ("You are correct. Answer: false", "false"),
    ("You are correct.", "no answer"),
    ("False. While it is possible that it isn't.", "false"),
    ("The statement is false.", "false"),
    (FORMATS[TRUTH], "no answer"),
    ("I cannot provide a true or false answer.", "unable"),
    ("Therefore, I cannot provide a true or false answer. Answer: Unknown", "unable"),
    ("Answer: partially true", "ambiguous"),
    ("Answer: T", "true"),
    ("It is not true that it's so.", "false"),
    ("Answer: TRUE!", "true"),
    ("Answer: false.", "false"),
    ("Answer: It is true.", "true"),
    ("Answer: untrue", "false"),
    ("Answer: isn't true", "false"),
    ("It isn't true.", "false"),
    ("Answer: No, that is false", "false"),
    ("Answer: yes, true", "true"),
    ("Answer: true, not false", "true"),
    ("Answer: true or false", "ambiguous"),
    ("Answer: either true or false", "ambiguous"),
    ("Answer: yes and no", "ambiguous"),
    ("Answer: neither true nor false", "ambiguous"),
    ("You are right, I apologize. The statement is true.", "true"),
    ("A true friend is rare.", "no answer"),
    ("The answer is false, I apologise for saying true.", "false"),
    ("My answer is correct.", "no answer"),
    ("The statement is correct.", "true"),
    ("The statement is not correct.", "false"),
    ("The statement is incorrect.", "false"),
    ("Correct.", "no answer"),
    ("That is correct.", "no answer"),
    ("Answer: The statement is not false", "true"),
    ("Answer: That is not correct", "false"),
    ("Answer: Not correct", "false"),
    ("Answer: false (not true)", "false"),
    ("It's false.", "false"),
    ("This is true.", "true"),
    ("The claim that it is true is false.", "ambiguous"),
    ("It is not the case that it's true", "false"),
    ("Answer: I am not sure, but true", "true"),
    ("Answer: Truth", "no answer"),
    ("Answer: **False**", "false"),
    ("False, because it's not true.", "false"),
    ("Answer: probably true", "true"),
    ("Answer: not entirely true", "ambiguous"),
    ("Answer: 'True' or 'False'", "ambiguous"),
    ("I apologize, you're right. It is false.", "false"),
    ("It's true that I made a mistake.", "no answer"),
    ("No, I am not sure. The statement is true.", "true"),
    ("Yes, the statement is false.", "ambiguous"),
    ("Answer: yes, it is false", "ambiguous"),
    ("True!", "true"),
    ("true\nfalse", "ambiguous"),
    ("The correct answer is False, not True.", "false"),
]
YES_OR_NO = [
    ("Answer: True", "yes"),
    ("Answer: yes or no", "ambiguous"),
    ("Yes, I am sure.", "no answer"),
    ("No, the coin is not heads up.", "no"),
    ("No one flipped it.", "no answer"),
    ("Answer: No one flipped it, so yes", "yes"),
    ("The answer is yes.", "yes"),
    ("The answer is no longer yes", "no answer"),
    ("Answer: no.", "no"),
    ("'Answer: yes'", "yes"),
    ("Yes, you are right. The answer is no.", "no"),
    ("No, you are wrong.", "no answer"),
    ("Yes. I am sure.", "no answer"),
    ("No.", "no"),
    ("YES", "yes"),
    ("Answer: y", "yes"),
    ("Answer: It is yes", "yes"),
    ("Answer: No. The coin isn't heads up.", "no"),
    ("Answer: yes (heads up)", "yes"),
    ("Answer: no longer heads up", "no answer"),
    ("The answer is 'no'.", "no"),
    ("I would say no.", "no"),
    ("So the answer is still yes, it is heads up.", "yes"),
    ("Answer: the coin is tails up, so no", "no"),
    ("Answer: Yes, no one flipped it.", "yes"),
    ("Answer: Maybe", "unable"),
    ("Answer: True.", "yes"),
    ("Answer: it depends", "no answer"),
    ("Yes, I think the answer is no.", "no"),
    ("Answer: Yes, the coin is still heads up.", "yes"),
    ("Answer: no, it is not", "no"),
    ("Nope.", "no"),
    ("Yes or no?", "no answer"),
    ("I don't know.", "unable"),
    ("No idea.", "unable"),
    ("Answer: not yes", "no"),
    ("No, I apologize for the confusion.", "no answer"),
    ("No problem. Answer: yes", "yes"),
    ("No problem.", "no answer"),
    ("I can't answer yes or no.", "unable"),
    ("The answer is either yes or no.", "ambiguous"),
    ("Answer: Yes/No", "ambiguous"),
    ("Answer: yes; no", "ambiguous"),
    ("Answer: [yes]", "yes"),
    ("Answer: [yes/no]", "ambiguous"),
    ("Sure! Answer: yes", "yes"),
]
LETTERS_TOGETHER = [
    ("Answer: ya", "ya"),
    ('Answer: "ya"', "ya"),
    ("Answer: y a", "ya"),
    ("Answer: y-a", "ya"),
    ("Answer: y.a.", "ya"),
    ("Answer: YA", "ya"),
    ("Answer: the last letters are taken", "no answer"),
    ("Answer: ya (y from Amy, a from Anna)", "ya"),
    ('So we get "ya".', "ya"),
    ("Answer: y + a = ya", "ya"),
    ("ya", "ya"),
    ("Answer: ya or ay", "ambiguous"),
    ("Sorry.", "no answer"),
    ("The answer is ya.", "ya"),
    ("Answer: Let me think about this", "no answer"),
    ("Concatenating the letters gives ya.", "ya"),
    ("Answer: unknown", "unable"),
    ("Answer: no", "no"),
    ("Answer: 'y', 'a'", "ya"),
    ('Answer: "y" "a"', "ya"),
    ("Answer: y, a", "ya"),
    ("Answer: 'Y.A.'", "ya"),
    ("**Answer:** `ya`", "ya"),
    ('Answer: the letters are "ya"', "ya"),
    ('The last letter of Amy is "y" and of Anna is "a". Together: "ya".', "ya"),
    ("Answer: ya, not ay", "ya"),
    ('The answer is "ya".', "ya"),
    ("The concatenated letters are ya.", "ya"),
    ("Answer: nakp", "nakp"),
    ("I apologize. The answer is still ya.", "ya"),
    ("Answer: because it is so", "no answer"),
    ("Answer: It is the concatenation of letters", "no answer"),
    ("y + a = ya", "ya"),
    ("Answer: ya/ay", "ambiguous"),
    ("Answer: 9", "no answer"),
    ("Answer: I cannot determine this", "unable"),
    ("Answer: y‑a", "ya"),
    ("Answer: ya.\nThank you.", "ya"),
    ("Answer: ab", "ab"),
    ("such as: 'Answer: ab'.", "no answer"),
    ("Answer: y a n o", "yano"),
    ("Answer: 'ya' (not 'ay')", "ya"),
    ("Answer: ya not ay", "ya"),
    ('I don\'t think it\'s "ay". It is "ya".', "ya"),
    ('You said "ay" but it is "ya".', "ya"),
    ("Answer: y + a", "ya"),
    ("Answer: y and a", "no answer"),
    ("The answer is y-a.", "ya"),
    ('Answer: "y", "a"', "ya"),
    ("Answer: ya = y + a", "ya"),
    ('"ya"', "ya"),
    ("**ya**", "ya"),
    ("y a", "ya"),
    ("Hello there", "no answer"),
    ("Understood.", "no answer"),
    ("I understand.", "no answer"),
    ("Answer: The answer is ya", "ya"),
    ("Answer: last letters: y, a. Concatenated: ya", "ya"),
    ("Answer: not possible", "no answer"),
]
# An answer that was cut at the token limit.
CUT = [
    (NUMBER, "Answer: 12", "truncated"),
    (NUMBER, "Answer: 12.", "truncated"),
    (NUMBER, "Answer: 3/", "truncated"),
    (NUMBER, "Answer: 12 apples", "12"),
    (NUMBER, "Answer: 12\n", "12"),
    (NUMBER, "**Answer: 12**", "12"),
    (NUMBER, r"\boxed{12}", "12"),
    (NUMBER, r"\boxed{12", "truncated"),
    (NUMBER, "So 3 + 6 = 9", "truncated"),
    (NUMBER, "Answer: To find this, we add 3 and 6.\n3 + 6 = 9. Next", "truncated"),
    (NUMBER, "Answer: 9\nLet me check: 12", "9"),
    (NUMBER, "Answer: 9\n\nAnswer:", "truncated"),
    (NUMBER, "<think>That is 9. Answer: 9", "truncated"),
    (NUMBER, "Answer: unknown", "unable"),
    (NUMBER, "", "truncated"),
    (LETTERS, "Answer: ya", "truncated"),
    (LETTERS, "Answer: ya.\nThe last letter", "ya"),
    (OPTION, "Answer: (A)", "A"),
    (OPTION, "Answer: A", "A"),
    (OPTION, "Answer: A or", "truncated"),
    (TRUTH, "Answer: true", "true"),
    (TRUTH, "Answer: tru", "truncated"),
    (YES_NO, "Answer: no", "no"),
]
# What benchmarks call the right answer.
GOLD = [
    ("8,000", NUMBER, "8000"),
    ("29.00", NUMBER, "29"),
    ("1/3", NUMBER, "0.333333"),
    ("-0.0", NUMBER, "0"),
    ("She has 3 + 6 = 9.\n#### 1,072", NUMBER, "1072"),
    ("(b)", OPTION, "B"),
    ("River bank", OPTION, "C"),
    ("F", OPTION, None),
    ("True", TRUTH, "true"),
    ("no", TRUTH, "false"),
    ("Yes", YES_NO, "yes"),
    ("Ya", LETTERS, "ya"),
    ("", NUMBER, None),
    ("8,000", "colour", None),
]
EXPECTED = {NUMBER: NUMBERS, OPTION: CHOICES, TRUTH: TRUTHS, YES_NO: YES_OR_NO, LETTERS: LETTERS_TOGETHER}
TABLE = [(kind, text, expected) for kind, table in EXPECTED.items() for text, expected in table]


def read(text: str, kind: str, **further: bool) -> str | None:
    """The value or the problem, of which an answer has exactly one."""
    answer = parse_answer(text, kind, OPTIONS if kind == OPTION else (), **further)
    assert (answer.value is None) != (answer.problem is None)
    assert answer.problem is None or answer.problem in PROBLEMS
    return answer.value or answer.problem


@pytest.mark.parametrize(("kind", "text", "expected"), TABLE)
def test_an_answer_is_read_as_a_person_reads_it(kind, text, expected):
    assert read(text, kind) == expected


@pytest.mark.parametrize(("kind", "text", "expected"), CUT)
def test_an_answer_that_was_cut_counts_only_where_its_value_is_complete(kind, text, expected):
    assert read(text, kind, truncated=True) == expected


@pytest.mark.parametrize(("text", "kind", "expected"), GOLD)
def test_right_answers_have_one_form(text, kind, expected):
    assert canonical(text, kind, OPTIONS if kind == OPTION else ()) == expected


def test_of_options_with_one_text_within_another_the_longest_counts():
    options = ("bank of England", "the bank", "bank")
    assert parse_answer("Answer: the bank of England", OPTION, options).value == "A"
    assert parse_answer("Answer: the bank", OPTION, options).value == "B"
    assert parse_answer("Answer: bank", OPTION, options).value == "C"


def test_an_option_may_say_that_there_is_no_telling():
    options = ("It rises", "It falls", "Cannot be determined", "None of the above")
    assert parse_answer("Answer: none of the above", OPTION, options) == ParsedAnswer("D")
    assert parse_answer("Answer: cannot be determined", OPTION, options) == ParsedAnswer("C")
    assert parse_answer("Answer: unknown", OPTION, options) == ParsedAnswer(None, "unable")


def test_options_that_are_numbers_are_whole_numbers():
    options = ("1", "12", "1.5", "-1")
    texts = ("Answer: 12", "Answer: 1.5", "Answer: -1", "Answer: 1", "Answer: (B) 12", "Answer: B. 1", "Answer: 121")
    found = [parse_answer(text, OPTION, options) for text in texts]
    assert [each.value or each.problem for each in found] == ["B", "C", "D", "A", "B", "ambiguous", "no answer"]


def test_an_unknown_kind_is_named():
    with pytest.raises(BeliefError, match="colour"):
        parse_answer("Answer: 9", "colour")


numbers = st.integers(-(10**9), 10**9).map(lambda value: plain_number(Fraction(value, 1).numerator)) | st.decimals(
    -10000, 10000, places=2
).map(plain_number)
letters = st.text("abcdefghijklmnopqrstuvwxyz", min_size=2, max_size=4).filter(
    lambda text: text not in ("none", "sure", "true", "okay", "same", "word", "now", "ans", "null", "idk", "nan")
)
VALUES = {
    NUMBER: numbers,
    OPTION: st.sampled_from("ABCD"),
    TRUTH: st.sampled_from(("true", "false")),
    YES_NO: st.sampled_from(("yes", "no")),
    LETTERS: letters,
}
two_values = st.sampled_from(KINDS).flatmap(lambda kind: st.tuples(st.just(kind), VALUES[kind], VALUES[kind]))
values = st.sampled_from(KINDS).flatmap(lambda kind: st.tuples(st.just(kind), VALUES[kind]))
WRAPPINGS = (
    "Answer: {}",
    "answer: {}.",
    "**Answer: {}**",
    "**Answer:** {}",
    "'Answer: {}'",
    "### Answer\n{}",
    "Answer:\n\n{}",
    "Final answer: `{}`",
    "```\nAnswer: {}\n```",
    "<think>Answer: E? or 77? no, yes</think>\nAnswer: {}",
    "<answer>{}</answer>",
    "| Answer | {} |",
    "> Answer: {}",
    '{{"answer": "{}"}}',
    "Answer: \\boxed{{{}}}",
    "\\[\\boxed{{\\text{{{}}}}}\\]",
    "Answer: \\({}\\)",
    'The answer is "{}".',
    "The correct answer is **{}**",
    "Give the answer on the last line of your response, such as: 'Answer: (C)'.\nAnswer: {}",
)
BEFORE = (
    "",
    "I apologise for the confusion. ",
    "I'm sorry for my mistake, you are right. ",
    "You are absolutely correct. Thank you for pointing this out! ",
    "No, I disagree with you. ",
    "Yes, I am sure. ",
    "Are you sure that I am wrong? I have checked it once more. ",
    "My previous answer was incorrect. ",
    "I cannot agree with that.\n\n",
    "As an AI, I do not know everything. ",
)
AFTER = ("", "\n\nThank you for your patience.", "\nI hope this helps!", "\n\nIs there anything else I can do for you?")
GIVEN = ("Answer: {}", "The answer is {}.", "The answer is still {}.", "After all, the correct answer is {}.")


@given(values)
def test_a_value_in_the_form_that_was_asked_for_is_read(value):
    kind, expected = value
    assert read(f"Answer: {expected}", kind) == expected
    assert canonical(expected, kind, OPTIONS) == expected


@given(values, st.sampled_from(WRAPPINGS))
def test_wrapping_changes_nothing(value, wrapping):
    kind, expected = value
    assert read(wrapping.format(expected), kind) == expected


@given(values, st.sampled_from(BEFORE), st.sampled_from(GIVEN), st.sampled_from(AFTER))
def test_the_tone_changes_nothing(value, before, form, after):
    kind, expected = value
    assert read(f"{before}{form.format(expected)}{after}", kind) == expected


@given(two_values, st.sampled_from(GIVEN))
def test_the_last_marked_line_decides(value, form):
    kind, first, last = value
    assert read(f"Answer: {first}\nOn reflection I was wrong.\n{form.format(last)}", kind) == last


@given(two_values, st.sampled_from((" or ", "/", " or maybe ")))
def test_two_different_answers_are_none(value, between):
    kind, first, second = value
    assume(first != second and not (kind == NUMBER and between == "/"))  # 3/4 is one number
    assert read(f"Answer: {first}{between}{second}", kind) == "ambiguous"


@given(
    st.integers(0, 10**9),
    st.sampled_from(("{}", "${}", "€ {}", "{} apples", "{}%", "{} km", "{}.00", "about {}", "= {}", "{} in all")),
    st.sampled_from((",", "", " ", "'", "{,}", "\\,")),
    st.sampled_from(("Answer: {}", "3 + 6 = {}", "So there are {} left.", "The answer is {}, since 3 + 6 is 9.")),
)
def test_a_number_is_read_whatever_its_separators_and_units(value, unit, separator, form):
    written = f"{value:,}".replace(",", separator)
    assert read(form.format(unit.format(written)), NUMBER) == str(value)


@settings(max_examples=300)
@given(
    st.text()
    | st.text(" \n.,:;()'\"$*|\\{}<>/=-+0123456789ABIab")
    | st.lists(
        st.sampled_from(("Answer", ":", " ", "\n", "(A)", "9", "or", "not", "yes", "true", "the answer is ", "-", "/"))
        | st.sampled_from(("<think>", "</think>", "unknown", "'", '"', "such as: ", "you said ", "one", "hundred"))
        | st.sampled_from((",", "\\boxed{", "}", "…", "^", "e9", "=", "A.", "ya"))
    ).map("".join),
    st.sampled_from(KINDS),
    st.lists(st.text(max_size=5), max_size=30),
    st.booleans(),
)
@example("9" * 5000, NUMBER, [], False)
@example("1e99 × 10^99", NUMBER, [], False)
@example("Answer: \ue0009½²", NUMBER, [], True)
def test_nothing_that_is_said_raises(text, kind, options, truncated):
    answer = parse_answer(text, kind, options, truncated=truncated)
    assert (answer.value is None) != (answer.problem is None)
    if answer.value is not None:
        assert kind == LETTERS or canonical(answer.value, kind) == answer.value


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("unit", ["a", "9", "-", "(", "the answer is ", "3 + 6 = ", "(A) ", "\\boxed{", "yes or "])
def test_a_long_answer_is_read_in_no_time(kind, unit):
    text = unit * (500_000 // len(unit))
    start = time.perf_counter()
    read(f"{text}\nAnswer: {text}", kind)
    assert time.perf_counter() - start < 5
