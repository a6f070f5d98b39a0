"""A GPU reset beside NVIDIA's GPU operator: DaemonSets that the labels of the Node steer, as the operator's operands."""
import time

from cases.base import (RESET_XID, ClusterTest, is_out_of_service, kill_leader, kubectl, pods,
                        remediations, say, workload)

NAMESPACE = "gpu-operator"
PAUSED = "paused-for-gpuward-reset"
KEYS = {name: f"nvidia.com/gpu.deploy.{name}" for name in ("device-plugin", "dcgm-exporter", "dcgm")}


def operand(name):
    """It takes 20 s to leave."""
    made = workload(name, namespace=NAMESPACE, nodeSelector={KEYS[name]: "true"}, tolerations=[{"operator": "Exists"}],
                    terminationGracePeriodSeconds=20)
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
        """The operands with a pod on the node, one that ends included."""
        found = kubectl.items("pods", "-n", NAMESPACE, "--field-selector", f"spec.nodeName={self.NODE}")
        return {pod["metadata"]["labels"]["app"] for pod in found if pod["status"]["phase"] in ("Pending", "Running")}

    def is_reset_running(self):
        return any(pod["spec"].get("nodeName") == self.NODE and pod["status"]["phase"] in ("Pending", "Running")
                   for pod in pods("gpuward.dev/step=gpu-reset", "gpu-healthcheck"))

    def expect_resumed(self):
        self.assertEqual({"device-plugin": "true", "dcgm-exporter": "true", "dcgm": "false"}, self.labels())

    def break_and_watch(self, on_pause=lambda: None):
        """Until the node is back in service. How long the operands were paused, in seconds."""
        self.node.break_gpu(3, RESET_XID)
        start = time.monotonic()
        self.wait(lambda: is_out_of_service(self.NODE), f"{self.NODE} to be out of service", 60)
        self.wait(lambda: self.labels()["device-plugin"] == PAUSED, "the operands to be paused", 90)
        paused = time.monotonic()
        self.assertEqual({"device-plugin": PAUSED, "dcgm-exporter": PAUSED, "dcgm": "false"}, self.labels())
        on_pause()
        overlaps = []

        def is_resumed():
            if self.is_reset_running() and self.running():
                overlaps.append(self.running())
            return self.labels()["device-plugin"] == "true"

        self.wait(is_resumed, "the operands to be resumed", 240)
        self.assertEqual([], overlaps, "a reset Job beside operands")
        took = time.monotonic() - paused
        self.expect_one_reset(self.NODE)
        self.expect_resumed()
        self.wait(lambda: self.running() == {"device-plugin", "dcgm-exporter"}, "the operands to run again", 60)
        say(f"operands that take 20 s to leave: paused for {took:.0f} s, back in service "
            f"{time.monotonic() - start:.0f} s after the kernel line")

    def test_operands_are_paused_for_it_alone(self):
        self.break_and_watch()
        steps = [line for line in self.status_of(self.NODE)["history"] if "operands of the GPU operator" in line]
        self.assertEqual(2, len(steps), steps)

    def test_operands_are_resumed_though_the_leader_dies_while_they_leave(self):
        self.break_and_watch(kill_leader)

    def test_operands_of_a_remediation_that_is_deleted_are_resumed(self):
        self.node.break_gpu(3, RESET_XID)
        self.wait(lambda: self.labels()["device-plugin"] == PAUSED, "the operands to be paused", 150)
        name = remediations(self.NODE)[-1]["metadata"]["name"]
        kubectl("patch", "remediation", name, "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
        kubectl("delete", "remediation", name, "--wait=false")
        self.wait(lambda: self.labels()["device-plugin"] == "true", "the operands to be resumed", 240)
        self.expect_resumed()
