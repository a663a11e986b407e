# SPDX-License-Identifier: Apache-2.0
"""Throws things at an operator socket and sees that it stays well: for tests/system/operator_socket."""
import json
import random
import socket
import sys

PATH = sys.argv[1]


def connect():
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(20)
    client.connect(PATH)
    return client


def ask(client, line):
    client.sendall(line + b"\n")
    reply = b""
    while not reply.endswith(b"\n"):
        part = client.recv(65536)
        if not part:
            raise ConnectionError("hung up")
        reply += part
    return json.loads(reply)


def refused(line):
    reply = ask(connect(), line)
    assert reply["ok"] is False and reply["error"], (line[:80], reply)


def well():
    reply = ask(connect(), b'{"command": "show", "what": "nodes"}')
    assert reply["ok"] is True, reply


for bad in [b"", b"nonsense", b"[]", b"null", b"{", b'{"command": 1}', b'{"command": "format"}', b'"\xff\xfe"',
            b'{"command": "show"}', b'{"command": "show", "what": "secrets"}', b'{"command": "show", "what": []}',
            b'{"command": "show", "what": "ports", "port": "p1"}',
            b'{"command": "show", "what": "ports", "node": "s1", "port": "p99"}',
            b'{"command": "show", "what": "flows", "limit": -1}', b'{"command": "show", "what": "flows", "limit": 1e99}',
            b'{"command": "show", "what": "flows", "offset": 99999999999999999999}',
            b'{"command": "show", "what": "flows", "interval_ms": 100000000}',
            b'{"command": "link", "port": "s1"}', b'{"command": "link", "port": "s1:p1", "up": false}',
            b'{"command": "link", "port": ":", "loss_ppm": 5}', b'{"command": "node", "node": "s1"}',
            b'{"command": "node", "node": "s9", "up": false}', b"[" * 60000, b'{"a":' * 10000]:
    refused(bad)
well()

# Too long: the connection ends, and only it.
client = connect()
try:
    client.sendall(b"x" * 200000)
    while client.recv(65536):
        pass
except (BrokenPipeError, ConnectionResetError):
    pass
well()

# Many requests at once, in pieces, on one connection; every one is answered in its turn.
client = connect()
line = b'{"command": "version"}\n'
for byte in line * 3:
    client.sendall(bytes([byte]))
client.sendall(line * 500)
replies = b""
while replies.count(b"\n") < 503:
    replies += client.recv(65536)
assert all(json.loads(reply)["ok"] for reply in replies.splitlines())

# Who asks much and never reads harms nobody.
greedy = connect()
greedy.setblocking(False)
try:
    while True:
        greedy.send(b'{"command": "show", "what": "ports"}\n' * 100)
except BlockingIOError:
    pass
well()

# More connections than there are places; those who say nothing make room.
idle = [connect() for _ in range(200)]
well()

randomness = random.Random(1)
for _ in range(300):
    noise = randomness.randbytes(randomness.randrange(1, 2000)).replace(b"\n", b"")
    refused(noise)
well()
