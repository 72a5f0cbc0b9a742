"""The table of the ways to ask for a belief: one row per way, all about the same cases and decisions."""

from belief_utils.reporting.columns import Table, number_of, p_of, share_read, text_of, whole_of, with_interval_of
from belief_utils.reporting.gathering import TableRules
from belief_utils.reporting.layout import interval

WAYS_TABLE = Table(
    TableRules("ways_to_ask", parts="ways"),
    "Ways to ask for a belief, compared on the same cases and the same decisions",
    {
        "Way": text_of("way"),
        "Cases": whole_of("n_cases"),
        "Answers read": share_read("belief"),
        "Mean belief": number_of("mean_belief", 3),
        "SD within a case": number_of("within_sd", 3),
        "Standard error": number_of("standard_error", 3),
        "Order effect [95 % CI]": with_interval_of("order_effect", 3),
        "Brier score [95 % CI]": with_interval_of("brier", 3),
        "Miscalibration": number_of("miscalibration", 3),
        "RMS from the truth": number_of("from_truth", 3),
        "Rank correlation with verbalised [95 % CI]": with_interval_of("agreement", 2),
        "Excess CMI [95 % CI]": with_interval_of("excess", 3),
        "p": p_of("p_value"),
        "p (Holm)": p_of("holm_p_value"),
        "p (noise-adjusted)": p_of("adjusted_p_value"),
        "Verdict (after Holm)": text_of("holm_verdict"),
        "Bounds of γ": lambda row: interval(row.get("lower_bound"), row.get("upper_bound"), 3),
        "Do beliefs move actions?": text_of("margin_verdict"),
        "Anchored verdict": text_of("anchored_verdict"),
    },
    notes=(
        "Ways: verbalised, a stated probability, as in the paper; token, the probability of the words Yes and No, mean "
        "of both orders of the options; frequency, the share of Yes over repeated answers, mean of both orders; "
        "reasoned, a probability stated after reasoning.",
        "Cases: those with a belief from every way, so that all rows of a model and dataset are about the same ones. "
        "Answers read: over the cases that all ways were asked about. A way that can be read for fewer than half of "
        "its cases is set aside: it does not narrow down the cases, and nothing else is said of it.",
        "The belief of a case is the mean of its reports, and every decision stands beside it; in Tables 1 and 2 each "
        "decision stands beside a report of its own. SD within a case: of single reports. Standard error: of a case's "
        "belief. A token probability is read and not drawn, so that without repetitions it has neither; the single "
        "answers of a frequency are no beliefs, so that it has only the second.",
        "Order effect: the belief with Yes named first less the belief with No named first.",
        "Brier score: mean squared distance from the outcome. Miscalibration: what the best rising recalibration takes "
        "off it, fitted to the same cases and so too large for few of them. RMS from the truth: from the true "
        "probability, noise of the reports included.",
        "p: the same test as in Table 1. Holm: adjusted for the ways of a model and dataset. Noise-adjusted: from "
        "single reports beside single decisions (the answers of a frequency are dealt out to the decisions); missing "
        "where there is only one drawn report a case. The verdict 'knows more than it says' needs both after that.",
        "Excess CMI: in nats, from one decision a case, averaged over repetitions: decisions about one case share its "
        "belief and would be each other's neighbours.",
        "Bounds of γ and verdicts: as in Table 2.",
    ),
)
