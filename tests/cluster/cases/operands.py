"""A GPU reset beside NVIDIA's GPU operator: DaemonSets that the labels of the Node control, like the operator's
operands."""
import json
import time

from cases.base import (EXPORTERS, RESET_XID, ClusterTest, cluster, is_out_of_service, kill_leader, kubectl, pods,
                        remediations, say, workload)
from machines import ClusterError

NAMESPACE = "gpu-operator"
PAUSED = "paused-for-gpuward-reset"
KEYS = {name: f"nvidia.com/gpu.deploy.{name}" for name in ("device-plugin", "dcgm-exporter", "dcgm")}


def operand(name, leaves_in=20):
    """Returns a DaemonSet whose pods take so many seconds to end."""
    made = workload(name, namespace=NAMESPACE, nodeSelector={KEYS[name]: "true"}, tolerations=[{"operator": "Exists"}],
                    terminationGracePeriodSeconds=leaves_in)
    made["kind"] = "DaemonSet"
    del made["spec"]["replicas"]
    made["spec"]["template"]["spec"]["containers"][0]["command"] = [
        "sh", "-c", "trap '' TERM; while :; do busybox sleep 1; done"]
    return made


def label(node, **values):
    kubectl("label", "node", node, "--overwrite", *(f"{KEYS[name.replace('_', '-')]}={value}" for name, value in values.items()))


class ResetBesideTheGpuOperator(ClusterTest):
    NODE = "gpu-2"

    def setUp(self):
        super().setUp()
        self.node = self.take(self.NODE)
        label(self.NODE, device_plugin="true", dcgm_exporter="true", dcgm="false")
        kubectl.apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}])
        self.addCleanup(kubectl.delete, "namespace", NAMESPACE)
        kubectl.apply([operand(name) for name in KEYS])
        self.wait(lambda: self.running() == {"device-plugin", "dcgm-exporter"}, "the operands to run", 60)

    def labels(self):
        found = kubectl.get("node", self.NODE)["metadata"]["labels"]
        return {name: found.get(key) for name, key in KEYS.items()}

    def running(self):
        """Returns the operands with a pod on the node, including one that ends."""
        found = kubectl.items("pods", "-n", NAMESPACE, "--field-selector", f"spec.nodeName={self.NODE}")
        return {pod["metadata"]["labels"]["app"] for pod in found if pod["status"]["phase"] in ("Pending", "Running")}

    def is_reset_running(self):
        return any(pod["spec"].get("nodeName") == self.NODE and pod["status"]["phase"] in ("Pending", "Running")
                   for pod in pods("gpuward.dev/step=gpu-reset", "gpu-healthcheck"))

    def expect_resumed(self):
        self.assertEqual({"device-plugin": "true", "dcgm-exporter": "true", "dcgm": "false"}, self.labels())

    def break_and_watch(self, on_pause=lambda: None, on_look=lambda: None, seconds=240):
        """Waits until the node is back in service."""
        self.node.break_gpu(3, RESET_XID)
        start = time.monotonic()
        self.wait(lambda: is_out_of_service(self.NODE), f"{self.NODE} to be out of service", 60)
        self.wait(lambda: self.labels()["device-plugin"] == PAUSED, "the operands to be paused", 90)
        paused = time.monotonic()
        self.assertEqual({"device-plugin": PAUSED, "dcgm-exporter": PAUSED, "dcgm": "false"}, self.labels())
        on_pause()
        overlaps = []

        def is_resumed():
            on_look()
            if self.is_reset_running() and self.running():
                overlaps.append(self.running())
            return self.labels()["device-plugin"] == "true"

        self.wait(is_resumed, "the operands to be resumed", seconds)
        self.assertEqual([], overlaps, "a reset Job beside operands")
        took = time.monotonic() - paused
        self.expect_one_reset(self.NODE)
        self.expect_resumed()
        self.wait(lambda: self.running() == {"device-plugin", "dcgm-exporter"}, "the operands to run again", 60)
        say(f"operands that take 20 s to leave: paused for {took:.0f} s, back in service "
            f"{time.monotonic() - start:.0f} s after the kernel line")

    def test_operands_are_paused_for_it_alone(self):
        self.break_and_watch()
        steps = [line for line in self.status_of(self.NODE)["history"] if "paused operands: " in line or "resumed operands: " in line]
        self.assertEqual(2, len(steps), steps)

    def test_operands_are_resumed_though_the_leader_dies_while_they_leave(self):
        self.break_and_watch(kill_leader)

    def test_operands_are_resumed_though_each_leader_dies_after_what_it_wrote(self):
        seen = set()

        def kill_after_a_write():
            record = {key: value for key, value in self.step_of(self.NODE, "gpu-reset").items() if key != "activeSeconds"}
            state = json.dumps([record, self.labels(), self.is_reset_running()], sort_keys=True)
            if state in seen:
                return
            try:
                kill_leader()
                seen.add(state)
            except ClusterError:
                pass  # the next one does not lead yet

        self.break_and_watch(on_look=kill_after_a_write, seconds=600)
        say(f"killed after {len(seen)} writes of the step")
        self.assertGreaterEqual(len(seen), 4)

    def test_operands_are_resumed_though_gpuward_is_upgraded_and_rolled_back_while_they_leave(self):
        kubectl.apply([operand(name, leaves_in=120) for name in KEYS])
        for name in KEYS:
            kubectl("rollout", "status", f"daemonset/{name}", "-n", NAMESPACE, "--timeout=200s", seconds=210)
        installed = json.loads(kubectl.helm("history", "gpuward", "--namespace=gpuward", "--output=json"))[-1]["revision"]

        def upgrade_and_roll_back():
            cluster.install("upgrade", "--set=remediator.replicas=1", "--set=exporter.args[2]=--log.level=debug")
            kubectl.helm("rollback", "gpuward", str(installed), "--namespace=gpuward", "--wait", "--timeout=180s")
            self.assertEqual(PAUSED, self.labels()["device-plugin"], "the operands left before the rollback had ended")

        self.break_and_watch(upgrade_and_roll_back)

    def test_operands_of_a_node_that_is_registered_again_are_resumed_after_one_reset(self):
        self.node.break_gpu(3, RESET_XID)
        self.wait(lambda: self.labels()["device-plugin"] == PAUSED, "the operands to be paused", 150)
        before = kubectl.get("node", self.NODE)["metadata"]["uid"]
        kubectl.delete("node", self.NODE)
        self.node.machine.kill("kubelet")
        self.node.machine.start("kubelet")

        def is_another():
            found = kubectl.get("node", self.NODE)
            return found and found["metadata"]["uid"] != before

        self.wait(is_another, f"{self.NODE} to be registered again")
        # The operator sets them on each Node.
        label(self.NODE, device_plugin="true", dcgm_exporter="true", dcgm="false")
        self.wait_until_returned(self.NODE, 400)
        self.expect_resumed()
        own = [one["metadata"]["name"] for one in remediations(self.NODE) if one["metadata"]["name"] not in self.known]
        resets = [job["metadata"]["name"] for job in kubectl.items("jobs", "-n", EXPORTERS, "-l", "gpuward.dev/step=gpu-reset")
                  if job["metadata"]["annotations"]["gpuward.dev/remediation"] in own]
        self.assertEqual(1, len(resets), resets)

    def test_operands_of_a_remediation_that_is_deleted_are_resumed(self):
        self.node.break_gpu(3, RESET_XID)
        self.wait(lambda: self.labels()["device-plugin"] == PAUSED, "the operands to be paused", 150)
        name = remediations(self.NODE)[-1]["metadata"]["name"]
        # Only the remediator may, before the deletion.
        kubectl("patch", "remediation", name, "--type=merge", "-p", '{"metadata":{"finalizers":null}}',
                "--as=system:serviceaccount:gpuward:gpuward-remediator")
        kubectl("delete", "remediation", name, "--wait=false")
        self.wait(lambda: self.labels()["device-plugin"] == "true", "the operands to be resumed", 240)
        self.expect_resumed()
