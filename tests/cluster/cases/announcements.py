"""The cloud's announcements for a machine (docs/announcements.md), read through the metadata address inside the
machine, for `./dev test --cluster-long`."""
import datetime
import json
import pathlib

from cases.base import (ClusterTest, cluster, deploy, explain, is_in_service, kubectl, nodes_of, on, phase, remediations, say,
                        workload)

STEPS = {"steps": ["cordon", {"drain": {"deadline": "3m"}}, {"verify": {"soak": "15s"}}, "return-to-service"],
         "drain_takes": "30m"}


def at(minutes, form):
    """Returns the time so many minutes from now."""
    return (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(minutes=minutes)).strftime(form)


class Announcements:
    """One cloud: the kind of its maintenance, and the form of its announcements."""
    node = "gpu-2"
    cloud = kind = ""

    def form(self, *starts):
        """Returns the cloud's documented answer for a maintenance of the node, so many minutes from now."""
        raise NotImplementedError

    @classmethod
    def setUpClass(cls):
        policy = cluster.values()["remediator"]["policy"]
        policy["maintenance"] = {cls.kind: STEPS}
        cluster.set_values(f"--set=exporter.config.announcements.cloud={cls.cloud}", policy=policy)

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
        (pathlib.Path(cluster.node(self.node).machine.folder) / f"announced-by-{self.cloud}").write_text(self.form(*starts))

    def rule(self):
        return remediations(self.node)[-1].get("status", {}).get("rule")

    def is_cordoned(self):
        return kubectl.get("node", self.node)["spec"].get("unschedulable", False)

    def end(self):
        self.announce()
        self.wait(lambda: phase(self.node) == "Released" and is_in_service(self.node), f"{self.node} to return", 240)

    def test_maintenance_is_drained_for_in_time_and_waited_for(self):
        boot = kubectl.get("node", self.node)["status"]["nodeInfo"]["bootID"]
        self.announce(10)
        self.wait(self.is_cordoned, "the cordon")
        self.wait(lambda: self.node not in nodes_of("app=train"), "the drain", 180)
        self.wait(lambda: self.rule() == "wait.maintenance", "the wait for its end", 180)
        say(explain(self.node))
        self.assertEqual(boot, kubectl.get("node", self.node)["status"]["nodeInfo"]["bootID"])
        self.end()


class OfEc2(Announcements, ClusterTest):
    cloud, kind = "aws", "reboot"

    def form(self, *starts):
        """latest/meta-data/events/maintenance/scheduled."""
        stamp = "%d %b %Y %H:%M:%S GMT"
        return json.dumps([
            {"NotBefore": at(start, stamp), "NotAfter": at(start + 60, stamp), "Code": "instance-reboot", "State": "active",
             "Description": "The instance is scheduled for a reboot", "EventId": f"instance-event-{number}"}
            for number, start in enumerate(starts)])

    def test_one_that_is_far_off_is_cordoned_for_and_one_that_is_called_off_drains_nothing(self):
        self.announce(24 * 60)
        self.wait(self.is_cordoned, "the cordon")
        self.wait(lambda: self.rule() == "wait.maintenance", "the wait for its time")
        self.assertIn(self.node, nodes_of("app=train"))
        self.end()
        self.assertIn(self.node, nodes_of("app=train"))
        self.assertEqual(self.before + 1, len(remediations(self.node)))


class OfComputeEngine(Announcements, ClusterTest):
    cloud, kind = "gce", "redeploy"

    def form(self, *starts):
        """instance/upcoming-maintenance?alt=json."""
        stamp = "%Y-%m-%dT%H:%M:%SZ"
        return json.dumps(next(({
            "can_reschedule": "true", "maintenance_status": "PENDING", "type": "SCHEDULED",
            "latest_window_start_time": at(start, stamp), "window_start_time": at(start, stamp),
            "window_end_time": at(start + 60, stamp)} for start in starts), {}))


class OfAzure(Announcements, ClusterTest):
    cloud, kind = "azure", "redeploy"

    def form(self, *starts):
        """metadata/scheduledevents, which also lists the events of the other machines of a scale set."""
        events = [{"EventId": f"event-of-{name}-{number}", "EventStatus": "Scheduled", "EventType": "Redeploy",
                   "ResourceType": "VirtualMachine", "Resources": [name], "EventSource": "Platform",
                   "NotBefore": at(start, "%a, %d %b %Y %H:%M:%S GMT"), "Description": "", "DurationInSeconds": -1}
                  for name, all_starts in ((self.node, starts), ("gpu-1", [10])) for number, start in enumerate(all_starts)]
        return json.dumps({"DocumentIncarnation": 1, "Events": events})

    def test_what_is_announced_for_another_machine_touches_nothing(self):
        self.announce()
        exporter = f'gpuward_announcements_readable{{node="{self.node}"}}'
        self.wait(lambda: any(found == 1 for _, found in cluster.query(exporter)), "the exporter to read the document")
        self.announce(10)
        self.wait(self.is_cordoned, "the cordon")
        self.assertEqual(self.before + 1, len(remediations(self.node)))
        self.assertFalse(kubectl.get("node", "gpu-1")["spec"].get("unschedulable", False))
        self.end()
