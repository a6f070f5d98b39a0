"""A drill (docs/game-day.md): a fault that is injected into a real exporter passes the whole flow on a node with the
label for drills, and changes nothing on other nodes."""
from cases.base import (EXPORTERS, REBOOT_XID, RESET_XID, ClusterTest, boot_of, cluster, deploy, explain, exporter_of, is_in_service,
                        kubectl, metrics_of, nodes_of, on, phase, remediations, say, workload)

TIMES = ("recorded", "tainted", "cordoned", "drained", "reset or restarted", "back in service")


def inject(node, *arguments):
    return kubectl("-n", EXPORTERS, "exec", exporter_of(node), "--", "gpuward-exporter", "inject", *arguments)


class GameDay(ClusterTest):
    def setUp(self):
        super().setUp()
        for node in ("gpu-2", "gpu-3"):
            self.take(node)
            self.wait(lambda node=node: is_in_service(node), f"{node} to be in service")
        deploy(workload("train", replicas=2, **on("gpu-2")))

    def test_a_drill_takes_a_labelled_node_through_all_steps_and_says_how_long_each_took(self):
        self.wait(lambda: "gpu-2" in nodes_of("app=train"), "a pod on gpu-2")
        boot = boot_of("gpu-2")
        kubectl("label", "node", "gpu-2", "gpuward.dev/drill=allowed")

        self.assertIn("drill started", inject("gpu-2", "xid", str(REBOOT_XID), "--gpu", "3"))
        self.wait(lambda: phase("gpu-2") not in (None, "Pending"), "the drill to be taken up", 60)
        self.assertIn("gpuward_node_severity 0", metrics_of("gpu-2"))
        self.assertIn("gpuward_drill_severity 3", metrics_of("gpu-2"))
        self.assertFalse(cluster.query('ALERTS{node="gpu-2",remediation!=""}'), "a drill is no fault")

        self.wait_until_returned("gpu-2", 240)
        self.assertNotEqual(boot, boot_of("gpu-2"))
        self.assertNotIn("gpu-2", nodes_of("app=train"))
        self.assertEqual([True], [alert.get("drill") for alert in remediations("gpu-2")[-1]["spec"]["alerts"]])
        text = explain("gpu-2")
        times = next(line for line in text.splitlines() if "since the alert:" in line)
        say(times.strip())
        for what in TIMES:
            self.assertRegex(times, rf"\b{what} \d+\.\d s")

    def test_a_drill_of_severity_reset_resets_the_gpus_of_a_labelled_node(self):
        boot = boot_of("gpu-2")
        kubectl("label", "node", "gpu-2", "gpuward.dev/drill=allowed", "--overwrite")
        inject("gpu-2", "xid", str(RESET_XID), "--gpu", "3")
        self.wait(lambda: self.step_of("gpu-2", "gpu-reset").get("result") == "done", "the GPUs to be reset", 180)
        self.wait_until_returned("gpu-2", 240)
        self.assertEqual(boot, boot_of("gpu-2"))

    def test_a_drill_changes_nothing_on_a_node_without_the_label(self):
        before, boot = kubectl.get("node", "gpu-3")["spec"], boot_of("gpu-3")

        self.assertIn("drill started", inject("gpu-3", "xid", str(REBOOT_XID), "--gpu", "3"))
        self.wait(lambda: phase("gpu-3") == "Observed", "the drill to be recorded", 60)
        self.assertIn("drill refused", explain("gpu-3"))
        inject("gpu-3", "end")
        self.wait(lambda: phase("gpu-3") == "Ended", "the drill to end", 60)

        self.assertEqual((before, boot), (kubectl.get("node", "gpu-3")["spec"], boot_of("gpu-3")))
        self.assertEqual([], remediations("gpu-3")[-1]["status"].get("steps", []))
