"""How fast `belief collect` asks and how fast a warm store opens; run it on a quiet machine.

    python bench/collect_bench.py [--requests 2000] [--rounds 3] [--responses 100000]

Throughput: the same requests at concurrency 64 to an endpoint on this machine that takes 50 ms, once by a bare
asyncio loop over the OpenAI client and once by `collect` with its store on the disk, in turns. The goal is 95 %.
Warm store: opening it and looking up every answer, in under 5 s and 500 MB.
"""

# ruff: noqa: T201

import argparse
import asyncio
import json
import multiprocessing
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LATENCY = 0.05
CONCURRENCY = 64

ANSWER = json.dumps(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "bench-1-2026-01-01",
        "system_fingerprint": "fp_bench",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": '{"No": 0.31, "Yes": 0.69}'},
            }
        ],
        "usage": {"prompt_tokens": 120, "completion_tokens": 12, "total_tokens": 132},
    }
).encode()
REPLY = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (len(ANSWER), ANSWER)


class _Connection(asyncio.Protocol):
    """One connection to the endpoint: every whole request is answered after the latency."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport, self._received = transport, b""

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, end, body = self._received.partition(b"\r\n\r\n")
        if end and len(body) >= int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]):
            self._received = b""
            asyncio.get_running_loop().call_later(LATENCY, self._transport.write, REPLY)


def _serve(port: "multiprocessing.connection.Connection") -> None:
    async def serve() -> None:
        server = await asyncio.get_running_loop().create_server(_Connection, "127.0.0.1", 0, backlog=256)
        port.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(serve())


@contextmanager
def endpoint() -> Iterator[str]:
    """Run the endpoint in a process of its own and yield its address."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.Process(target=_serve, args=(there,), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{here.recv()}/v1"
    finally:
        process.kill()
        process.join()


def questions(number: int, round_: int) -> list:
    """So many questions of the length of the paper's, others in every round."""
    from belief_utils.asking.ask import Question
    from belief_utils.asking.formats import AnswerFormat

    form = AnswerFormat.probabilities(("No", "Yes"))
    words = "There is a patient who is in an inpatient setting and whose ECG shows many things. " * 5
    return [
        Question(f"bench/{n}", ({"role": "user", "content": f"{round_} {n} {words} {form.instruction()}"},), form)
        for n in range(number)
    ]


async def _bare(address: str, bodies: list[dict]) -> int:
    import openai

    work, texts = iter(bodies), []
    client = openai.AsyncOpenAI(
        base_url=address, api_key="none", timeout=60, http_client=openai.DefaultAsyncHttpxClient(trust_env=False)
    )

    async def worker() -> None:
        for body in work:
            reply = await client.chat.completions.create(**body)
            texts.append(reply.choices[0].message.content)

    await asyncio.gather(*(worker() for _ in range(CONCURRENCY)))
    await client.close()
    return len(texts)


def _timed(work) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def throughput(requests: int, rounds: int, folder: Path) -> None:
    """Print requests per second of both, and their ratio."""
    from belief_utils.asking.ask import collect, openai_answerer, what_is_sent
    from belief_utils.asking.models import Model
    from belief_utils.asking.store import Store

    spent = {"bare": [0.0, 0.0], "collect": [0.0, 0.0]}
    with endpoint() as address:
        model = Model("bench", "Bench", "hosted", "bench-1", base_url=address, concurrency=CONCURRENCY, timeout=60)
        model = Model(**{**vars(model), "answer_format": "json_schema", "parameters": {"temperature": 1.0}})
        asyncio.run(_bare(address, [what_is_sent(model, one) for one in questions(200, -1)]))
        for round_ in range(rounds):
            asked = questions(requests, round_)
            bodies = [what_is_sent(model, one) for one in asked]
            store = Store(folder / f"{round_}.jsonl")
            runs = {
                "bare": lambda bodies=bodies: asyncio.run(_bare(address, bodies)),
                "collect": lambda asked=asked, store=store: collect(
                    model, asked, 1, store, openai_answerer(model), progress=False
                ),
            }
            for name in sorted(runs, reverse=bool(round_ % 2)):
                for place, seconds in enumerate(_timed(runs[name])):
                    spent[name][place] += seconds
            assert len(Store(store.path)) == requests
    total = requests * rounds
    for name, (wall, cpu) in spent.items():
        print(f"{name:8} {total / wall:8.0f} requests/s, {1e6 * cpu / total:6.0f} us of this processor each")
    print(f"collect reaches {spent['bare'][0] / spent['collect'][0]:.1%} of the bare loop")


def _open(path: Path, asked: int, result: "multiprocessing.connection.Connection") -> None:
    from belief_utils.asking.ask import missing
    from belief_utils.asking.models import Model
    from belief_utils.asking.store import Store

    model = Model("bench", "Bench", "hosted", "bench-1", answer_format="json_schema")

    def work() -> None:
        lacking, cached = missing(model, questions(asked, 0), 5, Store(path))
        assert (len(lacking), cached) == (0, 5 * asked)

    spent = _timed(work)
    # The most that this process has had; getrusage would tell that of the process that it was made by, too.
    most = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    result.send((*spent, int(most.split()[1]) / 1024))


def warm_store(responses: int, folder: Path) -> None:
    """Print the time and memory that a store of so many responses takes to open and to answer everything."""
    from belief_utils.asking.ask import Answer, Batch, what_is_sent
    from belief_utils.asking.models import Model
    from belief_utils.asking.questions import line_for
    from belief_utils.asking.store import Store

    model = Model("bench", "Bench", "hosted", "bench-1", answer_format="json_schema")
    store = Store(folder / "warm.jsonl")
    answer = Answer('{"No": 0.31, "Yes": 0.69}', "stop", {"prompt_tokens": 120, "completion_tokens": 12}, "b", "fp")
    with store.writing():
        for one in questions(responses // 5, 0):
            batch = Batch(one, what_is_sent(model, one), tuple(range(5)))
            for repetition in batch.repetitions:
                store.append(line_for(batch, repetition, answer), sync=False)
    for what in ("as lines", "packed"):
        if what == "packed":
            store.pack()
        here, there = multiprocessing.Pipe()
        process = multiprocessing.get_context("spawn").Process(target=_open, args=(store.path, responses // 5, there))
        process.start()
        wall, cpu, megabytes = here.recv()
        process.join()
        print(f"warm store of {responses:,} {what}: {wall:.1f} s ({cpu:.1f} s of this processor), {megabytes:.0f} MB")


def main() -> None:
    """Measure both and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=2000, help="per round (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="default: %(default)s; 0 leaves this part out")
    parser.add_argument("--responses", type=int, default=100_000, help="default: %(default)s; 0 leaves this part out")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.rounds:
            throughput(options.requests, options.rounds, Path(folder))
        if options.responses:
            warm_store(options.responses, Path(folder))


if __name__ == "__main__":
    main()
