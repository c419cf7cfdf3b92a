"""Makes the corpus of fuzz_http.c, operations by name (tests/lib/http_stream.c):

    python3 tests/tools/fuzz_http.py tests/data/fuzz/http
"""
import sys

OPS = ["request", "cut", "request2", "drip", "odd", "raw", "long", "damage", "leave", "wait"]
POST, GET, HEAD, PUT, DELETE, OPTIONS = range(6)
COMPLETIONS, CHAT, HEALTH, MODELS, TINY, OTHER, ROOT, SLASH, DOTS, QUERY, STAR = range(11)
TYPE, CLOSE, CHUNKED, EXPECT = 1, 2, 4, 8
PROMPT, MESSAGES, MAX_TOKENS, TEMPERATURE, STREAM, STOP = 0, 1, 2, 3, 11, 10
STREAM_OPTIONS, N_ODD, N_VALUES, N_FIELDS = 12, 27, 41, 26
THE, THREE, TRUE, USAGE, USER = 0, 4, 11, 29, 31


def op(name, *args):
    return bytes([OPS.index(name), *args])


def request(method, path, how=0, *fields, chunk=None):
    body = [] if method not in (POST, PUT) else [len(fields) // 2, *fields]
    return op("request", method, path, how, *body, *([chunk] if chunk is not None else []))


def complete(*fields, how=TYPE, chunk=None):
    return request(POST, COMPLETIONS, how, PROMPT, THE, MAX_TOKENS, THREE, *fields, chunk=chunk)


def join(parts):
    return b"".join(parts)


def cut(back=0):
    return op("cut", back)


CORPUS = {
    "complete": complete(),
    "complete-close": complete(how=TYPE | CLOSE),
    "stream": complete(STREAM, TRUE) + complete(STREAM, TRUE, STREAM_OPTIONS, USAGE),
    "chat": request(POST, CHAT, TYPE, MESSAGES, USER, MAX_TOKENS, THREE),
    "chat-stream": request(POST, CHAT, TYPE, MESSAGES, USER, MAX_TOKENS, THREE, STREAM, TRUE),
    "chunked": complete(how=TYPE | CHUNKED, chunk=4) + request(GET, HEALTH),
    "pipeline": join(request(m, p) for p in range(11) for m in (GET, HEAD)),
    "methods": join(request(m, p, TYPE) for p in (0, 2, 3) for m in range(1, 6) if m != PUT),
    "in-pieces": complete() + op("drip", 250) + request(GET, MODELS) + op("drip", 30) + cut(),
    "chunked-in-pieces": complete(STREAM, TRUE, how=TYPE | CHUNKED, chunk=0) + op("drip", 255),
    "cut-at-the-head": complete() + cut(40) + cut(2) + complete() + cut(60) + cut(1),
    "expect": complete(how=TYPE | EXPECT) + cut(20),
    # was closed without a reply
    "expect-without-a-body-before-another": request(GET, MODELS, EXPECT) + request(OPTIONS, HEALTH),
    "slow": complete() + join(op("drip", 40) + op("wait", 2) for i in range(4)) + request(GET, HEALTH) + cut() + op("wait", 1),
    "late-head": request(GET, HEALTH) + cut(5) + op("wait", 11),
    "late-body": complete() + cut(5) + op("wait", 31),
    "slow-body": complete() + cut(5) + op("wait", 29) + request(GET, HEALTH) + cut(1) + op("wait", 31),
    "late-next": request(GET, HEALTH) + cut() + op("wait", 28) + request(GET, HEALTH) + cut() + op("wait", 31) + request(GET, HEALTH),
    "leaves": complete() + complete(STREAM, TRUE) + op("leave"),
    "leaves-later": complete(STREAM, TRUE) + cut(30) + op("leave"),
    "no-type": complete(how=0) + request(PUT, COMPLETIONS, TYPE, PROMPT, THE),
    "temperature": join(complete(TEMPERATURE, v) for v in range(8)),
    "stops": join(complete(STOP, v) for v in (0, 14, 16, 18, 23, 24)),
    "long-header": op("long", 1, 20) + op("long", 1, 255),
    "long-path": op("long", 0, 20) + op("long", 0, 255),
    "raw": op("raw", 63, *range(60)) + request(GET, HEALTH),
    "damage": complete() + op("damage", 30, 0) + request(GET, HEALTH) + op("damage", 20, 255),
}
for i in range(N_ODD):
    CORPUS[f"odd-{i:02}"] = request(GET, HEALTH) + op("odd", i) + op("drip", 9) + request(GET, MODELS)
for i in range(N_FIELDS):
    CORPUS[f"field-{i:02}"] = join(request(POST, c, TYPE, c, USER if c else THE, i, v) for c in (0, 1) for v in range(i % 5, N_VALUES, 5))

for name, data in CORPUS.items():
    with open(f"{sys.argv[1]}/{name}", "wb") as f:
        f.write(data)
