#!/usr/bin/python3
"""gpuward on a real cluster: kubelets, containerd, runc, scheduler, Prometheus. The cluster starts once, each test
leaves it as it was, and its end leaves the machine as it was. The tests are in cases/.

They wait more than they compute: `./dev test --all` starts them while it builds, with $GPUWARD_CLUSTER_BEGIN, and its
ctest waits for their results, with $GPUWARD_CLUSTER_AWAIT. Both give the folder for that."""
import fcntl
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

from cases import (announcements, clocks, commands, drains, flows, game_day, hardships, installed, jobs, latency, long_outages,
                   network, operands, outages, pods, presets, releases, seeds, silent, tls, tutorial)
from cases.base import FOLDER, cluster
from machines import CGROUPS

LONG = ((announcements, clocks, commands, drains, game_day, hardships, jobs, latency, long_outages, operands, presets, seeds,
         silent, tls, tutorial)
        if os.environ.get("GPUWARD_CLUSTER_TEST") == "long" else ())
CASES = (installed, network, pods, flows, outages, *LONG, releases)  # the last one uninstalls gpuward


def processes():
    """Returns the processes of this cluster, not of another one beside it: its folder is in their command lines, or
    gets their output."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            output = os.readlink(process / "fd/1")
        except OSError:
            continue  # it has ended
        if f"{FOLDER}/" in line + output:
            found.append(line)
    return sorted(found)


def host():
    """Returns the parts of the machine in which a cluster may leave something."""
    def output(*command):
        return subprocess.run(command, capture_output=True, text=True, timeout=30, check=True).stdout

    return {
        "processes": processes(),
        "mounts": sorted(pathlib.Path("/proc/self/mounts").read_text().splitlines()),
        "links": sorted(line.split(":")[1] for line in output("ip", "-o", "link").splitlines()),
        "rules": [line for line in output("iptables-save").splitlines() if not line.startswith("#")],
        "forwarding": pathlib.Path("/proc/sys/net/ipv4/ip_forward").read_text(),
        "cgroups": sorted(str(path) for path in CGROUPS.glob(f"*/{FOLDER.name}")) +
                   [str(path) for path in CGROUPS.glob(FOLDER.name)],
    }


def load_tests(loader, _tests, _pattern):
    return unittest.TestSuite(loader.loadTestsFromModule(module) for module in CASES)


def begin(folder):
    """Runs the tests. The process holds the lock while it runs; its end releases it in every case."""
    lock = os.open(folder / "lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    said = os.open(folder / "said", os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
    for stream in (1, 2):
        os.dup2(said, stream)
    code = run()
    (folder / "code").write_text(str(code))
    return code


def await_begun(folder):
    deadline = time.monotonic() + 60
    while not (folder / "said").exists():
        if time.monotonic() > deadline:
            print(f"nothing has begun in {folder}", file=sys.stderr)
            return 1
        time.sleep(0.1)
    with open(folder / "lock", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
    print((folder / "said").read_text(encoding="utf-8", errors="replace"))
    code = folder / "code"
    return int(code.read_text()) if code.exists() else 1


def main():
    for variable, way in (("GPUWARD_CLUSTER_BEGIN", begin), ("GPUWARD_CLUSTER_AWAIT", await_begun)):
        if os.environ.get(variable):
            return way(pathlib.Path(os.environ[variable]))
    return run()


def run():
    if os.environ.get("GPUWARD_TIER") != "all" and not os.environ.get("GPUWARD_CLUSTER_TEST"):
        print("cluster_test.py: Skipped\nruns with `./dev test --all`, or by `./dev cluster test`")
        return 0
    if cluster.is_up():
        cluster.down()
    before = host()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # nothing is left behind in that case either
    start = time.monotonic()
    try:
        cluster.up()
        cluster.install()
        cluster.log(f"up {time.monotonic() - start:.0f} s after the start")
        ended = unittest.main(verbosity=2, exit=False)
    finally:
        cluster.down()
    left = {what: (was, now) for (what, was), now in zip(before.items(), host().values()) if was != now}
    if left:
        print(f"left on this machine: {json.dumps(left, indent=1)}", file=sys.stderr)
    return 0 if ended.result.wasSuccessful() and not left else 1


if __name__ == "__main__":
    sys.exit(main())
