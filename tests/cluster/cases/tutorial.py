"""The evening of a newcomer: each command of docs/tutorial.md on the cluster that it is about, in its order. A command
with output below it is typed again until it prints what the page shows of it."""
import os
import re
import signal
import subprocess
import sys

from images import BINARIES

from cases.base import FOLDER, ClusterTest, cluster, kubectl, remediations, say

TREE = BINARIES.parents[2]
sys.path.append(str(TREE / "tests/commands"))
import pages  # noqa: E402

SECTION = "On a cluster on this machine"
# What is the same each time, out of the output that the page shows.
SAME = re.compile(r"^NAME .*|observe|full|SchedulingDisabled|REBOOT|do-not-drain|xid 79 on GPU 3|# Gpu\w+|"
                  r"Observed|Draining|Rebooting|Verifying|Released|(?:drain|reboot|verify) done", re.M)
# The cluster is there already, and is needed by others afterwards.
NOT_TYPED = ("./dev cluster", "./dev cluster down")


class TheTutorial(ClusterTest):
    def setUp(self):
        super().setUp()
        self.addCleanup(cluster.set_values)
        self.take("gpu-2")

    def pod(self):
        """That of the workload on the node that breaks."""
        return kubectl("get", "pods", "-l", "app=web", "--field-selector=spec.nodeName=gpu-2",
                       "-o", "jsonpath={.items[0].metadata.name}")

    def type(self, line):
        script = line.replace("POD", self.pod()) if "POD" in line else line
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
        output, name = "", remediations("gpu-2")[-1]["metadata"]["name"]
        for row in typed.stdout:
            output += row
            if name in row and "Released" in row:
                os.killpg(typed.pid, signal.SIGINT)
        return output

    def test_each_command_does_what_the_page_shows(self):
        blocks = [block for block in pages.blocks_of("docs/tutorial.md") if SECTION in block.headings]
        for block, below in zip(blocks, blocks[1:] + [None]):
            if block.kind not in pages.SHELL:
                continue
            lines = [command.line for command in pages.commands_in(block) if command.line not in NOT_TYPED]
            shown = below.text if below and below.kind == "text" else ""
            for line in lines:
                self.expect(line, [" ".join(word.split()) for word in SAME.findall(shown)])

    def expect(self, line, words):
        def is_shown():
            printed = self.type(line)
            say(f"{line}\n{printed[-3000:]}")
            flat = [" ".join(row.split()) for row in printed.splitlines()]
            return all(any(word in row for row in flat) for word in words)

        self.wait(is_shown, f"`{line}` to print {words}", 150)
