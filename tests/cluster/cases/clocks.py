"""Clocks that step, for `./dev test --cluster-long`: libfaketime in the pods gives gpuward another time of day, and its
timers continue as after a step of the machine's clock."""
import base64
import datetime
import json
import pathlib

from cases.base import (EXPORTERS, REBOOT_XID, REMEDIATORS, ClusterTest, cluster, deploy, explain, exporter_of, kubectl,
                        leading_pod, nodes_of, on, remediations, say, workload)

FAKETIME = pathlib.Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1")
NODE = "gpu-2"


def fake_time(kind, name, container, namespace):
    """Makes the workload's pods take the time of day from their file /clock/offset, once it exists."""
    kubectl.apply([{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "faketime", "namespace": namespace},
                    "binaryData": {FAKETIME.name: base64.b64encode(FAKETIME.read_bytes()).decode()}}])
    variables = {"LD_PRELOAD": f"/faketime/{FAKETIME.name}", "FAKETIME_TIMESTAMP_FILE": "/clock/offset", "FAKETIME_NO_CACHE": "1",
                 "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1"}
    pod = {"volumes": [{"name": "faketime", "configMap": {"name": "faketime"}}, {"name": "clock", "emptyDir": {}}],
           "containers": [{"name": container, "env": [{"name": key, "value": value} for key, value in variables.items()],
                           "volumeMounts": [{"name": "faketime", "mountPath": "/faketime"},
                                            {"name": "clock", "mountPath": "/clock"}]}]}
    kubectl("patch", kind, name, "-n", namespace, "--patch", json.dumps({"spec": {"template": {"spec": pod}}}))
    cluster.wait_for_rollout(f"{kind}/{name}", namespace)


class AClock(ClusterTest):
    kind = name = container = namespace = ""

    def setUp(self):
        super().setUp()
        self.addCleanup(cluster.wait_for_rollout, f"{self.kind}/{self.name}", self.namespace)
        self.addCleanup(kubectl, "rollout", "undo", f"{self.kind}/{self.name}", "-n", self.namespace)
        fake_time(self.kind, self.name, self.container, self.namespace)
        deploy(workload("train", **on(NODE)))
        self.take(NODE)

    def set_clock(self, name, offset):
        """Writes the file on the node, because the remediator's image has no shell."""
        pod = kubectl.get("pod", name, "-n", self.namespace)
        volume = f"/var/lib/kubelet/pods/{pod['metadata']['uid']}/volumes/kubernetes.io~empty-dir/clock"
        cluster.node(pod["spec"]["nodeName"]).machine.inside("sh", "-c", f"echo '{offset}' > {volume}/offset")

    def expect_one_reboot(self):
        self.wait_until_returned(NODE, 300)
        steps = {step["name"]: (step["result"], step["attempts"]) for step in remediations(NODE)[-1]["status"]["steps"]}
        self.assertEqual(("done", 1), steps["reboot"])


class OfTheLeader(AClock):
    kind, name, container, namespace = "deployment", "gpuward-remediator", "remediator", REMEDIATORS

    def rule(self):
        found = remediations(NODE)
        return found[-1].get("status", {}).get("rule") if found else None

    def test_an_hour_ahead_disrupts_nothing_until_it_is_right(self):
        pod = self.wait(leading_pod, "a leader")["metadata"]["name"]
        self.set_clock(pod, "+3600")
        boot = kubectl.get("node", NODE)["status"]["nodeInfo"]["bootID"]
        cluster.node(NODE).break_gpu(3, REBOOT_XID)
        self.wait(lambda: self.rule() == "guard.evidence", "the wait for fresh evidence")
        say(explain(NODE))
        self.assertIn(NODE, nodes_of("app=train"))
        self.assertEqual(boot, kubectl.get("node", NODE)["status"]["nodeInfo"]["bootID"])
        self.set_clock(pod, "+0")
        self.expect_one_reboot()


class OfANode(AClock):
    """Returns the age of its exporter's report according to Prometheus."""
    kind, name, container, namespace = "daemonset", "gpuward-exporter", "exporter", EXPORTERS

    def test_an_hour_ahead_changes_nothing(self):
        self.set_clock(exporter_of(NODE), "+3600")
        cluster.node(NODE).break_gpu(3, REBOOT_XID)
        self.expect_one_reboot()
        since = remediations(NODE)[-1]["status"]["findings"][0]["firstSeen"]
        ahead = datetime.datetime.fromisoformat(since) - datetime.datetime.now(datetime.timezone.utc)
        self.assertGreater(ahead, datetime.timedelta(minutes=30), "the clock was ahead all the while")
