# SPDX-License-Identifier: Apache-2.0
"""Switches that tools/benchmark compares, each in a process of its own on one CPU, between the same two ports."""
import json
import os
import signal
import subprocess
import time
from pathlib import Path

OVS = "/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk"
OVS_SCHEMA = "/usr/share/openvswitch/vswitch.ovsschema"


def program(build, name):
    return str(Path(build) / "src/apps" / name)


class Failed(Exception):
    """A run that gave no figure."""


def is_pci(device):
    return ":" in device.split(",")[0]


def eal_devices(devices):
    """As DPDK's own programs take them."""
    words = [] if any(is_pci(device) for device in devices) else ["--no-pci"]
    for device in devices:
        words += ["-a", device] if is_pci(device) else [f"--vdev={device}"]
    return words


def eventually(seconds, condition, what):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise Failed(f"{what}: not within {seconds} s")
        time.sleep(0.05)


class Device:
    """A device under test, in a process of its own on one CPU; its output is in the scratch folder."""
    name = ""
    generator_arguments = []

    def __init__(self, bench, case):
        self.bench, self.case, self.process = bench, case, None

    def spawn(self, command, log):
        with open(self.bench.scratch / log, "w", encoding="utf-8") as output:
            return subprocess.Popen(["taskset", "-c", str(self.bench.device_cpu), *map(str, command)], stdout=output,
                                    stderr=subprocess.STDOUT, stdin=subprocess.PIPE, env=self.environment())

    def environment(self):
        return os.environ

    def log(self, name):
        return (self.bench.scratch / name).read_text(errors="replace")

    def alive(self):
        if self.process.poll() is not None:
            raise Failed(f"{self.name} ended with status {self.process.returncode}: {self.log(self.name)[-500:]}")
        return True

    def verify(self):
        """After traffic and before the end: raises if the figure is worth nothing. Returns what is worth keeping."""
        return {}

    def stop(self):
        end(self.process, signal.SIGTERM)


def end(process, how):
    if process is None or process.poll() is not None:
        return
    process.send_signal(how)
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Heddled(Device):
    """Of the build directory of the benchmark, or of another one."""

    def __init__(self, bench, case, build=None):
        super().__init__(bench, case)
        self.name, self.build = (f"build:{build}", build) if build else ("heddled", bench.options.build)

    def spawn(self, command, log):
        return super().spawn(command, log.replace("/", "-"))

    def log(self, name):
        return super().log(name.replace("/", "-"))

    def program(self, name):
        return program(self.build, name)

    def start(self):
        scratch, devices = self.bench.scratch, self.bench.device_ports
        fabric = self.case.get("fabric", False)
        # As for OVS's table of addresses: a limit per port that the stations fit under.
        edge = f"{{ stations_max: {max(16384, 2 * self.case.get('stations', 1))}, flow_control: off }}"
        if fabric:
            topology = (f"nodes:\n  left: {{ address: 1, ports: {{ p1: {edge}, up: }} }}\n"
                        f"  right: {{ address: 2, ports: {{ p1: {edge}, up: }} }}\n"
                        'links:\n  - { ends: ["left:up", "right:up"] }\n')
            nodes = "nodes:\n" + "".join(f'  {node}: {{ devices: {{ p1: "{device}" }} }}\n'
                                         for node, device in zip(("left", "right"), devices))
        else:
            topology = f"nodes:\n  sw: {{ address: 1, ports: {{ p1: {edge}, p2: {edge} }} }}\n"
            nodes = f'node: sw\ndevices: {{ p1: "{devices[0]}", p2: "{devices[1]}" }}\n'
        if self.case.get("lossless", False):
            topology += "classes: [{ name: default, lossless: true }]\n"
        tables = f"station_entries: {max(65536, 4 * self.case.get('stations', 1))}\n"
        (scratch / "topology.yaml").write_text("name: benchmark\n" + topology)
        (scratch / "node.yaml").write_text(f"topology: topology.yaml\n{nodes}threads: 1\nidle: poll\nhuge_pages: true\n"
                                           f"{tables}socket: {self.socket()}\n")
        self.process = self.spawn([self.program("heddled"), scratch / "node.yaml"], self.name)
        eventually(20, lambda: self.alive() and self.show("links") is not None, "heddled answers")
        eventually(20, lambda: all(link["up"] for link in self.show("links")["links"]), "links come up")

    def socket(self):
        return self.bench.scratch / "heddled.sock"

    def show(self, what):
        run = subprocess.run([self.program("heddle"), "show", what, "--json", "--socket", self.socket()],
                             capture_output=True, text=True)
        return json.loads(run.stdout) if run.returncode == 0 else None

    def verify(self):
        """With acknowledgements at work: what was delivered is what came back as delivered."""
        self.alive()
        sums = {}

        def settled():
            edges = [port for port in self.show("ports")["ports"] if port["role"] == "edge"]
            for key in ("delivered_bytes", "acknowledged_bytes"):
                sums[key] = sum(port[key] for port in edges)
            return sums["delivered_bytes"] == sums["acknowledged_bytes"] > 0
        try:
            eventually(2, settled, "acknowledged bytes are delivered bytes")
        except Failed as failure:
            raise Failed(f"void: {failure}: {sums}") from failure
        drops = {drop["reason"]: 0 for drop in self.show("drops")["drops"]}
        for drop in self.show("drops")["drops"]:
            drops[drop["reason"]] += drop["frames"]
        return {**sums, "drops": drops}


class Testpmd(Device):
    def __init__(self, bench, case, mode):
        super().__init__(bench, case)
        self.name, self.mode = mode, mode

    def start(self):
        cpu = self.bench.device_cpu
        self.process = self.spawn(
            ["stdbuf", "-oL", "dpdk-testpmd", "--in-memory", "--no-telemetry", f"--file-prefix=testpmd{os.getpid()}",
             f"--lcores=0@{cpu},1@{cpu}", *eal_devices(self.bench.device_ports), "--", f"--forward-mode={self.mode}",
             "--auto-start", "--nb-cores=1", "--rxd=1024", "--txd=1024", "--burst=32", "--no-lsc-interrupt",
             "--no-mlockall", "--total-num-mbufs=16384"], self.name)
        eventually(30, lambda: self.alive() and "Press enter to exit" in self.log(self.name), "testpmd starts")

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.process.stdin.write(b"\n")
            self.process.stdin.close()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                pass
        super().stop()


class Ovs(Device):
    """OVS-DPDK with a database of its own, one bridge that learns (action NORMAL)."""
    name = "ovs"
    generator_arguments = ["--receive-queues", "2"]  # it sends by the queue of its forwarding thread, which is the second

    def environment(self):
        folder = str(self.bench.scratch)
        return {**os.environ, "OVS_RUNDIR": folder, "OVS_LOGDIR": folder, "OVS_DBDIR": folder}

    def call(self, *words, check=True):
        run = subprocess.run(list(map(str, words)), capture_output=True, text=True, env=self.environment())
        if check and run.returncode != 0:
            raise Failed(f"{' '.join(map(str, words))}: {run.stderr.strip()}")
        return run.stdout.strip()

    def vsctl(self, *words):
        return self.call("ovs-vsctl", "--timeout=30", f"--db=unix:{self.bench.scratch}/db.sock", *words)

    def settings(self):
        stations = self.case.get("stations", 1)
        return {"mac-table-size": max(8192, 4 * stations), "flow-limit": max(200000, 4 * stations),
                "pmd-cpu-mask": hex(1 << self.bench.device_cpu)}

    def start(self):
        scratch, settings = self.bench.scratch, self.settings()
        extra = " ".join(["--in-memory", "--no-telemetry", f"--file-prefix=ovs{os.getpid()}",
                          *[word for word in eal_devices(self.bench.device_ports) if word.startswith("--no")]])
        (scratch / "conf.db").unlink(missing_ok=True)
        self.call("ovsdb-tool", "create", scratch / "conf.db", OVS_SCHEMA)
        self.database = self.spawn(["ovsdb-server", scratch / "conf.db", f"--remote=punix:{scratch}/db.sock",
                                    f"--unixctl={scratch}/db.ctl"], "ovsdb")
        eventually(10, (scratch / "db.sock").exists, "ovsdb-server starts")
        self.vsctl("--no-wait", "init")
        self.vsctl("--no-wait", "set", "Open_vSwitch", ".", "other_config:dpdk-init=true",
                   f'other_config:dpdk-extra="{extra}"', "other_config:dpdk-socket-mem=512",
                   f"other_config:dpdk-lcore-mask={settings['pmd-cpu-mask']}",
                   f"other_config:pmd-cpu-mask={settings['pmd-cpu-mask']}",
                   f"other_config:flow-limit={settings['flow-limit']}")
        self.process = self.spawn([OVS, f"unix:{scratch}/db.sock", f"--unixctl={scratch}/ovs.ctl"], self.name)
        bridge = f"hb{os.getpid()}"
        self.vsctl("add-br", bridge, "--", "set", "Bridge", bridge, "datapath_type=netdev",
                   f"other_config:mac-table-size={settings['mac-table-size']}")
        for number, device in enumerate(self.bench.device_ports):
            self.vsctl("add-port", bridge, f"hp{number}", "--", "set", "Interface", f"hp{number}", "type=dpdk",
                       f'options:dpdk-devargs="{device}"')
            error = self.vsctl("get", "Interface", f"hp{number}", "error")
            if error not in ("[]", '""'):
                raise Failed(f"ovs: {error}")
        self.alive()

    def verify(self):
        self.alive()
        return {"settings": self.settings()}

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.call("ovs-appctl", "-t", self.bench.scratch / "ovs.ctl", "exit", "--cleanup", check=False)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                pass
        super().stop()
        end(getattr(self, "database", None), signal.SIGTERM)
        # It leaves the tap of its datapath behind.
        subprocess.run(["ip", "link", "del", "ovs-netdev"], capture_output=True)


PEERS = {
    "macswap": lambda bench, case: Testpmd(bench, case, "macswap"),
    "io": lambda bench, case: Testpmd(bench, case, "io"),
    "ovs": Ovs,
}
BUILD = "build:"  # and a build directory: a peer that is heddled as built there


def maker(name):
    """What makes the device of that name, of a bench and a case."""
    if name == "heddled":
        return Heddled
    if name.startswith(BUILD):
        return lambda bench, case: Heddled(bench, case, name.removeprefix(BUILD))
    return PEERS[name]
