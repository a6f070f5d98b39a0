"""The time that a kernel line takes. The limits are far above those in docs/tested-on.md, because other work may run at
the same time; the test prints the measured values."""
import http.client
import json
import ssl
import time

from cases.base import EXPORTERS, ISOLATE_XID, ClusterTest, cluster, exporter_of, has_settled, kubectl, pods, say
from nodes import HERE, KERNEL_LOG

LINES = 100
NODE = "gpu-3"


def figures(seconds):
    """Returns p50, p99 and the maximum, in seconds."""
    inorder = sorted(seconds)
    return [inorder[int(len(inorder) * part)] for part in (0.5, 0.99)] + [inorder[-1]]


def api_server():
    """A connection that stays open, because kubectl takes longer than the measured time."""
    keys = cluster.control.keys
    context = ssl.create_default_context(cafile=keys.file("ca.crt"))
    context.load_cert_chain(keys.file("admin.crt"), keys.file("admin.key"))
    server = json.loads(kubectl.kubeconfig.read_text())["clusters"][0]["cluster"]["server"]
    return http.client.HTTPSConnection(server.removeprefix("https://"), context=context, timeout=10)


def tell(what, seconds):
    p50, p99, most = figures(seconds)
    say(f"kernel line to {what}: p50 {p50 * 1e3:.1f} ms, p99 {p99 * 1e3:.1f} ms, at most {most * 1e3:.1f} ms of {len(seconds)}")
    return p99


class FromAKernelLine(ClusterTest):
    def test_to_the_metric(self):
        (pod,) = [pod for pod in pods("app.kubernetes.io/name=gpuward-exporter", EXPORTERS) if pod["spec"]["nodeName"] == NODE]
        machine = cluster.node(NODE).machine
        address = cluster.node(NODE).pci_address(0)
        line = f"NVRM: Xid (PCI:{address}): 13, pid=1, name=python"
        output = machine.inside(HERE / "line_to_metric", pod["status"]["podIP"], KERNEL_LOG, line, LINES)
        cluster.node(NODE).become_another_machine(kubectl)
        self.wait(lambda: has_settled(NODE), f"the new {NODE} to be ready")
        self.assertLess(tell("metric", json.loads(output)), 0.25)

    def test_to_the_taint(self):
        node = self.take(NODE)
        cluster.set_values("--set=remediator.policy.mode=observe", "--set=exporter.config.node.taint=true")
        self.addCleanup(cluster.set_values)

        connection = api_server()
        self.addCleanup(connection.close)

        def taints():
            connection.request("GET", f"/api/v1/nodes/{NODE}")
            return json.load(connection.getresponse())["spec"].get("taints", [])

        def until(is_tainted):
            deadline = time.monotonic() + 60
            while bool(taints()) != is_tainted:
                self.assertLess(time.monotonic(), deadline, taints())

        seconds = []
        for _ in range(LINES):
            start = time.monotonic()
            node.break_gpu(3, ISOLATE_XID)
            until(True)
            seconds.append(time.monotonic() - start)
            kubectl("exec", "-n", EXPORTERS, exporter_of(NODE), "--", "gpuward-exporter", "findings", "clear", "--all-operator")
            until(False)
        self.assertLess(tell("taint", seconds), 2)
