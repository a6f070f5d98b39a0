"""The commands that users of the replaced systems type: each line of docs/migration.md that begins with kubectl, with
its output there. A line without an expectation here, or an expectation without a line, is a failure."""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import time

from images import BINARIES

from cases.base import (EXPORTERS, ISOLATE_XID, ClusterTest, cluster, deploy, exporter_of, has_settled, kubectl, on, pods,
                        workload)
from cases.commands import pages

PREFIX = "gpu-healthcheck.aws-samples.io"
HEADINGS = ("The GPU health check suite", "node-problem-detector with GPUs, and Draino",
            "AMD's device-metrics-exporter", "The resilience monitor on EKS", "konduktor's node controller")
LEGACY = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "gpu-healthcheck-config", "namespace": EXPORTERS},
          "data": {"CHECK_INTERVAL": "30"}}


def lines_of(heading):
    """Returns the commands below `### Its commands` of that section."""
    below = (heading, pages.OF_SEEDS)
    return [command.line for block in pages.blocks_of("docs/migration.md") if block.headings[-2:] == below
            for command in pages.commands_in(block)]


class SeedCommands(ClusterTest):
    NODE = "gpu-3"
    DECISION = rf"(?m)^\[pod/gpuward-remediator-.*\"node\":\"{NODE}\""

    def setUp(self):
        super().setUp()
        self.lines = [line for heading in HEADINGS for line in lines_of(heading)]
        self.not_run = set(self.lines)
        kubectl.apply([LEGACY])
        self.addCleanup(kubectl.delete, "configmap", LEGACY["metadata"]["name"], "-n", EXPORTERS)
        node = "exporter.config.node"
        cluster.set_values(f"--set={node}.preset=aws-samples",
                           *(f"--set={node}.{what}=true" for what in ("labels", "taint", "annotation")),
                           f"--set=exporter.legacyConfigMap={LEGACY['metadata']['name']}",
                           "--set=exporter.sweep.enabled=true",
                           policy={**cluster.values()["remediator"]["policy"], "mode": "observe", "notifications": {
                               "sinks": [{"name": "nobody", "webhook": {"url": "http://127.0.0.1:1/"}}]}})
        self.addCleanup(cluster.set_values)

    def type(self, begin, fails=False, begins="", more="", folder=pages.TREE, **environment):
        """Runs the one line that is equal to the text or begins with it, as a user would, and returns its output."""
        lines = dict.fromkeys(self.lines)  # a line may be in two sections
        found = [line for line in lines if line == begin] or [line for line in lines if line.startswith(begin)]
        self.assertEqual(1, len(found), begin)
        self.not_run.discard(found[0])
        ended = subprocess.run(["bash", "-o", "pipefail", "-c", begins + found[0] + more], cwd=folder, capture_output=True, text=True,
                               env={**kubectl.environment, "PATH": f"{BINARIES}:{os.environ['PATH']}", "NODE": self.NODE,
                                    "POD": self.pod, **environment},
                               timeout=150, check=False)
        self.assertEqual(fails, ended.returncode != 0, f"{found[0]}\n{ended.stdout}{ended.stderr}")
        return ended.stdout + ended.stderr

    def labels(self):
        return kubectl.get("node", self.NODE)["metadata"]["labels"]

    def is_tainted(self):
        taints = kubectl.get("node", self.NODE)["spec"].get("taints", [])
        return any(taint["key"] == f"{PREFIX}/unhealthy" for taint in taints)

    def test_each_line_that_a_user_of_the_replaced_systems_types(self):
        self.wait(lambda: self.labels().get(f"{PREFIX}/status") == "pass", "the node to pass")
        self.pod = exporter_of(self.NODE)
        self.install()
        self.look()
        self.look_for_amd()
        self.change_a_setting()
        self.quarantine()
        self.break_it()
        self.return_it()
        self.ask_the_remediator()
        self.taint_as_konduktor()
        self.replace_it()
        self.assertEqual(set(), self.not_run)

    def install(self):
        # The objects that the chart has installed stay.
        for made in ("kubectl create namespace gpuward", "kubectl -n gpuward create secret generic gpuward-webhook",
                     "kubectl create -f manifests/remediator-switch.yaml"):
            self.assertIn("already exists", self.type(made, more=" --dry-run=server", fails=True))
        for overlay in ("health-suite", "konduktor"):
            self.assertIn("daemonset.apps/gpuward-exporter",
                          self.type(f"kubectl apply -k kustomize/{overlay}", more=" --dry-run=server"))

    def look(self):
        nodes = {"gpu-1", "gpu-2", "gpu-3"}
        for agents in ("kubectl get pods -n gpu-healthcheck -l app.kubernetes.io/component=agent",
                       "kubectl get pods -n gpu-healthcheck -l app.kubernetes.io/name=gpuward-exporter"):
            self.assertEqual(nodes, set(re.findall(r"gpu-\d", self.type(agents))), agents)
        self.assertRegex(self.type("kubectl get nodes -l nvidia.com/gpu.present=true -L"), r"gpu-3 .* pass +PASS")
        for selected in ("gpu-healthcheck.aws-samples.io/status", "nvidia.com/gpu.present=true"):
            self.assertIn(self.NODE, self.type(f"kubectl get nodes -l {selected}"))
        self.assertRegex(self.type("kubectl get node -o custom-columns"), r"gpu-3 +True +False +p5.48xlarge")
        self.assertEqual(nodes, set(re.findall(r"gpu-\d", self.type("kubectl get nodes -o wide"))))
        results = json.loads(self.type("kubectl get node $NODE -o jsonpath='{.metadata.annotations.gpu-healthcheck"
                                       "\\.aws-samples\\.io/results}'"))
        self.assertIn("0-nvidia-smi", json.dumps(results))
        for log in ("kubectl logs -n gpu-healthcheck -l app.kubernetes.io/component=agent",
                    "kubectl logs -n gpu-healthcheck $POD", "kubectl logs -n gpu-healthcheck $POD | grep -i 'node status'"):
            self.assertIn("Published node status", self.type(log), log)
        # It has never ended.
        self.assertIn("previous terminated container", self.type("kubectl logs -n gpu-healthcheck $POD --previous", fails=True))
        self.assertIn("instance_type=p5.48xlarge source=imdsv2",
                      self.type("kubectl logs -n gpu-healthcheck $POD | grep 'Detected"))
        self.assertEqual("p5.48xlarge", self.type("kubectl get node $NODE -o jsonpath='{.metadata.labels"))
        self.assertIn("yes", self.type("kubectl auth can-i patch nodes"))
        self.assertIn("gpu-healthcheck-sweeper", self.type("kubectl get cronjob"))
        self.sweep_now()
        self.assertIn("sweep 1-dcgm-diag-l2",
                      self.type("kubectl logs -n gpu-healthcheck -l app.kubernetes.io/component=sweeper"))
        self.assertEqual(2, self.type("kubectl get pods -n gpuward").count("gpuward-remediator-"))
        self.type("kubectl apply -f manifests/samples/gpu-load.yaml")
        self.addCleanup(kubectl.delete, "job", "gpu-load")
        self.wait(lambda: self.type("kubectl get pods -l app=gpu-load").count("gpu-load-") == 2, "the load's pods")

    def sweep_now(self):
        kubectl("create", "job", "sweep-now", "--from=cronjob/gpu-healthcheck-sweeper", "-n", EXPORTERS)
        self.addCleanup(kubectl.delete, "job", "sweep-now", "-n", EXPORTERS)
        self.wait(lambda: kubectl.get("job", "sweep-now", "-n", EXPORTERS)["status"].get("succeeded") == 1, "the sweep to end")

    def look_for_amd(self):
        """No node here has such a GPU, so the exporter serves no health of one."""
        self.assertRegex(self.type("kubectl describe node $NODE"), r"(?s)Capacity:.*Allocatable:.*nvidia.com/gpu: +8")
        self.assertIn("No resources found", self.type("kubectl get nodes -l metricsexporter"))
        for command in ("get", "inject"):
            self.assertIn("the socket does not exist", self.type(
                f"kubectl exec -n gpu-healthcheck $POD -- gpuward-exporter amd-health {command}", fails=True))

    def change_a_setting(self):
        self.type("kubectl edit configmap gpu-healthcheck-config", KUBE_EDITOR="sed -i s/30/20/")
        self.wait(lambda: "Reloaded configuration" in kubectl("logs", self.pod, "-n", EXPORTERS),
                  "the exporter to take the changed setting", 180)

    def quarantine(self):
        deploy(workload("train", gpus=1, **on(self.NODE)))
        self.type("kubectl cordon $NODE")
        self.assertIn("drained", self.type("kubectl drain $NODE"))
        self.assertEqual([], [pod for pod in pods("app=train") if pod["spec"].get("nodeName") == self.NODE])
        self.type("kubectl get configmap gpuward-quarantine")
        name = f"gpu-quarantine-{self.NODE}"
        self.addCleanup(kubectl.delete, "job", name, "-n", EXPORTERS)
        self.wait(lambda: [pod for pod in pods(f"job-name={name}", EXPORTERS) if pod["status"]["phase"] != "Pending"],
                  "the quarantine to run")
        self.assertIn("quarantine", self.type("kubectl logs -n gpu-healthcheck job/gpu-quarantine-$NODE -f"))
        self.wait(lambda: f"{PREFIX}/quarantine-result" in kubectl.get("node", self.NODE)["metadata"]["annotations"],
                  "the result of the quarantine")
        result = json.loads(self.type("kubectl get node $NODE -o jsonpath='{.metadata.annotations.gpu-healthcheck"
                                      "\\.aws-samples\\.io/quarantine-result}'"))
        self.assertEqual("return-to-service", result["recommendation"])

    def break_it(self):
        self.take(self.NODE).break_gpu(3, ISOLATE_XID)
        self.wait(lambda: self.labels().get(f"{PREFIX}/severity") == "ISOLATE" and self.is_tainted(), "the node to fail")
        self.assertIn(self.NODE, self.type("kubectl get nodes -l gpu-healthcheck.aws-samples.io/status=fail"))
        self.wait(lambda: "ISOLATE: xid 64 on " in self.type("kubectl get events"), "an Event")
        self.wait(lambda: re.search(r"gpu-3 +isolate", self.type("kubectl get remediations")), "what would be done")
        # The leader's audit log; either of the two pods may lead.
        self.assertRegex(self.type("kubectl logs -n gpuward -l app.kubernetes.io/name=gpuward-remediator --prefix --tail=-1"),
                         self.DECISION)

    def return_it(self):
        # The user's step that returns a node is undone here while the finding exists.
        kubectl("taint", "node", self.NODE, f"{PREFIX}/unhealthy=true:NoSchedule-")
        kubectl("label", "node", self.NODE, f"{PREFIX}/status=pass", "--overwrite")
        self.wait(lambda: self.is_tainted() and self.labels()[f"{PREFIX}/status"] == "fail", "taint and label to come back")
        self.assertIn("xid", self.type("kubectl exec -n gpu-healthcheck $POD -- gpuward-exporter findings list"))
        self.type("kubectl exec -n gpu-healthcheck $POD -- gpuward-exporter findings clear")
        self.wait(lambda: self.labels()[f"{PREFIX}/severity"] == "PASS" and not self.is_tainted(), "the taint to go")
        self.assertIn("annotated", self.type("kubectl annotate node $NODE"))
        self.assertNotIn(f"{PREFIX}/quarantine-result", kubectl.get("node", self.NODE)["metadata"]["annotations"])
        self.type("kubectl uncordon $NODE")
        self.assertFalse(kubectl.get("node", self.NODE)["spec"].get("unschedulable", False))

    def ask_the_remediator(self):
        program = "kubectl exec -n gpuward deployment/gpuward-remediator -- gpuwardctl"
        self.assertIn(self.NODE, self.type(f"{program} list"))
        self.assertIn("mode", self.type(f"{program} explain"))
        # No server listens at that address.
        sends = "kubectl exec -n gpuward deployment/gpuward-remediator -- gpuward-remediator notify test"
        self.assertRegex(self.type(sends, fails=True), r"nobody +webhook +.*127.0.0.1")
        self.assertIn("maintenance", self.type("gpuwardctl exclude"))
        own = "gpuwardctl exclusions"
        self.assertIn(self.NODE, self.type(f"{own} list"))
        self.assertIn("no longer excluded", self.type(f"{own} remove"))
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "gpu_monitor_exclusions.json").write_text(json.dumps({"i-0abc": {
                "node_name": self.NODE, "error_type": "ECC_ERROR", "start_time": time.time(), "timeout": 1800}}))
            self.assertIn("1 exclusions from", self.type(f"{own} import", folder=folder))

    def taint_as_konduktor(self):
        # Followed for a while, because it does not end by itself.
        self.assertRegex(self.type("kubectl logs -n gpuward -l app.kubernetes.io/name=gpuward-remediator --prefix -f", fails=True,
                                   begins="timeout 10 "), self.DECISION)
        self.assertIn(self.pod, self.type("kubectl get pods -n gpu-healthcheck -o wide"))
        self.type("kubectl exec -n gpu-healthcheck $POD -- sh -c")
        # A node without an open remediation; otherwise the command refuses it.
        node = "gpu-2"
        kubectl("taint", "node", node, "trainy.konduktor.ai/faulty=true:NoSchedule")
        self.assertIn("trainy.konduktor.ai/faulty=true:NoSchedule",
                      self.type("kubectl describe node $NODE | grep trainy", NODE=node))
        self.assertIn("removed", self.type("gpuwardctl reset"))
        self.type("kubectl describe node $NODE | grep trainy", fails=True, NODE=node)

    def replace_it(self):
        self.assertRegex(self.type("kubectl get node $NODE -o jsonpath='{.spec.providerID}'"), "^i-")
        self.assertIn("deleted", self.type("kubectl delete node $NODE"))
        # No kubelet registers its Node again, and the next test needs it.
        cluster.node(self.NODE).become_another_machine(kubectl)
        self.wait(lambda: has_settled(self.NODE), "the new machine to be ready")
