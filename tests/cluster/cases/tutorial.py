"""docs/tutorial.md, typed from top to end: each line with its output. A line without an expectation here, or an
expectation without a line, is a failure."""
import itertools
import re

from cases import commands
from cases.base import cluster, kubectl, say

NODE = "gpu-2"
ELSEWHERE = None  # already done here, or needs docker and kind
MODE = (("helm upgrade gpuward manifests/chart/gpuward", "STATUS: deployed"),
        ("kubectl -n gpuward rollout restart", "restarted"),
        ("kubectl -n gpuward rollout status", "successfully rolled out"))
LINES = (
    ("./dev cluster", ELSEWHERE),
    ("kubectl get nodes", "gpu-3 +Ready"),
    *MODE,
    ("gpuwardctl status", "Mode +observe"),
    ("kubectl create deployment web", "created"),
    ("kubectl rollout status deployment/web", "successfully rolled out"),
    ("kubectl get pods -l app=web", NODE),
    ("./dev cluster break gpu-2 79", ""),
    ("gpuwardctl list", "Observed .*would run taint, cordon, drain, reboot"),
    ("kubectl get nodes -L", f"{NODE} .* fail +REBOOT"),
    ("gpuwardctl explain", "mode observe: would run taint"),
    ("gpuwardctl runbook", "## Meaning"),
    ("kubectl annotate pod POD gpuward.dev/do-not-drain=true", "annotated"),
    *MODE,
    ("kubectl get nodes", f"{NODE} +Ready,SchedulingDisabled"),
    ("gpuwardctl list", "Draining .*protected by gpuward.dev/do-not-drain"),
    ("kubectl annotate pod POD gpuward.dev/do-not-drain-", "annotated"),
    ("gpuwardctl list gpu-2 --all --watch", "Released"),
    ("gpuwardctl explain", "before: .* verify done: healthy since"),
    ("kubectl get nodes", f"{NODE} +Ready +<none>"),
    ("kubectl get pods -l app=web", "Running"),
    ("./dev cluster break gpu-1 95", ""),
    ("gpuwardctl list gpu-1 --all --watch", "Released"),
    ("gpuwardctl explain gpu-1", "before: .* gpu-reset done"),
    ("./dev cluster down", ELSEWHERE),
)
# The commands that end the part for your own cluster.
UNINSTALL = (
    ("kubectl delete deployment web", "deleted"),
    ("kubectl delete remediations --all", "deleted"),
    ("helm uninstall gpuward", "uninstalled"),
    ("kubectl delete customresourcedefinition remediations.gpuward.dev", "deleted"),
    ("kubectl delete namespace gpuward", "deleted"),
)


class TheTutorial(commands.Typist):
    def test_each_line_does_what_it_says(self):
        self.take(NODE)
        self.take("gpu-1")
        blocks = [block for block in commands.pages.blocks_of("docs/tutorial.md") if block.kind == "sh"]
        for part, lines in zip(commands.pages.OF_TUTORIAL, (LINES, UNINSTALL)):
            typed = [command for block in blocks if part in block.headings for command in commands.pages.commands_in(block)]
            for command, expected in itertools.zip_longest(typed, lines):
                self.assertTrue(command and expected and command.line.startswith(expected[0]), f"{command} {expected}")
                if expected[1] is not ELSEWHERE:
                    self.check(command, expected[1])

    def check(self, command, expected):
        pod = kubectl("get", "pods", "-l", "app=web", f"--field-selector=spec.nodeName={NODE}", "-o",
                      "jsonpath={.items[*].metadata.name}").split()
        script = self.script_of(command, NODE, {"POD": pod[0] if pod else ""})
        if command.line.startswith(("kubectl get", "gpuwardctl status", "gpuwardctl list", "gpuwardctl explain")):
            self.wait(lambda: re.search(expected, self.type(script, until=expected)), f"{script}: {expected}", 200)
        else:
            output = self.type(script, until=expected)
            self.assertRegex(output, expected or ".*")
        say(command.line)

    def tearDown(self):
        """Uninstalls gpuward, and installs it again."""
        if kubectl.get("namespace", "gpuward") is None:
            cluster.install()
        super().tearDown()
