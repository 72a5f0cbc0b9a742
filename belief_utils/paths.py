"""Where the repository's files are: the package itself carries no data."""

import os
from pathlib import Path

from belief_utils.errors import BeliefError


def home() -> Path:
    """The repository's top folder.

    It is ``BELIEF_HOME`` where that is set, else the nearest folder with ``data/models.toml`` at or above the
    current one, else the folder that the package was installed from in editable form.

    Raises:
        BeliefError: no such folder is found.
    """
    if named := os.environ.get("BELIEF_HOME"):
        if not (Path(named) / "data" / "models.toml").is_file():
            raise BeliefError(f"BELIEF_HOME is {named}, which has no data/models.toml; set it to the repository")
        return Path(named).resolve()
    here = Path.cwd().resolve()
    for folder in (here, *here.parents, Path(__file__).resolve().parents[1]):
        if (folder / "data" / "models.toml").is_file():
            return folder
    raise BeliefError(
        f"no data/models.toml at or above {here}; run this inside the repository or set BELIEF_HOME to it"
    )


def data(*parts: str) -> Path:
    """A path below ``data/``."""
    return home().joinpath("data", *parts)
