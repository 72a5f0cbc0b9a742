"""A small OpenAI-compatible server on loopback that gives right answers and misbehaves on demand."""

import functools
import gzip
import hashlib
import json
import math
import re
import socket
import struct
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

#: Tells the SDK to try again at once, so that a test of retries does not wait for its back-off.
AT_ONCE = {"retry-after-ms": "1"}

#: Bytes of a reply that is too large.
HUGE = 100 * 2**20


@functools.cache
def bomb() -> bytes:
    """A hundred thousand bytes that unpack to a hundred million."""
    return gzip.compress(b" " * HUGE, 6)


@dataclass(frozen=True)
class Seen:
    """One request that reached the server.

    Attributes:
        body: the JSON that was sent.
        headers: names in small letters.
        time: when it came, in seconds of the monotonic clock.
        fault: what the server did with it, ``ok`` for a right answer.
    """

    body: Mapping[str, Any]
    headers: Mapping[str, str]
    time: float
    fault: str

    @property
    def prompt(self) -> str:
        """The text of the last message."""
        return self.body["messages"][-1]["content"]

    @property
    def wanted(self) -> int:
        """How many answers were asked for."""
        return self.body.get("n", 1)


class FakeServer:
    """The server; use it with ``with``.

    Attributes:
        requests: what came, oldest first.
        script: faults for the requests to come, one each; when it is empty, ``always`` holds.
        always: the fault of every request that the script says nothing about (``ok``: none).
        choose: says the fault of a request from its body, before ``always`` is looked at.
        latency: seconds that an answer takes.
        huge_sent: bytes of the last huge reply that the client took.
        answer: the text of an answer, from the request's body, how many answers to the same body came before, and
            the place among those of one request.
        words: the probabilities of first words, told where log-probabilities are asked for.
        fingerprint: the system fingerprint that answers carry.
        reasoning: what answers bring beside their text as a reasoning model's thoughts.
    """

    def __init__(self) -> None:
        self.requests: list[Seen] = []
        self.script: deque[str] = deque()
        self.always = "ok"
        self.choose: Callable[[Mapping[str, Any]], str | None] = lambda body: None
        self.latency = 0.0
        self.answer: Callable[[Mapping[str, Any], int, int], str] = right_answer
        self.words: Callable[[Mapping[str, Any]], Mapping[str, float]] = lambda body: {"Yes": 0.6, "No": 0.4}
        self.fingerprint = "fp_fake"
        self.reasoning: str | None = None
        self.huge_sent = 0
        self.stopping = threading.Event()
        self._lock = threading.Lock()
        self._answered: dict[str, int] = {}
        self._connections: set[socket.socket] = set()
        self._http = _Server(("127.0.0.1", 0), _Handler)
        self._http.fake = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        """The ``base_url`` of the API."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    @property
    def faults(self) -> list[str]:
        """What the server did with each request, oldest first."""
        return [seen.fault for seen in self.requests]

    def __enter__(self) -> "FakeServer":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop listening and close every connection; a second call does nothing."""
        if self.stopping.is_set():
            return
        self.stopping.set()
        self._http.shutdown()
        with self._lock:
            open_now = list(self._connections)
        for connection in open_now:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._http.server_close()
        self._thread.join()

    def take(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> str:
        """Note a request and choose its fault."""
        with self._lock:
            fault = self.script.popleft() if self.script else self.choose(body) or self.always
            self.requests.append(Seen(body, headers, time.monotonic(), fault))
        return fault

    def number(self, body: Mapping[str, Any], answers: int) -> int:
        """How many answers to the same request came before, so that repetitions differ."""
        name = json.dumps({key: value for key, value in body.items() if key != "n"}, sort_keys=True)
        with self._lock:
            before = self._answered.get(name, 0)
            self._answered[name] = before + answers
        return before


def right_answer(body: Mapping[str, Any], before: int, choice: int) -> str:
    """JSON in the form that the prompt's last sentence asks for; the same request gets the same values."""
    form = re.search(r"in the form \{(.*)\}", body["messages"][-1]["content"])
    if form is None:
        return "yes"
    fields = re.findall(r'("(?:[^"\\]|\\.)*"): (probability|"[^,}]*)', form.group(1))
    digest = hashlib.sha256(json.dumps([body["messages"], before + choice]).encode()).digest()
    answer: dict[str, Any] = {}
    shares = [1 + byte for byte in digest[: len(fields)]]
    for place, (name, kind) in enumerate(fields):
        words = re.findall(r'"([^"]*)"', kind)
        value = words[digest[place] % len(words)] if words else round(shares[place] / sum(shares), 2)
        answer[json.loads(name)] = value
    return json.dumps(answer)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    fake: FakeServer

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        with self.fake._lock:
            self.fake._connections.add(connection)
        return connection, address

    def shutdown_request(self, request: Any) -> None:
        with self.fake._lock:
            self.fake._connections.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that is killed in mid-request is what some tests are about; nothing to print."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 20

    def log_message(self, *arguments: object) -> None:
        """Stay silent."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        fake = self.server.fake
        fault = fake.take(body, headers)
        if fake.latency:
            fake.stopping.wait(fake.latency)
        if self.path != "/v1/chat/completions":
            self._send(404, _error("no such path"))
            return
        getattr(self, f"_fault_{fault.replace(' ', '_')}")(body)

    def _send(
        self, status: int, content: Any, headers: Mapping[str, str] | None = None, kind: str = "application/json"
    ) -> None:
        payload = content if isinstance(content, bytes) else json.dumps(content).encode()
        self._write(status, payload, len(payload), headers or {}, kind)

    def _write(self, status: int, payload: bytes, length: int, headers: Mapping[str, str], kind: str) -> None:
        lines = [f"HTTP/1.1 {status} Told", f"content-type: {kind}", f"content-length: {length}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        # In one piece: two writes would wait for each other's acknowledgement.
        self.wfile.write("\r\n".join([*lines, "", ""]).encode() + payload)

    def _reply(self, body: Mapping[str, Any], count: int, **changes: Any) -> dict[str, Any]:
        fake = self.server.fake
        before = fake.number(body, count)
        finish = changes.pop("finish_reason", "stop")
        texts = changes.pop("texts", None) or [fake.answer(body, before, place) for place in range(count)]
        prompt = sum(len(message["content"]) for message in body["messages"]) // 4
        completion = sum(len(text or "") for text in texts) // 4
        return {
            "id": "chatcmpl-fake",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": body["model"] + "-2026-01-01",
            "system_fingerprint": fake.fingerprint,
            "choices": [self._choice(body, place, text, finish) for place, text in enumerate(texts)],
            "usage": {
                "prompt_tokens": prompt,
                "completion_tokens": completion,
                "total_tokens": prompt + completion,
            },
            **changes,
        }

    def _choice(self, body: Mapping[str, Any], place: int, text: str | None, finish: str) -> dict[str, Any]:
        message = {"role": "assistant", "content": text}
        if self.server.fake.reasoning:
            message["reasoning_content"] = self.server.fake.reasoning
        choice: dict[str, Any] = {"index": place, "finish_reason": finish, "message": message}
        if body.get("logprobs"):
            words = self.server.fake.words(body)
            top = [{"token": word, "logprob": math.log(share), "bytes": None} for word, share in words.items()]
            choice["logprobs"] = {"content": [{**top[0], "top_logprobs": top[: body["top_logprobs"]]}]}
        return choice

    def _fault_ok(self, body: Mapping[str, Any]) -> None:
        self._send(200, self._reply(body, body.get("n", 1)))

    def _fault_429(self, body: Mapping[str, Any]) -> None:
        self._send(429, _error("Rate limit reached"))

    def _fault_429_at_once(self, body: Mapping[str, Any]) -> None:
        self._send(429, _error("Rate limit reached"), AT_ONCE)

    def _fault_429_in_a_second(self, body: Mapping[str, Any]) -> None:
        self._send(429, _error("Rate limit reached"), {"retry-after": "1"})

    def _fault_429_in_an_hour(self, body: Mapping[str, Any]) -> None:
        self._send(429, _error("You exceeded your quota"), {"retry-after": "3600"})

    def _fault_500(self, body: Mapping[str, Any]) -> None:
        self._send(500, _error("The server had an error"), AT_ONCE)

    def _fault_500_without_a_word(self, body: Mapping[str, Any]) -> None:
        self._send(500, b"", AT_ONCE)

    def _fault_503(self, body: Mapping[str, Any]) -> None:
        self._send(503, b"<html>Service Unavailable</html>", AT_ONCE, "text/html")

    def _fault_slow(self, body: Mapping[str, Any]) -> None:
        self.server.fake.stopping.wait(5)
        self.close_connection = True

    def _fault_reset(self, body: Mapping[str, Any]) -> None:
        payload = json.dumps(self._reply(body, body.get("n", 1))).encode()
        self._write(200, payload[: len(payload) // 2], len(payload), {}, "application/json")
        # Lingering for no time makes close() send a reset instead of a polite end.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()

    def _fault_drip(self, body: Mapping[str, Any]) -> None:
        payload = json.dumps(self._reply(body, body.get("n", 1))).encode()
        self._write(200, payload[:1], len(payload), {}, "application/json")
        for place in range(1, len(payload)):
            if self.server.fake.stopping.wait(0.1):
                return
            with suppress(OSError):
                self.wfile.write(payload[place : place + 1])

    def _fault_bomb(self, body: Mapping[str, Any]) -> None:
        self._send(200, bomb(), {"content-encoding": "gzip"})

    def _fault_huge(self, body: Mapping[str, Any]) -> None:
        self._write(200, b'{"choices": [{"message": {"content": "', HUGE, {}, "application/json")
        piece = b"x" * 2**20
        sent = 0
        with suppress(OSError):
            while sent < HUGE:
                self.wfile.write(piece)
                sent += len(piece)
                self.server.fake.huge_sent = sent
        self.close_connection = True

    def _fault_gzip(self, body: Mapping[str, Any]) -> None:
        packed = gzip.compress(json.dumps(self._reply(body, body.get("n", 1))).encode())
        self._send(200, packed, {"content-encoding": "gzip"})

    def _fault_moved(self, body: Mapping[str, Any]) -> None:
        self._send(307, b"", {"location": "/v1/elsewhere"})

    def _fault_echo(self, body: Mapping[str, Any]) -> None:
        self._send(200, self._reply(body, 1, texts=[f"You sent {self.headers['authorization']}"]))

    def _fault_no_choices(self, body: Mapping[str, Any]) -> None:
        self._send(200, self._reply(body, 0, choices=[]))

    def _fault_length(self, body: Mapping[str, Any]) -> None:
        self._send(200, self._reply(body, 1, texts=['{"No": 0.'], finish_reason="length"))

    def _fault_content_filter(self, body: Mapping[str, Any]) -> None:
        self._send(200, self._reply(body, 1, texts=[None], finish_reason="content_filter"))

    def _fault_prompt_filtered(self, body: Mapping[str, Any]) -> None:
        self._send(400, _error("The prompt was filtered", code="content_filter"))

    def _fault_refusal(self, body: Mapping[str, Any]) -> None:
        reply = self._reply(body, 1, texts=[None])
        reply["choices"][0]["message"]["refusal"] = "I cannot give medical advice."
        self._send(200, reply)

    def _fault_malformed(self, body: Mapping[str, Any]) -> None:
        self._send(200, b'{"id": "chatcmpl-fake", "choices": [{"index": 0, "mess')

    def _fault_other_shape(self, body: Mapping[str, Any]) -> None:
        self._send(200, {"choices": [{"text": "an answer of the older API"}]})

    def _fault_web_page(self, body: Mapping[str, Any]) -> None:
        self._send(200, b"<html>Log in to the guest network</html>", kind="text/html")

    def _fault_one_choice(self, body: Mapping[str, Any]) -> None:
        self._send(200, self._reply(body, 1))

    def _fault_two_more(self, body: Mapping[str, Any]) -> None:
        self._send(200, self._reply(body, body.get("n", 1) + 2))

    def _fault_no_usage(self, body: Mapping[str, Any]) -> None:
        reply = self._reply(body, body.get("n", 1))
        del reply["usage"], reply["system_fingerprint"]
        self._send(200, reply)

    def _fault_unsupported(self, body: Mapping[str, Any]) -> None:
        message = "Unsupported parameter: 'max_tokens' is not supported with this model."
        self._send(400, _error(message, code="unsupported_parameter"))

    def _fault_422(self, body: Mapping[str, Any]) -> None:
        self._send(422, {"detail": [{"loc": ["body", "top_k"]}]})

    def _fault_tells_key(self, body: Mapping[str, Any]) -> None:
        key = self.headers["authorization"].removeprefix("Bearer ")
        self._send(400, _error(f"\x1b[31mbad header\nAuthorization: Bearer {key}" + " and so on" * 100))

    def _fault_401(self, body: Mapping[str, Any]) -> None:
        key = self.headers["authorization"].removeprefix("Bearer ")
        self._send(401, _error(f"Incorrect API key provided: {key}"))

    def _fault_404(self, body: Mapping[str, Any]) -> None:
        self._send(404, _error("The model does not exist", code="model_not_found"))


def _error(message: str, code: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": "fake", "param": None, "code": code}}


def asked_for(requests: Sequence[Seen]) -> Counter[str]:
    """How many answers were asked for in all, per prompt."""
    answers: Counter[str] = Counter()
    for seen in requests:
        answers[seen.prompt] += seen.wanted
    return answers
