"""Which versions of a model the stored answers come from; hosts change a model without changing its name."""

from collections import Counter
from collections.abc import Mapping

from belief_utils.asking.store import Store


def versions(store: Store) -> dict[str, int]:
    """How many answers each version of the model gave, as the server named it: model id, then fingerprint.

    Returns:
        A count per version, the most frequent one first; empty for an empty store. Answers for which the server
        named neither stand under ``"unnamed"``.
    """
    told = Counter((response.model, response.fingerprint) for response in store.answers())
    found: Counter[str] = Counter()
    for names, number in told.items():
        found[" / ".join(_shown(name) for name in names if name) or "unnamed"] += number
    return dict(found.most_common())


def _shown(name: str) -> str:
    """What a server said, fit to be shown: no control characters, and not without end."""
    return "".join(character for character in name if character.isprintable())[:80]


def version_warning(name: str, found: Mapping[str, int]) -> str | None:
    """One line for answers that come from more than one version of a model; ``None`` where they do not.

    Args:
        name: what the line is about, such as a model's name.
        found: what :func:`versions` returned, of one store or added up over several.
    """
    if len(found) < 2:
        return None
    each = ", ".join(f"{count:,} from {version}" for version, count in found.items())
    return f"WARNING: {name}: the answers come from {len(found)} versions of the model: {each}"
