"""What the pages tell people to type (tests/commands): each line of a row that is of the cluster, and each query of
Prometheus. A line passes where it ends with 0, or as its row says, and prints no error."""
import os
import re
import signal
import subprocess
import sys
import tempfile

from images import BINARIES

from cases.base import RESET_XID, ClusterTest, FOLDER, cluster, kubectl, phase, remediations, say

sys.path.append(str(BINARIES.parents[2] / "tests/commands"))
import pages  # noqa: E402
from table import APPROVED, CANCELLED, CHANGE, FILES, HEALTHY, LOOK, ROWS, TRY, row_of  # noqa: E402

ERROR = re.compile(r"(?m)^error\b|^Error\b|unknown (?:flag|command|shorthand)|\(NotFound\)|\(Forbidden\)")
STREAM = re.compile(r" (?:-w|--watch)\b|\blogs .* (?:-f|--follow)\b|\bport-forward [^&]*$")
WAIT = {"wait": {"approval": True}}


class TheCommandsOfThePages(ClusterTest):
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
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.prepare_folder()

    def token_of(self, node):
        found = remediations(node)
        return found[-1].get("status", {}).get("approval", {}).get("token", "") if found else ""

    def prepare_folder(self):
        """The tree, where files can be written beside it; and a way into a machine, whose journal is its kernel log."""
        for path in pages.TREE.iterdir():
            os.symlink(path, f"{self.folder.name}/{path.name}")
        for name, like in FILES.items():
            os.symlink(pages.TREE / like, f"{self.folder.name}/{name}")
        way = f"{self.folder.name}/programs/ssh"
        os.makedirs(os.path.dirname(way))
        with open(way, "w", encoding="utf-8") as program:
            program.write(f'#!/bin/sh\nexec cat "{FOLDER}/$1/log/kernel/kern.log"\n')
        os.chmod(way, 0o755)

    def values(self, node):
        """What the words stand for that a reader replaces."""
        found = remediations(node)
        pod = kubectl("get", "pods", "-n", "gpu-healthcheck", "-l", "app.kubernetes.io/name=gpuward-exporter",
                      f"--field-selector=spec.nodeName={node}", "-o", "jsonpath={.items[*].metadata.name}")
        return {"NODE": node, "POD": pod, "NAME": found[-1]["metadata"]["name"] if found else "", "TOKEN": self.token_of(node)}

    def script_of(self, command, row, values):
        """With what stands on a page for what differs from place to place. A command of the exporter is typed in its pod."""
        text = command.line + (" --dry-run=server" if row.how == TRY else "")
        if text.startswith("gpuward-exporter "):
            text = f"kubectl -n gpu-healthcheck exec POD -- {text}"
        text = "\n".join((*command.before, text))
        for name, value in values.items():
            text = re.sub(rf"(?<![\w$]){name}(?![\w=:])", value, text)
        for name, port in cluster.ports.items():
            text = re.sub(rf"http://{name}[\w.-]*:\d+", f"http://127.0.0.1:{port}", text)
        return re.sub(r"\bgpu-\d+\b", row.node, text)

    def type(self, command, row):
        """What it prints. What does not end by itself is ended once it has printed something."""
        values = self.values(row.node)
        script = self.script_of(command, row, values)
        # A line of a runbook gets these from a block above it.
        environment = {**kubectl.environment, **values, "POD": f"pod/{values['POD']}", "NAME": f"remediation/{values['NAME']}",
                       "PATH": f"{self.folder.name}/programs:{BINARIES}:{os.environ['PATH']}"}
        with subprocess.Popen(["bash", "-o", "pipefail", "-c", script], cwd=self.folder.name, env=environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              start_new_session=True) as typed:
            try:
                if STREAM.search(command.line):
                    line = typed.stdout.readline()
                    os.killpg(typed.pid, signal.SIGINT)
                    return line + typed.communicate(timeout=30)[0]
                output = typed.communicate(timeout=150)[0]
            finally:
                if typed.poll() is None:
                    os.killpg(typed.pid, signal.SIGKILL)
        self.assertIn(typed.returncode, row.exits, f"{script}\n{output}")
        return output

    def check(self, command, row):
        output = self.type(command, row)
        say(f"{command.place}: {command.line}\n{output[:3000]}")
        self.assertRegex(output, row.prints or ".*")
        self.assertNotRegex(output, ERROR)
        for head in self.sample_heads.get(command.line, ()):
            self.assertIn(head, [line.split() for line in output.splitlines()])
        if row.phase:
            self.wait(lambda: re.fullmatch(row.phase, phase(row.node) or ""), f"{row.node} to be {row.phase}", 180)

    def find_sample_heads(self):
        """The head of the table that a page shows below its command: the command prints it too."""
        self.sample_heads, last = {}, None
        for block in pages.blocks():
            if block.kind in pages.SHELL:
                last = pages.commands_in(block)[:1]
            elif block.kind == "text" and last:
                head = block.text.splitlines()[0].split()
                if all(word.isupper() for word in head):
                    self.sample_heads.setdefault(last[0].line, []).append(head)
                last = None

    def test_each_does_what_the_page_says(self):
        self.find_sample_heads()
        commands = [command for command in pages.commands() if "Its commands" not in command.headings]
        rows = [row for how in (LOOK, TRY, CHANGE) for row in ROWS if row.how == how]
        for row in rows:
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
