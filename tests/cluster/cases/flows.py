"""A kernel line takes a node out of service, and the policy's steps bring it back."""
import datetime
import time

from cases.base import (REBOOT_XID, RESET_XID, ClusterTest, boot_of, cluster, deploy, explain, is_out_of_service,
                        kill_leader, kubectl, nodes_of, on, phase, remediations, say, workload)
from cluster import is_ready
from images import BINARIES
from machines import run


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
        boot = boot_of("gpu-1")
        self.take("gpu-1").break_gpu(3, REBOOT_XID)
        killed = set()

        def is_over():
            now = phase("gpu-1")
            if now in ("Released", "Held", "Cancelled"):
                return True
            if now and now not in killed:
                kill_leader()  # if it fails, the next poll tries again
                killed.add(now)
            return False

        self.wait(is_over, "the Remediation to close", 300)
        self.wait_until_returned("gpu-1")
        self.assertLessEqual({"Rebooting", "Verifying"}, killed)
        self.assertNotEqual(boot, boot_of("gpu-1"))
        self.assertEqual(1, cluster.control.machine.log("datacenter").count("POST /reset/gpu-1"))
        # They were drained before, and nothing brings them back.
        self.assertNotIn("gpu-1", nodes_of("app=train") + nodes_of("app=web"))


def gpuwardctl(*words):
    return run(BINARIES / "gpuwardctl", *words, env=kubectl.environment)


class AStopDuringTheSoak(ClusterTest):
    NODE = "gpu-3"
    SOAK = datetime.timedelta(seconds=15)  # cluster.values

    def tearDown(self):
        gpuwardctl("start")
        cluster.control.machine.signal("prometheus", "CONT")
        super().tearDown()

    def verify(self):
        return self.step_of(self.NODE, "verify")

    def verified_boot(self):
        return self.verify().get("facts", {}).get("verifiedBootID")

    def wait_out_of_service(self, condition, what, seconds=120):
        """Waits until the condition is true; the node must not be in service before."""
        def holds():
            self.assertTrue(is_out_of_service(self.NODE), f"while waiting for {what}")
            return condition()
        self.wait(holds, what, seconds)

    def test_a_machine_that_boots_meanwhile_is_verified_again(self):
        node = self.take(self.NODE)
        resets = cluster.control.machine.log("datacenter").count(f"POST /reset/{self.NODE}")
        node.break_gpu(3, REBOOT_XID)
        self.wait(self.verified_boot, "the soak to begin", 300)
        gpuwardctl("stop", "during the soak")
        before = self.verified_boot()
        self.assertIn("during the soak", gpuwardctl("status"))
        # A poll soon after the stop stops the clock of the soak; otherwise the next poll would end it.
        stopped = datetime.datetime.now()
        self.wait_out_of_service(lambda: self.verify()["result"] == "done" or
                                 datetime.datetime.now() > stopped + 3 * self.SOAK, "the soak to be over")
        ended = self.verify()["result"] == "done"
        if ended:
            self.wait_out_of_service(lambda: "guard.stop" in explain(self.NODE), "the return to be stopped")
        say(f"the verification of before {'has ended' if ended else 'stands still'}\n{explain(self.NODE)}")

        # The remediator knows nothing of the new boot while Prometheus is stopped.
        cluster.control.machine.signal("prometheus", "STOP")
        node.machine.reboot()
        self.wait_out_of_service(lambda: boot_of(self.NODE) != before and is_ready(kubectl.get("node", self.NODE)),
                                 f"{self.NODE} to be Ready in another boot")
        gpuwardctl("start")
        self.wait_out_of_service(lambda: "not healthy yet" in self.verify()["message"], "a report to be asked for")
        self.assertEqual("Verifying", phase(self.NODE))
        say(explain(self.NODE))

        resumed = datetime.datetime.now(datetime.UTC)
        cluster.control.machine.signal("prometheus", "CONT")
        self.wait_out_of_service(lambda: self.verified_boot() == boot_of(self.NODE), "another soak to begin")
        self.wait_until_returned(self.NODE)
        text = explain(self.NODE)
        say(text)
        self.assertEqual(1 + ended, text.count("verify done"))
        verify, back = self.verify(), self.step_of(self.NODE, "return-to-service")
        self.assertEqual((boot_of(self.NODE), 1 + ended), (verify["facts"]["verifiedBootID"], verify["attempts"]))
        healthy, done, returned = (datetime.datetime.fromisoformat(at) for at in (
            verify["facts"]["healthySince"], verify["finishedAt"], back["intentAt"]))
        self.assertLess(resumed, healthy)
        self.assertLessEqual(healthy + self.SOAK, done)
        self.assertLess(done, returned)
        # gpuward did not request the other boot.
        self.assertEqual(resets + 1, cluster.control.machine.log("datacenter").count(f"POST /reset/{self.NODE}"))
