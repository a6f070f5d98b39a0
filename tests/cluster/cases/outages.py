"""Outages that a node's repair survives, of a length that fits into every run of the tests."""
from cases.base import ISOLATE_XID, ClusterTest, cluster, is_out_of_service, kubectl, phase, remediations


class WhileANodeIsDrained(ClusterTest):
    NODE = "gpu-1"

    def test_etcd_is_killed(self):
        self.start_slow_drain(self.NODE)
        cluster.control.machine.kill("etcd")
        cluster.control.machine.start("etcd")
        self.expect_one_reset(self.NODE)


class AHeldNode(ClusterTest):
    NODE = "gpu-2"

    def test_stays_out_of_service_when_it_is_registered_anew(self):
        node = self.take(self.NODE)
        node.break_gpu(3, ISOLATE_XID)
        self.wait(lambda: phase(self.NODE) == "Held", f"{self.NODE} to be held")
        before = kubectl.get("node", self.NODE)["metadata"]["uid"]
        kubectl.delete("node", self.NODE)
        node.machine.kill("kubelet")
        node.machine.start("kubelet")

        def is_another():
            found = kubectl.get("node", self.NODE)
            return found and found["metadata"]["uid"] != before

        self.wait(is_another, f"{self.NODE} to be registered anew")
        self.wait(lambda: is_out_of_service(self.NODE), "the machine to be known again")

        def repeats():
            return sum(value for _, value in cluster.query('gpuward_remediator_alerts_ignored_total{reason="late_repeat"}'))

        # An operator ends it while the alert of the first Node still fires: that answers both.
        ignored = repeats()
        kubectl("annotate", "remediation", remediations(self.NODE)[-1]["metadata"]["name"], "gpuward.dev/cancel=true")
        self.wait(lambda: not is_out_of_service(self.NODE), "the cancelled node to be given back")
        self.wait(lambda: repeats() > ignored, "the repeat to be ignored")
        self.assertFalse(is_out_of_service(self.NODE))
        self.assertEqual("Cancelled", phase(self.NODE))
