#!/usr/bin/python3
"""A test runs each command that README.md, docs/ and the runbooks tell operators to type; this one runs those that need
no cluster."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import pages
from table import FILES, LABELS, LOCAL, NOT_HERE, ROWS, row_of

BINARIES = pages.TREE / "build/release/bin"  # or the first argument
RUNBOOKS = "alerts/runbooks/"
# The beginning of a command in a block without a language.
PROGRAM = re.compile(r"(?:sudo |\$ )?(?:kubectl|helm|gpuward\w*|gpuward-\w+|curl|\./dev|docker|podman|apt|aws|promtool|amtool) \S")


class TheCommandsOfThePages(unittest.TestCase):
    maxDiff = None

    def test_each_has_a_row_that_says_how_it_is_tested(self):
        self.assertEqual([], [f"{command.place}: {command.line}" for command in pages.commands() if row_of(command.line) is None])

    def test_each_row_is_of_a_command(self):
        used = {row_of(command.line) for command in pages.commands()}
        self.assertEqual([], [row.pattern for row in ROWS if row not in used])

    def test_each_label_of_a_block_has_a_reason(self):
        self.assertEqual(set(LABELS), {block.label for block in pages.blocks() if block.kind in pages.SHELL} - {""})

    def test_what_is_not_run_has_a_reason_and_nothing_else_has_one(self):
        self.assertEqual([], [row.pattern for row in ROWS if (row.how == NOT_HERE) != bool(row.why)])

    def test_each_stands_in_a_block_of_shell(self):
        loose = []
        for page in pages.page_paths():
            text = pages.FENCE.sub(lambda found: "\n" * found[0].count("\n"), (pages.TREE / page).read_text())
            loose += [f"{page}:{number}: {line}" for number, line in enumerate(text.splitlines(), 1)
                      if line.startswith("    ") and PROGRAM.match(line.strip())]
        loose += [f"{block.page}:{block.number}: {line}" for block in pages.blocks() if not block.kind
                  for line in block.text.splitlines() if PROGRAM.match(line)]
        self.assertEqual([], loose)

    def test_a_runbook_sets_each_variable_before_it_uses_it(self):
        for page in pages.page_paths():
            if not page.startswith(RUNBOOKS):
                continue
            known = set()
            for block in pages.blocks_of(page):
                for line in block.text.splitlines() if block.kind in pages.SHELL else ():
                    with self.subTest(page=page, line=line):
                        self.assertEqual(set(), set(re.findall(r"\$([A-Z]+)", line)) - known)
                    known |= set(re.findall(r"^([A-Z]+)=", line))

    def test_none_has_a_placeholder_that_the_shell_takes_for_a_file(self):
        self.assertEqual([], [command.place for command in pages.commands() if re.search(r"<[a-z_-]+>", command.line)])

    def test_those_that_need_no_cluster_do_what_they_say(self):
        for row in ROWS:
            for command in pages.commands() if row.how == LOCAL else ():
                if row_of(command.line) is row:
                    with self.subTest(place=command.place, line=command.line):
                        self.run_here(command, row)

    def run_here(self, command, row):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for path in pages.TREE.iterdir():
                if not path.name.startswith("."):
                    (folder / path.name).symlink_to(path)
            for written, like in FILES.items():
                (folder / written).symlink_to(pages.TREE / like)
            ended = subprocess.run(["bash", "-o", "pipefail", "-c", "\n".join((*command.before, command.line))], cwd=folder,
                                   env={**os.environ, "PATH": f"{BINARIES}:{os.environ['PATH']}"}, stdin=subprocess.DEVNULL,
                                   capture_output=True, text=True, timeout=60, check=False)
        output = ended.stdout + ended.stderr
        self.assertIn(ended.returncode, row.exits, output)
        self.assertRegex(output, row.prints or ".*")

    def test_the_installs_of_the_readme_connect_prometheus_and_alertmanager(self):
        helm = self.helm()
        installs = [one.line for one in pages.commands() if one.place.startswith("README.md:") and one.line.startswith("helm install ")]
        self.assertEqual(2, len(installs))
        for line in installs:
            with self.subTest(line=line):
                command = line.replace("helm install", f"{helm} template").replace("--create-namespace --wait", "")
                rendered = subprocess.run(["bash", "-c", f"{command} --set remediator.webhook.generate=always"], cwd=pages.TREE,
                                          capture_output=True, text=True, timeout=60, check=True).stdout
                self.assertRegex(rendered, r"- --prometheus\.url=http")
                self.assertRegex(rendered, r"- --alertmanager\.url=http")
                kinds = re.findall(r"(?m)^kind: (\w+)$", rendered)
                if "prometheusOperator" in line:
                    self.assertEqual({"ServiceMonitor": 2, "PrometheusRule": 1, "AlertmanagerConfig": 1}, {
                        kind: kinds.count(kind) for kind in ("ServiceMonitor", "PrometheusRule", "AlertmanagerConfig")})
                    self.assertEqual(4, rendered.count("release: RELEASE"))
                else:
                    self.assertRegex(rendered, r"kind: Secret\nmetadata:\n  name: gpuward-webhook\n  namespace: monitoring\n")
                    self.assertIn("http://gpuward-remediator.gpuward.svc:10981/api/v1/alerts", rendered)

    def test_each_page_creates_the_secret_before_it_applies_a_remediator_that_mounts_it(self):
        mounts = "secret: {secretName: gpuward-webhook}"
        self.assertIn(mounts, (pages.TREE / "manifests/remediator.yaml").read_text())
        applied = []
        for block in pages.blocks():
            lines = [command.line for command in pages.commands_in(block)] if block.kind in pages.SHELL else []
            for number, line in enumerate(lines):
                found = re.search(r"kubectl apply -k (\S+)", line)
                if not found:
                    continue
                applied.append(found[1])
                with self.subTest(page=block.page, line=line):
                    self.assertIn("manifests", found[1] if found[1] == "manifests" else
                                  (pages.TREE / found[1] / "kustomization.yaml").read_text())
                    self.assertTrue([before for before in lines[:number] if re.fullmatch(
                        r"kubectl -n gpuward create secret generic gpuward-webhook --from-literal=token=\S.*", before)])
        self.assertEqual({"kustomize/dry-run", "kustomize/health-suite", "kustomize/konduktor"}, set(applied))

    def helm(self):
        found = subprocess.run([pages.TREE / "tests/neighbours/neighbours", "folder", "helm"], capture_output=True, text=True,
                               timeout=60, check=True).stdout.strip()
        if not (pathlib.Path(found) / "helm").exists():
            self.skipTest("needs helm, which ./dev test builds")
        return f"{found}/helm"

    def test_each_word_of_dev_is_one_of_its_commands(self):
        usage = subprocess.run([pages.TREE / "dev", "help"], capture_output=True, text=True, timeout=60, check=True).stdout
        for command in pages.commands():
            for word in re.findall(r"\./dev (\w+)", command.line):
                with self.subTest(place=command.place, word=word):
                    self.assertRegex(usage, rf"(?m)^  {word}\b")


if __name__ == "__main__":
    if sys.argv[1:]:
        BINARIES = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
