#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Opens connections to the server of `gotrace view` that disturb others, and requests its data meanwhile.

    clients.py URL idle N      N connections on which nothing is sent, and which are kept open
    clients.py URL stalled N   N requests of the data of which nothing is read, twice in a row
    clients.py URL slow N      the same, of which a byte is read now and then
    clients.py URL garbage N   N connections with random bytes, truncated and oversized requests

Exits with 1, and the reason, unless a client that behaves gets the page and all of the data.
"""
import json
import random
import resource
import socket
import sys
import threading
import urllib.parse
import urllib.request

WAIT = 30  # s, for an answer: much longer than one takes


def connect(url):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.settimeout(WAIT)
    s.connect((url.hostname, url.port))
    return s


def send(s, data):
    """The server may refuse or close the connection before all is sent."""
    try:
        s.sendall(data)
    except OSError:
        pass


def request(url, path):
    return f"GET {url.path}{path} HTTP/1.1\r\nHost: {url.netloc}\r\n\r\n".encode()


def answers(url):
    with urllib.request.urlopen(url.geturl() + "data.json", timeout=WAIT) as answer:
        data = json.load(answer)
    with urllib.request.urlopen(f"{url.geturl()}range.json?from=0&to={data['trace']['ns']}", timeout=WAIT) as answer:
        part = json.load(answer)
    if not data["lanes"] or not part["lanes"]:
        sys.exit("the answer has no lanes")


def read_slowly(sockets, stop):
    while not stop.wait(0.2):
        for s in sockets:
            try:
                s.recv(1)
            except OSError:
                pass


def garbage(chance, url):
    return chance.choice((
        lambda: chance.randbytes(chance.randrange(1, 3000)),
        lambda: request(url, "data.json")[:chance.randrange(1, 60)],
        lambda: request(url, "a" * 200000),
        lambda: b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 50000,
        lambda: request(url, "data.json")[:-2] + b"Content-Length: 99999999999999999999\r\n\r\n",
        lambda: request(url, f"range.json?from={chance.randrange(2**70)}&to=%{chance.randrange(256):02x}&lanes={'p:0,' * 9000}"),
        lambda: request(url, "range.json?" + "&".join(f"from={i}" for i in range(3000))),
    ))()


def main():
    url, what, n = urllib.parse.urlparse(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(n + 100, limit[1]), limit[1]))
    chance, sockets, stop = random.Random(1), [], threading.Event()
    for _ in range(n):
        s = connect(url)
        sockets.append(s)
        if what in ("stalled", "slow"):
            send(s, 2 * request(url, "data.json"))
        elif what == "garbage":
            send(s, garbage(chance, url))
    reader = threading.Thread(target=read_slowly, args=(sockets, stop)) if what == "slow" else None
    if reader:
        reader.start()
    try:
        for _ in range(5):
            answers(url)
    finally:
        stop.set()
        if reader:
            reader.join()


main()
