#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Says to a host, as a switch does, that it is to hold back so many flows: pauses.py INTERFACE MAC COUNT

One pause (docs/protocol.md) for each, from the given interface to the host's address; they end after a second.
"""
import socket
import struct
import sys

IDENTIFIER, VERSION, PAUSE = 0x026865646C, 1, 2
ADDRESSES, PORTS = 1, 2

interface, mac, count = sys.argv[1], bytes.fromhex(sys.argv[2].replace(":", "")), int(sys.argv[3])
wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
wire.bind((interface, 0))
ethernet = mac + bytes.fromhex("026800010000") + struct.pack(">H", 0x88B7)
header = IDENTIFIER.to_bytes(5, "big") + bytes([VERSION, PAUSE, 0])
for flow in range(count):
    told = struct.pack(">IIQHBBHBB6sBxHHI", 1, 1_000_000, 1_000_000, 1, 1, ADDRESSES | PORTS, 0, 4, 17, bytes.fromhex("020000000002"), 0,
                       1024 + flow % 50_000, flow // 50_000, 0)
    wire.send(ethernet + header + told + socket.inet_aton("10.0.0.1").ljust(16, b"\0") + socket.inet_aton("10.0.0.2").ljust(16, b"\0") +
              bytes(8))
