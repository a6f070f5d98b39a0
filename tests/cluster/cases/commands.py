"""The commands of the pages (tests/commands): each line of a row that needs the cluster, and each query of Prometheus.
A line passes if its exit code is 0, or the one of its row, and it prints no error."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading

from images import BINARIES

from cases.base import RESET_XID, ClusterTest, FOLDER, cluster, kubectl, phase, remediations, say

sys.path.append(str(BINARIES.parents[2] / "tests/commands"))
import pages  # noqa: E402
from table import APPROVED, ASKS, CANCELLED, CHANGE, FILES, HEALTHY, LOOK, ROWS, TRY, row_of  # noqa: E402

ERROR = re.compile(r"(?m)^error: |^Error\b|unknown (?:flag|command|shorthand)|\(NotFound\)|\(Forbidden\)")
STREAM = re.compile(r" (?:-w|--watch)\b|\blogs .* (?:-f|--follow)\b|\bport-forward [^&]*$")
WAIT = {"wait": {"approval": True}}


class Typist(ClusterTest):
    """Types lines of pages as a reader would, in a folder with the files of the tree."""

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for path in pages.TREE.iterdir():
            (self.folder / path.name).symlink_to(path)
        for name, like in FILES.items():
            (self.folder / name).symlink_to(pages.TREE / like)
        # The command that enters a machine, whose journal is its kernel log.
        way = self.folder / "programs/ssh"
        way.parent.mkdir()
        way.write_text(f'#!/bin/sh\nexec cat "{FOLDER}/$1/log/kernel/kern.log"\n')
        way.chmod(0o755)

    def script_of(self, command, node, values):
        """Returns the command with this cluster's values instead of the page's. A command of the exporter is typed in
        its pod."""
        text = command.line
        if text.startswith("gpuward-exporter "):
            text = f"kubectl -n gpu-healthcheck exec POD -- {text}"
        text = "\n".join((*command.before, text))
        for name, value in values.items():
            text = re.sub(rf"(?<![\w$]){name}(?![\w=:])", value, text)
        for name, port in cluster.ports.items():
            text = re.sub(rf"http://{name}[\w.-]*:\d+", f"http://127.0.0.1:{port}", text)
        return ASKS.sub(r"\g<0> --yes", re.sub(r"\bgpu-\d+\b", node, text))

    def type(self, script, exits=(0,), until="", **environment):
        """Returns its output. Ends a command that does not end by itself once it has printed the expected text."""
        path = f"{self.folder}/programs:{BINARIES}:{os.environ['PATH']}"
        environment = {**kubectl.environment, "GPUWARD_CLUSTER": str(FOLDER), "PATH": path, **environment}
        with subprocess.Popen(["bash", "-o", "pipefail", "-c", script], cwd=self.folder, env=environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              start_new_session=True) as typed:
            too_long = threading.Timer(200, os.killpg, (typed.pid, signal.SIGKILL))
            too_long.start()
            output = ""
            for line in typed.stdout:
                output += line
                if STREAM.search(script) and re.search(until, output):
                    os.killpg(typed.pid, signal.SIGINT)
                    break
            output += typed.communicate()[0]
            too_long.cancel()
        if not STREAM.search(script):
            self.assertIn(typed.returncode, exits, f"{script}\n{output}")
            if exits == (0,):
                self.assertNotRegex(output, ERROR)
        return output


class TheCommandsOfThePages(Typist):
    def setUp(self):
        super().setUp()
        policy = cluster.values()["remediator"]["policy"]
        policy["severities"]["reset"].insert(2, WAIT)
        cluster.set_values(policy=policy)
        self.addCleanup(cluster.set_values)
        self.addCleanup(kubectl, "uncordon", HEALTHY)
        for node in (APPROVED, CANCELLED):
            self.take(node).break_gpu(3, RESET_XID)
        for node in (APPROVED, CANCELLED):
            self.wait(lambda node=node: self.token_of(node), f"{node} to wait for an approval")
        (self.folder / "nodes.json").write_text(kubectl("get", "nodes", "-o", "json"))
        (self.folder / "history.json").write_text(json.dumps(cluster.history('ALERTS{alertstate="firing"}')))
        self.find_sample_heads()

    def token_of(self, node):
        found = remediations(node)
        return found[-1].get("status", {}).get("approval", {}).get("token", "") if found else ""

    def find_sample_heads(self):
        """Finds the head of the table that a page shows below its command; the command must print it too."""
        self.sample_heads, last = {}, None
        for block in pages.blocks():
            if block.kind in pages.SHELL:
                last = pages.commands_in(block)[-1:]
            elif block.kind == "text" and last:
                head = block.text.splitlines()[0].split()
                if all(word.isupper() for word in head) and not pages.is_told(block):
                    self.sample_heads.setdefault(last[0].line, []).append(head)
                last = None

    def values(self, node):
        """Returns the values of the words that a reader replaces."""
        found = remediations(node)
        pod = kubectl("get", "pods", "-n", "gpu-healthcheck", "-l", "app.kubernetes.io/name=gpuward-exporter",
                      f"--field-selector=spec.nodeName={node}", "-o", "jsonpath={.items[*].metadata.name}")
        name = found[-1]["metadata"]["name"] if found else ""
        return {"NODE": node, "POD": pod, "EXPORTER": pod, "NAME": name, "TOKEN": self.token_of(node)}

    def check(self, command, row):
        values = self.values(row.node)
        script = self.script_of(command, row.node, values) + (" --dry-run=server" if row.how == TRY else "")
        # In a runbook a block above the line sets these.
        names = {**values, "POD": f"pod/{values['POD']}", "NAME": f"remediation/{values['NAME']}"}
        output = self.type(script, row.exits, row.prints, **names)
        say(f"{command.place}: {command.line}\n{output[:3000]}")
        self.assertRegex(output, row.prints or ".*")
        for head in self.sample_heads.get(command.line, ()) if row.exits == (0,) else ():
            self.assertIn(head, [line.split() for line in output.splitlines()])
        if row.phase:
            self.wait(lambda: re.fullmatch(row.phase, phase(row.node) or ""), f"{row.node} to be {row.phase}", 180)

    def test_each_does_what_the_page_says(self):
        commands = pages.commands()
        for row in [row for how in (LOOK, TRY, CHANGE) for row in ROWS if row.how == how]:
            for command in commands:
                if row_of(command.line) is row:
                    with self.subTest(place=command.place, line=command.line):
                        self.check(command, row)


class TheQueriesOfThePages(ClusterTest):
    def test_prometheus_understands_each(self):
        for block in pages.blocks():
            for query in block.text.splitlines() if block.kind == "promql" else ():
                with self.subTest(page=block.page, query=query):
                    cluster.query(query.replace("NODE", APPROVED))
