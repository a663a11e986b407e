# SPDX-License-Identifier: Apache-2.0
"""A lab of real hosts for as long as a measurement takes, and what is said of several."""
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


class Lab:
    def __init__(self, heddle, file, changes):
        """`changes`: texts of the file, each there once, and what becomes of them."""
        self.heddle, self.name = heddle, f"bench{os.getpid()}"
        self.scratch = tempfile.TemporaryDirectory()
        text = file.read_text()
        for before, after in {**changes, f"name: {file.stem}\n": f"name: {self.name}\n"}.items():
            assert text.count(before) == 1, before
            text = text.replace(before, after)
        file = Path(self.scratch.name, "lab.yaml")
        file.write_text(text)
        self.servers = []
        self.call("lab", "up", str(file))

    def call(self, *words):
        done = subprocess.run([self.heddle, *words], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"heddle {' '.join(words)}:\n{done.stdout}{done.stderr}")
        return done.stdout

    def show(self, what):
        return json.loads(self.call("show", what, "--lab", self.name, "--json"))[what]

    def start(self, host, *command):
        return subprocess.Popen([self.heddle, "lab", "exec", self.name, host, *command], stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)

    def serve(self, host, port):
        self.servers.append(self.start(host, "iperf3", "-s", "-p", str(port)))

    def rate(self, client):
        """Mbit/s that arrived at the other end of an iperf3."""
        return json.loads(client.communicate()[0])["end"]["sum_received"]["bits_per_second"] / 1e6

    def down(self):
        for server in self.servers:
            server.terminate()
        self.call("lab", "down", self.name)
        for server in self.servers:
            server.wait()
        self.scratch.cleanup()


def processor_time():
    """(of which idle, all) of the machine since it began, in ticks."""
    times = [int(ticks) for ticks in Path("/proc/stat").read_text(encoding="utf-8").split("\n", 1)[0].split()[1:9]]
    return times[3] + times[4], sum(times)


def busy_percent(before):
    idle, total = processor_time()
    return 100 - 100 * (idle - before[0]) / (total - before[1])


def spread(runs, name):
    values = [run[name] for run in runs]
    return min(values), statistics.median(values), max(values)


def table(figures):
    """Markdown of {variant: runs, each {name: value}}: medians and, in brackets, the least and the most."""
    lines = ["| | " + " | ".join(figures) + " |", "|" + " --- |" * (len(figures) + 1)]
    for name in next(iter(figures.values()))[0]:
        cells = [f"{median:.2f} ({least:.2f} to {most:.2f})" for least, median, most in
                 (spread(runs, name) for runs in figures.values())]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)
