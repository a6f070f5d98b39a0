"""The presets of the chart do what the notes after an install say; for `./dev test --cluster-long`."""
from cases.base import (ISOLATE_XID, REBOOT_XID, REMEDIATORS, ClusterTest, bound_to, cluster, deploy, explain, is_in_service,
                        is_out_of_service, kubectl, phase, pods, remediations, workload)


class APreset(ClusterTest):
    NODE = "gpu-2"

    @classmethod
    def tearDownClass(cls):
        cluster.set_values()

    def choose(self, preset, **policy):
        """Installs the preset; returns its notes."""
        # A node of this cluster is younger than any node of a user.
        cluster.set_values(f"--set=remediator.preset={preset}", policy={"startup_grace": "0s", **policy})
        return kubectl.helm("get", "notes", "gpuward", f"--namespace={REMEDIATORS}")

    def break_it(self, xid):
        deploy(workload("busy", gpus=1, **bound_to(self.NODE)))
        self.take(self.NODE).break_gpu(3, xid)

    def step(self, name):
        for step in remediations(self.NODE)[-1]["status"].get("steps", []):
            if step["name"] == name:
                return step["result"]
        return None

    def test_watch_only_records(self):
        self.assertIn("reboot: recorded only; not in this mode: taint, cordon", self.choose("watch-only"))
        self.break_it(REBOOT_XID)
        self.wait(lambda: phase(self.NODE) == "Observed", "it to be recorded")
        self.assertIn(f"broken: xid {REBOOT_XID} on GPU 3", explain(self.NODE))
        self.assertTrue(is_in_service(self.NODE))
        self.assertEqual(1, len(pods("app=busy")))

    def test_cordon_and_tell_ends_at_the_cordon(self):
        self.assertIn("reboot: taint, cordon", self.choose("cordon-and-tell"))
        self.break_it(REBOOT_XID)
        self.wait(lambda: phase(self.NODE) == "Quarantined" and is_out_of_service(self.NODE), "the cordon")
        self.assertEqual(["busy"], [pod["metadata"]["labels"]["app"] for pod in pods("app=busy")])
        self.assertIsNone(self.step("drain"))

    def test_full_drains_and_ends_no_machine_on_a_line_alone(self):
        """An Xid that was seen once is not a measurement: the remediator does not even ask for approval before there is
        one."""
        values = cluster.values()["remediator"]["policy"]
        power = cluster.power_cycle
        notes = self.choose("full", machines={"reboot": power, "terminate": power, "is_gone": power},
                            jobs=values["jobs"], budgets=values["budgets"])
        self.assertIn("isolate: taint, cordon, drain, terminate", notes)
        self.break_it(ISOLATE_XID)
        self.wait(lambda: phase(self.NODE) == "Waiting", "the drained node to wait")
        self.assertEqual(("done", None), (self.step("drain"), self.step("terminate")))
        self.assertIn("now: terminate needs fresh evidence", explain(self.NODE))
