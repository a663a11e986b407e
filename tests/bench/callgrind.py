# SPDX-License-Identifier: Apache-2.0
"""What callgrind says of tests/bench/path_instructions: the one place that knows how to ask."""
import json
import re
import subprocess
import sys
from pathlib import Path


def count(program, path, packets, profile, shape=(), options=()):
    """Instructions of the counted switch for each delivered packet; `shape` is for the program, `options` for callgrind."""
    return events(program, path, packets, profile, shape, options)[0]


def events(program, path, packets, profile, shape=(), options=()):
    """The same of all that callgrind has counted, in its order: Ir, and with --cache-sim Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw."""
    run = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}", "--collect-atstart=no",
                          "--toggle-collect=counted_poll", *options, str(program), path, "--packets", str(packets),
                          *shape],
                         capture_output=True, text=True)
    collected = re.search(r"Collected : ([\d ]+)", run.stderr)
    delivered = json.loads(run.stdout)["delivered"] if run.returncode == 0 else 0
    if not collected or delivered < packets:
        sys.exit(f"{path} can't be measured:\n{run.stdout}{run.stderr}")
    return [int(number) / delivered for number in collected.group(1).split()]


def budgets():
    """{path with its options: instructions} of BUDGETS."""
    lines = [line.split("#")[0].split() for line in (Path(__file__).resolve().parent / "BUDGETS").read_text().splitlines()]
    return {" ".join(line[:-1]): float(line[-1]) for line in lines if line}


BY_INSTRUCTION = ("--dump-instr=yes", "--compress-strings=no", "--compress-pos=no")


def times_run(profile):
    """Of a profile BY_INSTRUCTION: how often the instructions of each source ran, inlined or not: all but the few that ran most
    often, which an optimizing compiler's line numbers may put down to a neighbour."""
    times, source, inclusive = {}, "", False
    for line in profile.splitlines():
        if found := re.match(r"f[lie]=(.*)", line):
            source = found.group(1)
        elif found := re.match(r"(0x[0-9a-f]+) \d+ (\d+)$", line):
            if not inclusive:  # of a call: what was called has lines of its own
                times.setdefault(source, {}).setdefault(found.group(1), 0)
                times[source][found.group(1)] += int(found.group(2))
        inclusive = line.startswith("calls=")
    misplaced = 4
    return {source: sorted(of_address.values())[-misplaced - 1] for source, of_address in times.items() if len(of_address) > misplaced}
