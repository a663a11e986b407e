# SPDX-License-Identifier: Apache-2.0
"""TRex stateless profile: UDP flows between one pair of stations, told apart by their source ports.

start -f trex_flows.py -p 0 -m 1000 -t --flows 1000 --size 64      1,000 times the base rate; size with FCS, as TRex counts
"""
import argparse

from trex_stl_lib.api import (Ether, IP, STLFlowLatencyStats, STLPktBuilder, STLScVmRaw, STLStream, STLTXCont,
                              STLVmFlowVar, STLVmWrFlowVar, UDP)

FCS_BYTES = 4
FIRST_PORT = 1024
STATIONS = ("02:aa:00:00:00:00", "02:bb:00:00:00:00")


class Flows:
    def get_streams(self, direction=0, tunables=(), **_):
        parser = argparse.ArgumentParser()
        parser.add_argument("--flows", type=int, default=1)
        parser.add_argument("--size", type=int, default=64)
        options = parser.parse_args(tunables)
        source, destination = STATIONS if direction == 0 else reversed(STATIONS)
        headers = (Ether(src=source, dst=destination) / IP(src="10.0.0.1", dst="10.128.0.1") /
                   UDP(sport=FIRST_PORT, dport=4740, chksum=0))  # none: it would change with the port
        frame = headers / (b"h" * max(0, options.size - FCS_BYTES - len(headers)))
        ports = STLScVmRaw([
            STLVmFlowVar(name="port", min_value=FIRST_PORT, max_value=FIRST_PORT + options.flows - 1, size=2, op="inc"),
            STLVmWrFlowVar(fv_name="port", pkt_offset="UDP.sport"),
        ])
        load = STLStream(packet=STLPktBuilder(pkt=frame, vm=ports), mode=STLTXCont(pps=1000))
        # TRex measures latency and order on a thin stream of its own.
        probe = STLStream(packet=STLPktBuilder(pkt=headers / (b"h" * 32)), mode=STLTXCont(pps=1000),
                          flow_stats=STLFlowLatencyStats(pg_id=7 + direction))
        return [load, probe]


def register():
    return Flows()
