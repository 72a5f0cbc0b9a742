"""The benchmarks from where their authors published them, for a user who has a network."""

import http.client
import io
import logging
import re
import tarfile
import tempfile
import urllib.request
import zlib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from belief_utils.errors import BeliefError
from belief_utils.followup.benchmarks import FILES, install

logger = logging.getLogger(__name__)

_ZERO_SHOT_COT = "https://raw.githubusercontent.com/kojima-takeshi188/zero_shot_cot/main/dataset"
#: Where each official file is. Last Letters is published with four names an item; the first two are taken.
ADDRESSES = {
    "gsm8k": "https://raw.githubusercontent.com/openai/grade-school-math/master/grade_school_math/data/test.jsonl",
    "svamp": "https://raw.githubusercontent.com/arkilpatel/SVAMP/main/SVAMP.json",
    "multiarith": f"{_ZERO_SHOT_COT}/MultiArith/MultiArith.json",
    "commonsenseqa": "https://s3.amazonaws.com/commensenseqa/dev_rand_split.jsonl",
    "strategyqa": "https://raw.githubusercontent.com/google/BIG-bench/main/bigbench/benchmark_tasks/strategyqa/task.json",
    "last_letters": f"{_ZERO_SHOT_COT}/last_letters/last_letters.json",
    "coin_flip": f"{_ZERO_SHOT_COT}/coin_flip/coin_flip.json",
    "mmlu": "https://people.eecs.berkeley.edu/~hendrycks/data.tar",
}
#: Seconds that a server may be silent.
PATIENCE = 60
#: No benchmark is larger; what is, is not a benchmark.
MOST_BYTES = 512 * 1024**2

#: The file of one subject of MMLU.
_SUBJECT = re.compile(r"[a-z_]+_test\.csv")


def download(into: Path | None = None, addresses: Mapping[str, str] = ADDRESSES) -> dict[str, int]:
    """Get the official files, check them and put them where they are looked for.

    Args:
        into: ``data/benchmarks`` by default.
        addresses: by benchmark.

    Returns:
        The number of items of each benchmark.

    Raises:
        BeliefError: an address cannot be reached, or what it brought is not the benchmark. Nothing is kept then.
    """
    with tempfile.TemporaryDirectory() as scratch:
        for name, address in addresses.items():
            logger.info(f"{name}: {address}")
            _put(name, _fetched(name, address), Path(scratch))
        return install(Path(scratch), into)


def _fetched(name: str, address: str) -> bytes:
    try:
        with urllib.request.urlopen(address, timeout=PATIENCE) as reply:
            content, promised = reply.read(MOST_BYTES + 1), reply.headers.get("Content-Length", "")
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = " ".join(str(getattr(error, "reason", None) or error or type(error).__name__).split())
        raise BeliefError(
            f"{name}: {address} cannot be reached ({reason}); get the file by hand and use --from DIR"
        ) from error
    if len(content) > MOST_BYTES:
        raise BeliefError(f"{name}: {address} brought more than {MOST_BYTES // 1024**2} MB, which is no benchmark")
    # Python tells nobody that a connection ended before its time.
    if promised.isdecimal() and len(content) < int(promised):
        raise BeliefError(f"{name}: {address} brought {len(content):,} of {int(promised):,} bytes; try again")
    return content


def _put(name: str, content: bytes, folder: Path) -> None:
    target = folder / FILES[name][0]
    if name != "mmlu":
        target.write_bytes(content)
        return
    target.mkdir(parents=True)
    try:
        unpacked = _subjects(content)
    except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
        # Some of these messages have a line for each way in which it was tried.
        what = (str(error) or type(error).__name__).splitlines()[0].rstrip(":")
        raise BeliefError(f"mmlu: the archive is cut off or is none ({what}); try again") from error
    for file, text in unpacked.items():
        (target / file).write_bytes(text)
    if not unpacked:
        raise BeliefError("mmlu: the archive holds no test split; get it by hand and use --from DIR")


def _subjects(content: bytes) -> dict[str, bytes]:
    """The files of the test split by their own names: where an archive says that its files go counts for nothing."""
    found: dict[str, bytes] = {}
    left = MOST_BYTES
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        for member in archive:
            path = PurePosixPath(member.name)
            if not (member.isfile() and path.parent.name == "test" and _SUBJECT.fullmatch(path.name)):
                continue
            left -= member.size
            if left < 0:
                raise BeliefError(
                    f"mmlu: the archive holds more than {MOST_BYTES // 1024**2} MB, which is no benchmark"
                )
            found[path.name] = archive.extractfile(member).read()
    return found
