"""gpuward's Jobs as pods, from the shipped templates."""
import json

import yaml
from cases.base import (EXPORTERS, ISOLATE_XID, RESET_XID, ClusterTest, cluster, deploy, is_out_of_service,
                        kill_leader, kubectl, nodes_of, on, phase, pods, remediations, workload)

PREFIX = "gpuward.dev"


def annotation(node, name):
    """Returns the parsed JSON of one of the exporter's annotations; None if it is absent."""
    text = kubectl.get("node", node)["metadata"].get("annotations", {}).get(f"{PREFIX}/{name}")
    return json.loads(text) if text else None


def has_succeeded(job):
    found = kubectl.get("job", job, "-n", EXPORTERS)
    return found is not None and found.get("status", {}).get("succeeded") == 1


class JobsByHand(ClusterTest):
    NODE = "gpu-3"

    def test_quarantine(self):
        kubectl("cordon", self.NODE)
        self.addCleanup(kubectl, "uncordon", self.NODE)
        template = kubectl.get("configmap", "gpuward-quarantine", "-n", EXPORTERS)["data"]
        (text,) = template.values()
        kubectl("apply", "-f", "-", input=text.replace("TARGET_NODE_NAME", self.NODE))
        name = yaml.safe_load(text)["metadata"]["name"].replace("TARGET_NODE_NAME", self.NODE)
        self.addCleanup(kubectl.delete, "job", name, "-n", EXPORTERS)
        self.wait(lambda: annotation(self.NODE, "quarantine-result"), "the result of the quarantine")
        self.wait(lambda: has_succeeded(name), "the quarantine to end")
        result = annotation(self.NODE, "quarantine-result")
        self.assertEqual(("pass", "return-to-service"), (result["status"], result["recommendation"]), result)

    def test_sweep(self):
        deploy(workload("train", gpus=1, **on("gpu-1")))
        cluster.set_values("--set=exporter.sweep.enabled=true")
        self.addCleanup(cluster.set_values)
        kubectl("create", "job", "sweep-now", "--from=cronjob/gpu-healthcheck-sweeper", "-n", EXPORTERS)
        self.addCleanup(kubectl.delete, "job", "sweep-now", "-n", EXPORTERS)
        self.wait(lambda: has_succeeded("sweep-now"), "the sweep to end")
        for node in ("gpu-2", "gpu-3"):
            self.assertEqual("pass", (annotation(node, "sweep-result") or {}).get("status"), node)
        # A workload runs there.
        self.assertIsNone(annotation("gpu-1", "sweep-result"))


class JobsOfARemediation(ClusterTest):
    def test_nodes_that_failed_together_are_tested_in_pairs_and_return(self):
        policy = cluster.values()["remediator"]["policy"]
        # Alertmanager may send the second alert 30 s after the first (group_interval), and these diagnostics take 4 s.
        policy["recovery"] = {"isolate": [{"wait": {"delay": "40s"}}, {"quarantine-job": {"clears_latched": True}},
                                          {"nccl-pairs": {"min_bus_bandwidth": 1}},
                                          {"verify": {"soak": "15s"}}, "return-to-service"]}
        cluster.set_values(policy=policy)
        self.addCleanup(cluster.set_values)
        nodes = ("gpu-1", "gpu-2")
        for node in nodes:
            self.take(node).break_gpu(3, ISOLATE_XID)
        for node in nodes:
            self.wait(lambda node=node: is_out_of_service(node), f"{node} to be out of service")
        for node in nodes:
            self.wait_until_returned(node, 300)
            steps = {step["name"]: step["result"] for step in remediations(node)[-1]["status"]["steps"]}
            self.assertEqual(("done", "done"), (steps["quarantine-job"], steps["nccl-pairs"]), steps)

    def test_the_health_suites_flow(self):
        """Follows the remediation to the verification, which takes ten minutes."""
        policy = cluster.values()["remediator"]["policy"]
        del policy["severities"]
        # The plan for ISOLATE ends with the end of the machine, for which the chart requires a program.
        power = cluster.power_cycle
        policy["machines"] = {"reboot": power, "terminate": power, "is_gone": power}
        cluster.set_values(policy={**policy, "preset": "health-suite"})
        self.addCleanup(cluster.set_values)
        self.take("gpu-3").break_gpu(3, RESET_XID)
        self.wait(lambda: phase("gpu-3") == "Verifying", "gpu-3 to be verified", 300)
        steps = {step["name"]: step["result"] for step in remediations("gpu-3")[-1]["status"]["steps"]}
        # The nodes are EC2 instances, which are restarted instead.
        self.assertEqual(("failed", "done", "done"), (steps["gpu-reset"], steps["reboot"], steps["quarantine-job"]), steps)
        self.assertEqual("pass", annotation("gpu-3", "quarantine-result")["status"])


class JobsThatLosePods(ClusterTest):
    """A plain Job of two pods, one of which is on the drained node; its controller is the real one."""
    NODE = "gpu-2"

    def setUp(self):
        super().setUp()
        policy = cluster.values()["remediator"]["policy"]
        steps = policy["severities"]["reset"]
        drain = next(i for i, step in enumerate(steps) if "drain" in step)
        steps.insert(drain + 1, "restart-job")
        cluster.set_values("--set=remediator.grants.restartJob=true", policy=policy)
        self.addCleanup(cluster.set_values)
        self.addCleanup(kubectl.delete, "jobs", "--all", "-n", "default")

    def start_job(self, **metadata):
        """Returns the UIDs of its pods, once they run; each takes 10 s to end."""
        template = workload("train", gpus=1)["spec"]["template"]
        template["metadata"]["labels"] = {"app": "train"}
        template["spec"] |= {"restartPolicy": "Never", "terminationGracePeriodSeconds": 10}
        template["spec"]["containers"][0]["command"] = ["sh", "-c", "trap '' TERM; while :; do busybox sleep 1; done"]
        apart = {"labelSelector": {"matchLabels": {"app": "train"}}, "topologyKey": "kubernetes.io/hostname"}
        template["spec"]["affinity"] = {
            **on(self.NODE)["affinity"],
            "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [apart]}}
        kubectl.apply([{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train", "namespace": "default", **metadata},
                        "spec": {"parallelism": 2, "completions": 2, "backoffLimit": 0, "template": template,
                                 "podFailurePolicy": {"rules": [{"action": "Ignore", "onPodConditions": [
                                     {"type": "DisruptionTarget", "status": "True"}]}]}}}])
        self.wait(lambda: self.NODE in nodes_of("app=train") and len(nodes_of("app=train")) == 2, "the Job to run")
        return self.uids()

    def uids(self):
        return {pod["metadata"]["uid"] for pod in pods("app=train")}

    def job(self):
        return kubectl.get("job", "train", "-n", "default")

    def is_suspended(self):
        return self.job()["spec"].get("suspend", False)

    def step(self):
        for step in (remediations(self.NODE) or [{}])[-1].get("status", {}).get("steps", []):
            if step["name"] == "restart-job":
                return step
        return {}

    def test_start_over_as_a_whole_though_the_leader_dies_meanwhile(self):
        before = self.start_job()
        self.take(self.NODE).break_gpu(3, RESET_XID)
        self.wait(self.is_suspended, "the Job to be suspended")
        kill_leader()
        self.wait_until_returned(self.NODE, 300)
        self.assertEqual("done", self.step()["result"], self.step())
        self.assertFalse(self.is_suspended())
        self.assertIn(remediations(self.NODE)[-1]["metadata"]["name"],
                      self.job()["metadata"]["annotations"]["gpuward.dev/restarted-by"])
        self.wait(lambda: len(nodes_of("app=train")) == 2, "the Job to run again")
        self.assertFalse(before & self.uids(), "a pod of before is still there")
        self.assertNotIn("failed", self.job()["status"])

    def test_are_left_alone_if_their_owner_asks_for_it(self):
        before = self.start_job(annotations={"gpuward.dev/do-not-restart": "true"})
        self.take(self.NODE).break_gpu(3, RESET_XID)
        self.wait(lambda: is_out_of_service(self.NODE), f"{self.NODE} to be out of service")
        self.wait_until_returned(self.NODE, 300)
        self.assertIn("do-not-restart", self.step()["message"])
        self.assertEqual(1, len(before & self.uids()), "the pod on the other node")
