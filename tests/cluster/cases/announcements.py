"""What the cloud announces of a machine (docs/announcements.md), read through the metadata address inside the machine, for
`./dev test --cluster-long`."""
import datetime
import json
import pathlib

from cases.base import (ClusterTest, cluster, deploy, explain, is_in_service, kubectl, nodes_of, on, phase, remediations, say,
                        workload)

REBOOT = {"steps": ["cordon", {"drain": {"deadline": "3m"}}, {"verify": {"soak": "15s"}}, "return-to-service"],
          "drain_takes": "30m"}


def stamp(minutes):
    at = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(minutes=minutes)
    return at.strftime("%d %b %Y %H:%M:%S GMT")


class Announcements(ClusterTest):
    node = "gpu-2"

    @classmethod
    def setUpClass(cls):
        policy = cluster.values()["remediator"]["policy"]
        policy["maintenance"] = {"reboot": REBOOT}
        cluster.set_values("--set=exporter.config.announcements.cloud=aws", policy=policy)

    @classmethod
    def tearDownClass(cls):
        cluster.set_values("--set=exporter.config.announcements=null")

    def setUp(self):
        super().setUp()
        self.take(self.node)
        self.wait(lambda: is_in_service(self.node), f"{self.node} to be in service")
        self.addCleanup(self.announce)
        deploy(workload("train", replicas=2, **on(self.node)))
        self.wait(lambda: self.node in nodes_of("app=train"), "a pod on the node")
        self.before = len(remediations(self.node))

    def announce(self, *starts):
        """Restarts of the machine, so many minutes from now, as EC2 documents them for
        latest/meta-data/events/maintenance/scheduled."""
        events = [{"NotBefore": stamp(start), "NotAfter": stamp(start + 60), "Code": "instance-reboot", "State": "active",
                   "Description": "The instance is scheduled for a reboot", "EventId": f"instance-event-{number}"}
                  for number, start in enumerate(starts)]
        (pathlib.Path(cluster.node(self.node).machine.folder) / "scheduled-events").write_text(json.dumps(events))

    def rule(self):
        return remediations(self.node)[-1].get("status", {}).get("rule")

    def is_cordoned(self):
        return kubectl.get("node", self.node)["spec"].get("unschedulable", False)

    def end(self):
        self.announce()
        self.wait(lambda: phase(self.node) == "Released" and is_in_service(self.node), f"{self.node} to return", 240)

    def test_a_restart_is_drained_for_in_time_and_waited_for(self):
        boot = kubectl.get("node", self.node)["status"]["nodeInfo"]["bootID"]
        self.announce(10)
        self.wait(self.is_cordoned, "the cordon")
        self.wait(lambda: self.node not in nodes_of("app=train"), "the drain", 180)
        self.wait(lambda: self.rule() == "wait.maintenance", "the wait for its end", 180)
        say(explain(self.node))
        self.assertEqual(boot, kubectl.get("node", self.node)["status"]["nodeInfo"]["bootID"])
        self.end()

    def test_one_that_is_far_off_is_cordoned_for_and_one_that_is_called_off_drains_nothing(self):
        self.announce(24 * 60)
        self.wait(self.is_cordoned, "the cordon")
        self.wait(lambda: self.rule() == "wait.maintenance", "the wait for its time")
        self.assertIn(self.node, nodes_of("app=train"))
        self.end()
        self.assertIn(self.node, nodes_of("app=train"))
        self.assertEqual(self.before + 1, len(remediations(self.node)))
