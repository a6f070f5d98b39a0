"""The evening of a newcomer: each command of docs/tutorial.md on the cluster that it is about, in its order. A command
with output below it is typed again until it prints what the page shows of it."""
import json
import os
import re
import signal
import subprocess
import sys

from control_plane import ADDRESS
from images import BINARIES

from cases.base import (EXPORTERS, FOLDER, REMEDIATORS, ClusterTest, cluster, deploy, exporter_of, kubectl, remediations,
                        say, workload)

TREE = BINARIES.parents[2]
sys.path.append(str(TREE / "tests/commands"))
import pages  # noqa: E402

HERE = "On a cluster on this machine"
# What is the same each time, out of the output that the page shows.
SAME = re.compile(r"^NAME .*|observe|full|SchedulingDisabled|REBOOT|do-not-drain|xid 79 on GPU 3|xid +79 +0000:4e:00|# Gpu\w+|"
                  r"Observed|Draining|Rebooting|Verifying|Released|(?:drain|reboot|verify) done", re.M)
# The cluster is there already, and is needed by others afterwards.
NOT_TYPED = ("./dev cluster", "./dev cluster down")


# The cluster without its GPUs. Its machines have boot IDs of their own, not kernels.
SIMULATED = {"exporter": {
    "args": ["--gpu.simulate=/simulated/gpus.yaml", "--kernel-log.path=/simulated/kernel.log", "--path.procfs=/host/proc"],
    "volumes": [{"name": "simulated-gpus", "configMap": {"name": "simulated-gpus"}},
                {"name": "simulated-log", "hostPath": {"path": "/var/log/gpuward-simulated.log", "type": "FileOrCreate"}},
                {"name": "proc", "hostPath": {"path": "/proc"}}],
    "volumeMounts": [{"name": "simulated-gpus", "mountPath": "/simulated/gpus.yaml", "subPath": "gpus.yaml"},
                     {"name": "simulated-log", "mountPath": "/simulated/kernel.log"},
                     {"name": "proc", "mountPath": "/host/proc", "readOnly": True}]},
    "remediator": {"prometheusURL": f"http://{ADDRESS}:9090"}}


class TheTutorial(ClusterTest):
    node = "gpu-2"

    def setUp(self):
        super().setUp()
        self.addCleanup(cluster.set_values)
        self.take(self.node)

    def in_place_of(self, word):
        """What a reader writes there."""
        if word == "POD":  # of the workload, on the node that breaks
            return kubectl("get", "pods", "-l", "app=web", f"--field-selector=spec.nodeName={self.node}",
                           "-o", "jsonpath={.items[0].metadata.name}")
        return exporter_of(self.node) if word == "EXPORTER" else self.node

    def type(self, line):
        script = re.sub(r"\b(?:POD|EXPORTER|NODE)\b", lambda found: self.in_place_of(found[0]), line)
        with subprocess.Popen(["bash", "-c", script], cwd=TREE, text=True, start_new_session=True,
                              env={**kubectl.environment, "GPUWARD_CLUSTER": str(FOLDER),
                                   "PATH": f"{BINARIES}:{os.environ['PATH']}"},
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as typed:
            try:
                if "--watch" in line:
                    return self.watched(typed)
                output = typed.communicate(timeout=240)[0]
                self.assertEqual(0, typed.returncode, f"{script}\n{output}")
                return output
            finally:
                if typed.poll() is None:
                    os.killpg(typed.pid, signal.SIGKILL)

    def watched(self, typed):
        """All of it until the node is back, as by Ctrl-C then."""
        output, name = "", remediations(self.node)[-1]["metadata"]["name"]
        for row in typed.stdout:
            output += row
            if name in row and "Released" in row:
                os.killpg(typed.pid, signal.SIGINT)
        return output

    def type_all(self, *headings):
        blocks = [block for block in pages.blocks_of("docs/tutorial.md") if set(headings) & set(block.headings)]
        self.assertTrue(blocks)
        for block, below in zip(blocks, blocks[1:] + [None]):
            if block.kind not in pages.SHELL:
                continue
            lines = [command.line for command in pages.commands_in(block) if command.line not in NOT_TYPED]
            shown = below.text if below and below.kind == "text" else ""
            for line in lines:
                self.expect(line, [" ".join(word.split()) for word in SAME.findall(shown)])

    def test_each_command_on_this_cluster_does_what_the_page_shows(self):
        self.type_all(HERE)

    def test_simulated_gpus_break_and_are_repaired_as_the_page_shows(self):
        self.node = "gpu-3"
        self.take(self.node)
        self.simulate_gpus()
        deploy(workload("web", replicas=4))
        self.type_all("2. Break a simulated GPU", "3. Let gpuward act", "4. Repair the GPU")
        self.wait_until_returned(self.node)

    def simulate_gpus(self):
        """As "1. Install" does it with an operator's Prometheus."""
        values = FOLDER / "simulated.json"
        values.write_text(json.dumps(SIMULATED))
        kubectl.helm("upgrade", "gpuward", TREE / "manifests/chart/gpuward", "--namespace=gpuward", "--reset-values",
                     f"--values={TREE}/manifests/samples/simulated-gpus.yaml", f"--values={values}", "--wait", "--timeout=120s")
        for name, namespace in (("daemonset/gpuward-exporter", EXPORTERS), ("deployment/gpuward-remediator", REMEDIATORS)):
            kubectl("rollout", "restart", name, "-n", namespace)
            cluster.wait_for_rollout(name, namespace)

    def expect(self, line, words):
        def is_shown():
            printed = self.type(line)
            say(f"{line}\n{printed[-3000:]}")
            flat = [" ".join(row.split()) for row in printed.splitlines()]
            return all(any(word in row for row in flat) for word in words)

        self.wait(is_shown, f"`{line}` to print {words}", 150)
