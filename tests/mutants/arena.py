# SPDX-License-Identifier: Apache-2.0
"""A copy of the tree in which mutants are built, and what says whether one is noticed."""
import hashlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TIMEOUT_S = 120  # of what takes a tenth of it
UNIT_TIMEOUT_S = 20
MEMORY_BYTES = 8 << 30  # of one program: a mutant may ask for all there is
FIRST_SEED = 1
SCENARIOS = ("incast", "incast-far", "lossless", "slow-receiver", "lossless-ring", "lossless-torus", "pause-storm", "pause-only",
             "credits-only", "link-retry", "incast-wide", "flow-fair", "parking-lot", "incast-ends", "by-bytes", "one-beside-many", "two-applications",
             "two-applications-lossless", "unknown-beside-many", "class-in-transit", "applications-few-ids", "application-weights",
             "injection-limit", "injection-hops", "regroup", "shaper", "injection-turns",
             "shaper-maximum", "shaper --workers 4 --slower 10", "two-spines", "beside-bulk", "beyond-bulk", "dragonfly", "link-dies",
             "spine-dies", "spine-stands-still")


class Broken(Exception):
    """What is asked does not build or start, or fails without a mutant."""


def run_bounded(command, seconds=TIMEOUT_S):
    """The ended process; None if it does not end."""
    def bound():
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))

    # A group of its own: what the program has forked ends with it.
    run = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                           preexec_fn=bound, start_new_session=True)
    try:
        out, errors = run.communicate(timeout=seconds)
        return subprocess.CompletedProcess(run.args, run.returncode, out, errors)
    except subprocess.TimeoutExpired:
        return None
    finally:
        if run.returncode is None:
            os.killpg(run.pid, signal.SIGKILL)
            run.communicate()


def content(tree):
    """A name for what is tested."""
    digest = hashlib.sha256()
    rooms = ("meson.build", "src", "include", "tests", "config")
    for path in sorted(path for room in rooms for path in (Path(tree, room), *Path(tree, room).rglob("*")) if path.is_file()):
        digest.update(f"{path.relative_to(tree)}\n".encode() + path.read_bytes())
    return digest.hexdigest()


class Arena:
    """`with` removes the copy in the end. Targets, and programs, are ninja's."""

    # A change to a source is built soonest where each is compiled by itself, one to a header where many are as one.
    APART = ("apart", "-Dunity=off")
    TOGETHER = ("together", "-Done_unit=false", "-Dunity_size=40")

    def __init__(self):
        self.tree = Path(tempfile.mkdtemp(prefix="heddle-mutants-"))
        self.folder = None  # of the last build

    def __enter__(self):
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
        try:
            self._copy()
            return self
        except BaseException:
            shutil.rmtree(self.tree)
            raise

    def __exit__(self, *_):
        shutil.rmtree(self.tree)

    def _copy(self):
        files = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                               capture_output=True, text=True, check=True).stdout.split("\n")
        for name in files:
            source = ROOT / name
            if name and source.is_file() and not name.startswith("tests/mutants/"):
                (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, self.tree / name)

    def build(self, *targets, changed=()):
        """(did it, what the compiler said) after a change to these sources."""
        name, *options = self.TOGETHER if any(Path(path).suffix == ".h" for path in changed) else self.APART
        self.folder = self.tree / name
        if not self.folder.exists():
            subprocess.run(["meson", "setup", name, "-Doptimization=1", "-Ddebug=false", "-Dwerror=false", "-Dtests_apart=true", *options],
                           cwd=self.tree, check=True, stdout=subprocess.DEVNULL)
        run = subprocess.run(["ninja", "-C", str(self.folder), *targets], stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True)
        return run.returncode == 0, run.stdout[-2000:]

    def build_own(self, program, path, text):
        """(did it, what the compiler said) with that text as a component's source, asked by the component's own test, which the
        program is and which is all built. Of what includes a header the component and its test are compiled, nothing else. The
        source is as before then; the program is in the other's place until that is built the next time."""
        self.folder = self.tree / self.APART[0]
        before, times = path.read_bytes(), (path.stat().st_atime_ns, path.stat().st_mtime_ns)
        path.write_text(text)
        try:
            objects = self._own_objects(program, path)
            runs = [self._said(command.replace(f"-o {output} ", f"-o {output}.own ")) for output, command in objects.items()]
            if all(run.returncode == 0 for run in runs):
                link = self._said(f"ninja -t commands -s {program}").stdout.splitlines()[-1].split(" ")
                # First, so that the linker takes of them what others have as well.
                at = link.index("-o") + 2
                link[at:] = [f"{output}.own" for output in objects] + [word for word in link[at:] if word not in objects]
                runs.append(self._said(" ".join(link)))
            return all(run.returncode == 0 for run in runs), "".join(run.stdout for run in runs)[-2000:]
        finally:
            path.write_bytes(before)
            os.utime(path, ns=times)  # nothing else is older than it

    def _own_objects(self, program, path):
        """{object: how it is compiled} of what build_own compiles."""
        found = {}
        for entry in json.loads((self.folder / "compile_commands.json").read_text()):
            source = Path(self.folder, entry["file"]).resolve()
            of_test = entry["output"].startswith(f"{program}.p/") and source.stem == Path(program).name
            if source == path.with_suffix(".cc") or (of_test and path.suffix == ".h"):
                found[entry["output"]] = entry["command"]
        return found

    def _said(self, command):
        return subprocess.run(command, shell=True, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def program(self, name):
        return self.folder / name

    # How the built program fails; None if it doesn't.

    def fails_a_scenario(self):
        """With the scenarios that say what mechanisms are good for; they run side by side."""
        def unmet(scenario):
            name, *options = scenario.split()
            run = run_bounded([self.program("src/apps/heddle-sim"), "run", self.tree / f"config/sim/{name}.yaml", *options])
            if run is None:
                return f"{scenario} does not end within {TIMEOUT_S} s"
            if run.returncode == 0:
                return None
            said = re.search(r"NOT MET: ([^\n]{0,90})", run.stdout)
            return f"{scenario}: {said.group(1) if said else ' '.join(run.stderr.split())[-90:]}"

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for run in [pool.submit(unmet, scenario) for scenario in SCENARIOS]:
                if run.result() is not None:
                    pool.shutdown(cancel_futures=True)
                    return run.result()
        return None

    def fails_a_seed(self, seeds, first=FIRST_SEED):
        run = run_bounded([self.program("src/apps/heddle-sim"), "fuzz", "--seeds", f"{first}-{first + seeds - 1}",
                           "--jobs", os.cpu_count()])
        if run is None:
            return f"seeds do not end within {TIMEOUT_S} s"
        if run.returncode == 0:
            return None
        said = re.search(r"seed (\d+) fails: ([^\n]{0,90})", run.stdout + run.stderr)
        if said:
            return f"seed {said.group(1)}: {said.group(2)}"
        return "stops: " + (run.stderr.strip().split("\n")[-1] or f"status {run.returncode}")[:90]

    def fails_a_unit_test(self, which="*", program="tests/unit_tests"):
        run = run_bounded([self.program(program), "--gtest_brief=1", f"--gtest_filter={which}"], UNIT_TIMEOUT_S)
        if run is None:
            return f"unit tests do not end within {UNIT_TIMEOUT_S} s"
        if run.returncode == 0:
            return None
        said = re.search(r"\[  FAILED  \] ([^ \n,]+)", run.stdout)
        if run.returncode == 1 and not said:
            raise Broken(f"{program} does not run: {run.stderr[-500:]}")
        return said.group(1) if said else "unit tests stop: " + (run.stderr.strip().split("\n")[-1])[:90]
