"""Upgrade, rollback and uninstall while a node is out of service."""
import json

from cases.base import (EXPORTERS, ISOLATE_XID, REMEDIATORS, ClusterTest, cluster, exporter_of,
                        is_out_of_service, kubectl, phase, remediations)


class ARelease(ClusterTest):
    NODE = "gpu-3"

    def tearDown(self):
        """Nothing of gpuward is there to be put in order."""

    def steps(self):
        return [(step["name"], step["result"], step["attempts"], step["intentAt"])
                for step in remediations(self.NODE)[-1]["status"]["steps"]]

    def test_is_upgraded_rolled_back_and_taken_away(self):
        self.take(self.NODE).break_gpu(3, ISOLATE_XID)
        self.wait(lambda: phase(self.NODE) == "Held", f"{self.NODE} to be held")
        done = self.steps()
        installed = json.loads(kubectl.helm("history", "gpuward", "--namespace=gpuward", "--output=json"))[-1]["revision"]
        cluster.install("upgrade", "--set=remediator.replicas=1", "--set=exporter.args[2]=--log.level=debug")
        self.assertEqual(done, self.steps())
        kubectl.helm("rollback", "gpuward", str(installed), "--namespace=gpuward", "--wait", "--timeout=180s")
        self.wait(lambda: phase(self.NODE) == "Held" and is_out_of_service(self.NODE), "the node to be held still")
        self.assertEqual(done, self.steps())

        kubectl.helm("uninstall", "gpuward", "--namespace=gpuward", "--wait")
        # docs/install.md promises this: the history of past steps is kept, and so is the state of the node.
        self.assertEqual("Held", phase(self.NODE))
        self.assertTrue(is_out_of_service(self.NODE))
        for namespace in (EXPORTERS, REMEDIATORS):
            self.wait(lambda namespace=namespace: not kubectl.items("pods", "-n", namespace), f"{namespace} to be empty")
        left = kubectl("api-resources", "--verbs=list", "-o", "name").split()
        found = [f"{kind}/{one['metadata']['name']}" for kind in left if not kind.startswith("events")
                 for one in kubectl.items(kind, "-A")
                 if one["metadata"].get("labels", {}).get("app.kubernetes.io/managed-by") == "Helm"]
        self.assertEqual(["customresourcedefinitions.apiextensions.k8s.io/remediations.gpuward.dev"], found)


class TheFirstInstall(ClusterTest):
    """`helm install --wait` needs no objects before it, and none after it."""

    def tearDown(self):
        """Nothing of gpuward was there to be put in order."""

    def test_is_ready_in_one_go(self):
        if kubectl.helm("list", "--namespace=gpuward", "--short").strip():
            kubectl.helm("uninstall", "gpuward", "--namespace=gpuward", "--wait")
        kubectl.delete("secret", "gpuward-webhook", "-n", REMEDIATORS)
        cluster.install("upgrade", "--install")
        self.assertEqual(2, kubectl.get("deployment", "gpuward-remediator", "-n", REMEDIATORS)["status"]["readyReplicas"])
        made = kubectl.get("secret", "gpuward-webhook", "-n", REMEDIATORS)
        self.assertEqual("Helm", made["metadata"]["labels"]["app.kubernetes.io/managed-by"])
        cluster.install("upgrade")
        self.assertEqual(made["data"], kubectl.get("secret", "gpuward-webhook", "-n", REMEDIATORS)["data"])
        # Its name leads to the present pods.
        kubectl("delete", "pod", exporter_of("gpu-1"), "-n", EXPORTERS)
        self.wait(lambda: exporter_of("gpu-1"), "the next exporter of gpu-1")
        told = kubectl.helm("test", "gpuward", f"--namespace={REMEDIATORS}", "--timeout=200s")
        for test in ("exporter", "webhook", "record"):
            self.assertRegex(told, rf"gpuward-test-{test}\n.*\n.*\nPhase: +Succeeded")
