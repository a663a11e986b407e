# SPDX-License-Identifier: Apache-2.0
"""Sends what no honest host sends, and what an honest one does: for tests/system/hostile_host.

attack  raw frames of one kind from eth1 at a rate
source  numbered UDP datagrams at a rate until a file appears; prints how many
sink    counts different numbers until told by the source's last datagram or the time is over; prints how many
"""
import argparse
import os
import random
import socket
import struct
import time

BROADCAST = b"\xff" * 6
FABRIC_GROUP = bytes.fromhex("03686564646c")


def paced(rate, count=None, until=None):
    """Yields numbers at `rate` per second; bursts of at most 32 after a pause."""
    begin, number = time.monotonic(), 0
    while (count is None or number < count) and not (until and os.path.exists(until)):
        due = int((time.monotonic() - begin) * rate)
        for _ in range(min(32, due - number)):
            yield number
            number += 1
            if count is not None and number == count:
                return
        time.sleep(0.001)


def ipv4_udp(source_mac, destination_mac, source_port, destination_port):
    length = 8 + 18
    header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + length, 0, 0x4000, 64, 17, 0,
                         socket.inet_aton("10.0.0.1"), socket.inet_aton("10.0.0.6"))
    total = sum(struct.unpack("!10H", header))
    total = (total & 0xFFFF) + (total >> 16)
    header = header[:10] + struct.pack("!H", ~(total + (total >> 16)) & 0xFFFF) + header[12:]
    udp = struct.pack("!HHHH", source_port, destination_port, length, 0) + bytes(18)
    return destination_mac + source_mac + b"\x08\x00" + header + udp


def frames(kind, mac, victim, randomness):
    """number -> frame"""
    if kind == "fabric":  # every frame kind, well-formed at first sight or noise, to the group or to a station
        def make(number):
            head = bytes([1, number % 9, number % 3, number % 256]) + randomness.randbytes(40 + number % 200)
            return (FABRIC_GROUP if number % 2 else victim) + mac + b"\x88\xb5" + head
    elif kind == "runts":  # 14 bytes up to the least length, with types that promise more
        def make(number):
            ethertype = (b"\x08\x00", b"\x86\xdd", b"\x81\x00", b"\x08\x06")[number % 4]
            return victim + mac + ethertype + randomness.randbytes(number % 24)
    elif kind == "stacked":
        def make(number):
            outer = (b"\x88\xa8", b"\x91\x00", b"\x81\x00")[number % 3]
            return BROADCAST + mac + outer + b"\x00\x0a\x81\x00\x00\x14" + b"\x08\x00" + bytes(46)
    elif kind == "control":  # PAUSE, PFC, BPDUs, group sources
        def make(number):
            if number % 3 == 0:
                return bytes.fromhex("0180c2000001") + mac + b"\x88\x08" + struct.pack("!HH", 1, 0xFFFF) + bytes(42)
            if number % 3 == 1:
                return bytes.fromhex("0180c2000000") + mac + struct.pack("!H", 38) + bytes.fromhex("424203") + bytes(35)
            return victim + b"\x03" + mac[1:] + b"\x08\x00" + bytes(46)
    elif kind == "macs":
        def make(number):
            return victim + b"\x02\x77\x00" + struct.pack("!I", number)[1:] + b"\x88\xb6" + bytes(46)
    else:  # flows: a destination port and a source port each
        def make(number):
            return ipv4_udp(mac, victim, 1024 + number % 50000, 2000 + number // 50000)
    return make


def attack(arguments):
    raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    raw.bind(("eth1", 0))
    victim = bytes.fromhex(arguments.victim.replace(":", ""))
    make = frames(arguments.kind, raw.getsockname()[4], victim, random.Random(1))
    for number in paced(arguments.rate, arguments.count):
        raw.send(make(number))


def source(arguments):
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sent = 0
    for number in paced(arguments.rate, until=arguments.until):
        udp.sendto(struct.pack("!I", number), (arguments.to, arguments.port))
        sent += 1
    time.sleep(0.5)
    for _ in range(3):  # the end; not counted
        udp.sendto(b"end", (arguments.to, arguments.port))
        time.sleep(0.1)
    print(sent)


def sink(arguments):
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    udp.bind(("", arguments.port))
    udp.settimeout(arguments.seconds)
    seen = set()
    try:
        while (data := udp.recv(64)) != b"end":
            seen.add(data)
    except TimeoutError:
        pass
    print(len(seen))


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("attack")
    command.add_argument("--kind", required=True)
    command.add_argument("--rate", type=int, required=True)
    command.add_argument("--count", type=int, required=True)
    command.add_argument("--victim", required=True)
    command = commands.add_parser("source")
    command.add_argument("--to", required=True)
    command.add_argument("--port", type=int, required=True)
    command.add_argument("--rate", type=int, required=True)
    command.add_argument("--until", required=True)
    command = commands.add_parser("sink")
    command.add_argument("--port", type=int, required=True)
    command.add_argument("--seconds", type=float, required=True)
    arguments = parser.parse_args()
    {"attack": attack, "source": source, "sink": sink}[arguments.command](arguments)


main()
