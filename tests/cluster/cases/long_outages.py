"""Long outages, for `./dev test --cluster-long`."""
import signal

from cases.base import ClusterTest, cluster, kubectl


class WhileANodeIsDrained(ClusterTest):
    NODE = "gpu-2"

    def test_the_api_server_stands_still(self):
        self.start_slow_drain(self.NODE)
        cluster.control.machine.signal("kube-apiserver", "STOP")
        # The length of the outage; no condition is awaited.
        self.assertIsNone(signal.sigtimedwait([signal.SIGUSR1], 30))
        cluster.control.machine.signal("kube-apiserver", "CONT")
        self.expect_one_reset(self.NODE)

    def test_the_kubelet_dies(self):
        machine = cluster.node(self.NODE).machine
        self.start_slow_drain(self.NODE)
        machine.kill("kubelet")
        self.wait(lambda: any(pod["metadata"].get("deletionTimestamp")
                              for pod in kubectl.items("pods", "-l", "app=slow")), "the eviction")
        machine.start("kubelet")
        self.expect_one_reset(self.NODE)
