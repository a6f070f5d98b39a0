"""A kernel line takes a node out of service, and what the policy plans brings it back."""
import time

from cases.base import (REBOOT_XID, RESET_XID, ClusterTest, cluster, deploy, explain, is_out_of_service, kill_leader,
                        kubectl, nodes_of, on, phase, remediations, say, workload)


class FromKernelLineToService(ClusterTest):
    def test_two_nodes_are_out_of_service_and_reset_and_back(self):
        deploy(workload("train", replicas=2, gpus=6), workload("web", replicas=3))
        broken = [self.take(name) for name in ("gpu-2", "gpu-3")]
        start = time.monotonic()
        for node in broken:
            node.break_gpu(3, RESET_XID)
        for node in broken:
            self.wait(lambda node=node: is_out_of_service(node.name), f"{node.name} to be tainted and cordoned", 60)
        say(f"both cordoned {time.monotonic() - start:.1f} s after the kernel line")
        text = explain("gpu-2")
        self.assertIn("GpuNodeNeedsReset", text)
        for node in broken:
            self.wait_until_returned(node.name)
            steps = [step["name"] for step in remediations(node.name)[-1]["status"]["steps"]]
            self.assertIn("gpu-reset", steps)
        self.wait(lambda: len(nodes_of("app=train")) == 2, "both pods of the work to run again")

    def test_a_reboot_survives_the_death_of_the_leader_in_each_phase_that_is_seen(self):
        deploy(workload("train", gpus=8, **on("gpu-1")), workload("web", replicas=2, **on("gpu-1")))
        self.assertIn("gpu-1", nodes_of("app=web"))
        boot = kubectl.get("node", "gpu-1")["status"]["nodeInfo"]["bootID"]
        self.take("gpu-1").break_gpu(3, REBOOT_XID)
        killed = set()

        def is_over():
            now = phase("gpu-1")
            if now in ("Released", "Held", "Cancelled"):
                return True
            if now and now not in killed:
                kill_leader()  # tried again at the next look where it fails
                killed.add(now)
            return False

        self.wait(is_over, "the Remediation to close", 300)
        self.wait_until_returned("gpu-1")
        self.assertLessEqual({"Rebooting", "Verifying"}, killed)
        self.assertNotEqual(boot, kubectl.get("node", "gpu-1")["status"]["nodeInfo"]["bootID"])
        self.assertEqual(1, cluster.control.machine.log("datacenter").count("POST /reset/gpu-1"))
        # Drained before, and nothing brings them back.
        self.assertNotIn("gpu-1", nodes_of("app=train") + nodes_of("app=web"))
