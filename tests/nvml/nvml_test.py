#!/usr/bin/python3
"""nvml_test.py EXPORTER [LIBRARIES]: compares every value that the real exporter reads from NVML with the value that
NVIDIA's own Python package reads from the same library.

    GPUWARD_NVML           the library, name or path for dlopen; without it the fakes in the folder LIBRARIES
    GPUWARD_NVML_PROFILES  VARIABLE=GLOB: run once for each file, with its path in this environment variable
"""
import glob
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

import reading
from values import COMPARED, NOT_COMPARED, TOLERANCES

FOLDER = pathlib.Path(__file__).resolve().parent
SOURCE = FOLDER.parents[1]
PROFILES = SOURCE / "tests" / "testdata" / "invented" / "nvml"
LIMIT = 240  # seconds for the exporter to start, and to read once more: far more than a busy machine takes
READING_LIMIT = 60  # for nvidia-ml-py: a library that hangs has nothing to compare
ROUNDS = 3  # a difference that does not last is a value that changed


class NoReading(Exception):
    """The library itself hangs or crashes."""


def read_by_package(library, environment):
    try:
        ended = subprocess.run([sys.executable, "-B", FOLDER / "reading.py", library], env={**os.environ, **environment},
                               capture_output=True, text=True, timeout=READING_LIMIT, check=False)
    except subprocess.TimeoutExpired as late:
        raise NoReading(f"the library does not come back within {READING_LIMIT} s") from late
    if ended.returncode < 0:
        raise NoReading(f"the library ends the process that reads it by signal {-ended.returncode}")
    if ended.returncode != 0:
        raise AssertionError(ended.stderr)
    return {key(name, labels): value for name, labels, value in json.loads(ended.stdout)}


def key(name, labels):
    return name, tuple(sorted(labels.items()))


LINE = re.compile(r"(\w+)(?:\{(.*)\})? (\S+)")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def parse(page):
    """Returns the compared series of the GPUs."""
    series = {}
    for line in page.splitlines():
        match = LINE.fullmatch(line)
        if not match or match[1] not in COMPARED:
            continue
        labels = {name: re.sub(r"\\(.)", lambda char: "\n" if char[1] == "n" else char[1], value)
                  for name, value in LABEL.findall(match[2] or "")}
        if labels.get("vendor", "nvidia") == "nvidia":
            series[key(match[1], labels)] = float(match[3])
    return series


class Exporter:
    """Runs the real program on this library, on a free port. Ends it by its id."""

    def __init__(self, library, environment, folder):
        folder = pathlib.Path(folder)
        (folder / "kernel.log").touch()
        (folder / "config.yaml").write_text("gpu: {interval: 1s}\n")
        self.log = folder / "exporter.log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [EXPORTER, f"--gpu.nvml-library={library}", "--gpu.amd-smi-library=/nowhere/libamd_smi.so",
                 f"--path.sysfs={folder / 'sys'}", f"--kernel-log.path={folder / 'kernel.log'}",
                 f"--state.path={folder / 'state'}", f"--config.file={folder / 'config.yaml'}",
                 "--web.listen-address=127.0.0.1:0", "--metrics.per-link"],
                env={**os.environ, "AWS_EC2_METADATA_DISABLED": "true", **environment}, stderr=log)

    def __enter__(self):
        return self

    def __exit__(self, *_ignored):
        self.process.terminate()
        try:
            self.process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def await_page(self, is_wanted, what):
        deadline = time.monotonic() + LIMIT
        while time.monotonic() < deadline and self.process.poll() is None:
            port = re.search(r"msg=Serving .*port=(\d+)\n", self.log.read_text())
            page = self.page(port[1]) if port else ""
            if is_wanted(page):
                return page
            time.sleep(0.05)  # until the next request
        raise AssertionError(f"no {what} within {LIMIT} s:\n{self.log.read_text()}")

    @staticmethod
    def page(port):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=LIMIT) as answer:
                return answer.read().decode()
        except OSError:
            return ""  # not yet, or not any more: await_page decides

    def pages(self):
        """Returns the page after the first reading, and after one that makes fewer calls."""
        first = self.await_page(read_at, "first reading of the GPUs")
        yield first
        yield self.await_page(lambda page: read_at(page) not in ("", read_at(first)), "second reading of the GPUs")


def read_at(page):
    found = re.search(r"^gpuward_gpu_reading_timestamp_seconds (\S+)$", page, re.MULTILINE)
    return found[1] if found else ""


def agrees(name, served, before, after, is_live):
    told = [value for value in (before, after) if value is not None]
    if served is None:
        return len(told) < 2  # a value that appeared or disappeared meanwhile
    if not told:
        return False
    tolerance = TOLERANCES.get(name, 0) if is_live else 0
    slack = tolerance + 1e-9 * abs(served)
    return min(told) - slack <= served <= max(told) + slack or math.isclose(served, told[0], rel_tol=1e-12)


def differences(page, before, after):
    served = parse(page)
    found = []
    for series in sorted({*served, *before, *after}):
        values = served.get(series), before.get(series), after.get(series)
        if not agrees(series[0], *values, is_live=before != after):
            name, labels = series
            text = ",".join(f'{label}="{value}"' for label, value in labels)
            found.append(f"{name}{{{text}}}: gpuward {values[0]}, nvidia-ml-py {values[1]} before and {values[2]} after")
    return found, len(served)


def findings(page):
    """The findings of the checks without a PCI bus, a kernel log and an instance type."""
    found = re.findall(r'^gpuward_finding\{.*?code="([^"]*)".*?severity="([^"]*)"', page, re.MULTILINE)
    return ", ".join(sorted({f"{code} ({severity})" for code, severity in found})) or "no finding"


def compare(library, environment):
    """Returns the number of compared series, and the findings; raises AssertionError if one differs each time."""
    for attempt in range(ROUNDS):
        before = read_by_package(library, environment)
        with tempfile.TemporaryDirectory() as folder, Exporter(library, environment, folder) as exporter:
            pages = list(exporter.pages())
        after = read_by_package(library, environment)
        results = [differences(page, before, after) for page in pages]
        found = [one for different, _ in results for one in different]
        if not found:
            return f"{results[0][1]} series agree, {findings(pages[-1])}"
        if before == after:
            break  # no value changes here
    raise AssertionError(f"{len(found)} values differ:\n" + "\n".join(found))


class NvmlValues(unittest.TestCase):
    """One test for each profile: add_tests."""


class Table(unittest.TestCase):
    """values.py has every GPU metric that docs/metrics.md names, and no other."""

    def test_knows_every_metric(self):
        page = (SOURCE / "docs" / "metrics.md").read_text()
        names = set(re.findall(r"^\| `(gpuward_gpus?_\w+)` \|", page, re.MULTILINE))
        self.assertEqual(names - COMPARED - set(NOT_COMPARED), set(), "add them to tests/nvml/values.py")
        self.assertEqual((COMPARED | set(NOT_COMPARED)) - names, set(), "tests/nvml/values.py names them, the docs do not")
        self.assertEqual(COMPARED & set(NOT_COMPARED), set())


def machines(folder):
    """Returns the library and the profile file of each machine to compare, and the variable that gives the file to the
    library."""
    given = os.environ.get("GPUWARD_NVML")
    if given:
        variable, _, pattern = os.environ.get("GPUWARD_NVML_PROFILES", "").partition("=")
        files = sorted(glob.glob(pattern))
        if variable and not files:
            raise SystemExit(f"nvml_test.py: GPUWARD_NVML_PROFILES: no file matches {pattern}")
        return [(given, variable, file) for file in files] or [(given, "", "")]
    fakes = pathlib.Path(sys.argv[2])
    # A copy, because the fake makes a file of events beside each.
    profiles = pathlib.Path(shutil.copytree(PROFILES, pathlib.Path(folder) / "profiles"))
    return [*((str(fakes / "libnvidia-ml.so.1"), "GPUWARD_FAKE_NVML", str(file)) for file in sorted(profiles.glob("*.conf"))),
            (str(fakes / "old_driver" / "libnvidia-ml.so.1"), "GPUWARD_FAKE_NVML", str(profiles / "old_driver.conf"))]


def add_tests(folder):
    for library, variable, profile in machines(folder):
        def test(self, library=library, environment={variable: profile} if variable else {}):
            try:
                print(compare(library, environment), end=" ", file=sys.stderr, flush=True)
            except NoReading as why:
                self.skipTest(f"not compared: {why}")

        words = [pathlib.Path(library).parent.name if not os.environ.get("GPUWARD_NVML") else "given", pathlib.Path(profile).stem]
        setattr(NvmlValues, f"test_{'_'.join(word for word in words if word)}", test)


def main():
    may_skip = os.environ.get("GPUWARD_TIER") != "all" and not os.environ.get("GPUWARD_NVML")
    if may_skip and not list(reading.package.folder().glob("*.whl")):
        print("nvml_test.py: Skipped\nruns with `./dev test --all`, which asks the package index for nvidia-ml-py")
        return 0
    reading.package.wheel()
    print("Not compared:")
    for name, why in NOT_COMPARED.items():
        print(f"  {name}: {why}")
    sys.stdout.flush()
    with tempfile.TemporaryDirectory() as folder:
        add_tests(folder)
        ended = unittest.main(argv=sys.argv[:1], verbosity=2, exit=False).result
    compared = ended.testsRun - len(ended.skipped) - 1
    if compared < 1:
        print("nvml_test.py: no profile could be compared", file=sys.stderr)
    return 0 if ended.wasSuccessful() and compared >= 1 else 1


if __name__ == "__main__":
    EXPORTER = sys.argv[1]
    sys.exit(main())
