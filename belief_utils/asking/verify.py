"""Check stored responses line by line: can each be read, is its key right, and is it as it was written?"""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from belief_utils.asking.lines import is_sealed, read_lines
from belief_utils.asking.responses import request_key


@dataclass(frozen=True)
class Checked:
    """What a check of one store found.

    Attributes:
        lines: lines read.
        answers, failures: of these, answers and failures that count.
        superseded: failures and later answers that another line supersedes.
        keys: lines whose key was recomputed from their request and agrees.
        hashes: lines that end with their own hash, which agrees.
        problems: a sentence for each line that is wrong.
    """

    lines: int
    answers: int
    failures: int
    superseded: int
    keys: int
    hashes: int
    problems: tuple[str, ...]

    def __str__(self) -> str:
        text = (
            f"{self.lines:,} lines: {self.answers:,} answers, {self.failures:,} open failures, "
            f"{self.superseded:,} superseded; {self.keys:,} keys and {self.hashes:,} hashes checked"
        )
        return text + (f"; {len(self.problems):,} WRONG" if self.problems else ", all right")


def verify(path: Path) -> Checked:
    """Check every line of a store, ``NAME.jsonl`` and ``NAME.jsonl.gz`` beside it.

    A line whose text may not be kept holds no request, so that its key cannot be recomputed; an older line has no
    hash. Neither is a problem.

    Raises:
        BeliefError: a line cannot be read at all, or a file is damaged.
    """
    kinds: dict[str, str] = {}
    counts: Counter[str] = Counter()
    problems = []
    for file in (path.with_name(path.name + ".gz"), path):
        for place, record in read_lines(file) if file.exists() else ():
            counts["lines"] += 1
            kind = "failure" if "failure" in record else "answer"
            before = kinds.get(record["key"])
            counts["superseded"] += before is not None
            if before != "answer":
                kinds[record["key"]] = kind
            if record.get("request") is not None:
                counts["keys"] += 1
                if request_key(record["request"], record["repetition"]) != record["key"]:
                    problems.append(f"{place}: the key is not that of the line's request and repetition")
            sealed = is_sealed(record)
            counts["hashes"] += sealed is not None
            if sealed is False:
                problems.append(f"{place}: the line is not as it was written (its hash differs)")
    left = Counter(kinds.values())
    return Checked(
        counts["lines"],
        left["answer"],
        left["failure"],
        counts["superseded"],
        counts["keys"],
        counts["hashes"],
        tuple(problems),
    )
