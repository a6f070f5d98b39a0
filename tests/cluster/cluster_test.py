#!/usr/bin/python3
"""gpuward on a real cluster: kubelets, containerd, runc, scheduler, Prometheus. The cluster comes up once, each test
leaves it as it was, and the end of it leaves the machine as it was. The tests are in cases/."""
import json
import os
import pathlib
import subprocess
import sys
import time
import unittest

from cases import (announcements, clocks, commands, drains, flows, game_day, hardships, installed, jobs, latency, long_outages,
                   network, outages, pods, presets, releases, seeds, silent, tutorial)
from cases.base import FOLDER, cluster
from machines import CGROUPS

LONG = ((announcements, clocks, commands, drains, game_day, hardships, jobs, latency, long_outages, presets, seeds, silent,
         tutorial)
        if os.environ.get("GPUWARD_CLUSTER_TEST") == "long" else ())
CASES = (installed, network, pods, flows, outages, *LONG, releases)  # the last one takes gpuward away


def processes():
    """Of this cluster, not of another one beside it: its folder stands in their command lines, or takes their output."""
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
    """What a cluster may leave on the machine that it ran on."""
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


def main():
    if os.environ.get("GPUWARD_TEST_ALL") != "1" and not os.environ.get("GPUWARD_CLUSTER_TEST"):
        print("cluster_test.py: Skipped\na real cluster: `./dev cluster test`, or `./dev test --all`")
        return 0
    if cluster.is_up():
        cluster.down()
    before = host()
    start = time.monotonic()
    cluster.up()
    cluster.install()
    cluster.log(f"up {time.monotonic() - start:.0f} s after the start")
    ended = unittest.main(verbosity=2, exit=False)
    cluster.down()
    left = {what: (was, now) for (what, was), now in zip(before.items(), host().values()) if was != now}
    if left:
        print(f"left on this machine: {json.dumps(left, indent=1)}", file=sys.stderr)
    return 0 if ended.result.wasSuccessful() and not left else 1


if __name__ == "__main__":
    sys.exit(main())
