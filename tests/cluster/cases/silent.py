"""Silent nodes (docs/silent.md): the steps for them, and the steps that never happen, for `./dev test --cluster-long`.
"""
import pathlib

from cases.base import (ClusterTest, cluster, explain, is_in_service, is_out_of_service, kubectl, phase, pods, remediations,
                        on, REMEDIATORS, say, workload)
from control_plane import ADDRESS

SILENT = {"after": "1m", "limit": {"nodes": 1, "percent": 10}, "reboot": True, "kubelet": "monitor"}


def boot(node):
    return kubectl.get("node", node)["status"]["nodeInfo"]["bootID"]


def ready(node):
    return next(one["status"] for one in kubectl.get("node", node)["status"]["conditions"] if one["type"] == "Ready")


def alerts_of(node):
    """Returns the names of the firing alerts of the newest Remediation."""
    found = remediations(node)
    return [one["alertname"] for one in found[-1]["spec"].get("alerts", []) if "endedAt" not in one] if found else []


def has_out_of_service(node):
    return any(one["key"] == "node.kubernetes.io/out-of-service" for one in kubectl.get("node", node)["spec"].get("taints", []))


class SilentCase(ClusterTest):
    SILENT = SILENT

    @classmethod
    def setUpClass(cls):
        policy = cluster.values()["remediator"]["policy"]
        policy["silent"] = cls.SILENT
        policy["machines"] = {"reboot": cluster.power_cycle, "power_state": [str(cluster.folder / "bin/power-state")]}
        cluster.set_values(policy=policy)

    @classmethod
    def tearDownClass(cls):
        cluster.set_values()

    def setUp(self):
        """The remediator keeps working: one of its replicas is on the node that stays healthy."""
        super().setUp()
        self.cut_nodes = []
        homes = [pod["spec"]["nodeName"] for pod in pods("app.kubernetes.io/name=gpuward-remediator", REMEDIATORS)]
        self.home = homes[0]
        self.broken = sorted({node.name for node in cluster.nodes} - {self.home})
        for node in self.broken:
            self.take(node)
            self.wait(lambda node=node: is_in_service(node), f"{node} to be in service")

    def tearDown(self):
        for node in self.cut_nodes:
            self.says_power(node, None)
            cluster.node(node).machine.inside("ip", "link", "set", "eth0", "up")
        for node in self.broken:
            self.wait(lambda node=node: ready(node) == "True", f"{node} to be Ready")
            for one in remediations(node):
                if phase(node) not in (None, "Released", "Cancelled", "Ended"):
                    kubectl("annotate", "--overwrite", "remediation", one["metadata"]["name"], "gpuward.dev/cancel=true")
            self.wait(lambda node=node: is_in_service(node), f"{node} to be in service", 300)
        super().tearDown()

    def cut(self, node):
        """Cuts the node off from everything, like a machine that hangs: it does not reach the API server, and is not
        scraped."""
        self.cut_nodes.append(node)
        cluster.node(node).machine.inside("ip", "link", "set", "eth0", "down")

    def says_power(self, node, word):
        path = pathlib.Path(cluster.node(node).machine.folder) / "power-says"
        if word is None:
            path.unlink(missing_ok=True)
        else:
            path.write_text(word + "\n")


class SilentNodes(SilentCase):
    def test_one_whose_kubelet_ends_is_recorded_and_left_alone(self):
        node = self.broken[0]
        before = boot(node)
        cluster.node(node).machine.kill("kubelet")
        self.wait(lambda: "GpuKubeletDown" in alerts_of(node), "the kubelet to be missed", 240)
        self.assertFalse(is_out_of_service(node))
        cluster.node(node).machine.start("kubelet")
        self.wait(lambda: ready(node) == "True", f"{node} to be Ready")
        self.wait(lambda: not alerts_of(node), "the end of it", 300)
        self.assertEqual(before, boot(node))

    def test_one_that_is_cut_off_from_the_api_server_alone_is_left_alone(self):
        node = self.broken[0]
        before = boot(node)
        drop = ["OUTPUT", "-p", "tcp", "-d", ADDRESS, "--dport", "6443", "-j", "DROP"]
        cluster.node(node).machine.inside("iptables", "-I", *drop)
        try:
            self.wait(lambda: "GpuKubeletDown" in alerts_of(node), "its silence to be noticed", 300)
            self.assertEqual("Unknown", ready(node))
            self.assertFalse(is_out_of_service(node))
        finally:
            cluster.node(node).machine.inside("iptables", "-D", *drop)
        self.wait(lambda: ready(node) == "True" and not alerts_of(node), "the end of it", 300)
        self.assertEqual(before, boot(node))

    def test_one_is_rebooted_on_two_proofs_and_not_before(self):
        node = self.broken[0]
        before = boot(node)
        self.says_power(node, "on")
        self.cut(node)
        self.wait(lambda: "GpuNodeSilent" in alerts_of(node) and is_out_of_service(node), f"{node} to be cordoned", 300)
        # The power is on, and so is the machine, according to all sources.
        self.wait(lambda: "silent.proof" in str(remediations(node)[-1].get("status", {}).get("rule")), "the proofs to be asked for", 120)
        story = explain(node)
        say(story)
        self.assertIn("the power state is on", story)
        self.assertEqual(before, boot(node))
        self.says_power(node, "off")
        self.wait(lambda: phase(node) == "Rebooting" or boot(node) != before, "the reboot", 300)
        self.says_power(node, None)
        self.wait(lambda: boot(node) != before and ready(node) == "True", f"{node} to be back in another boot", 180)
        # The verification takes ten minutes.
        self.wait(lambda: "healthy since" in str(remediations(node)[-1]["status"].get("message")), "the verification", 180)
        kubectl("annotate", "remediation", remediations(node)[-1]["metadata"]["name"], "gpuward.dev/cancel=true")
        self.wait(lambda: is_in_service(node), f"{node} to be in service")

    def test_many_at_once_are_taken_for_a_partition(self):
        before = {node: (boot(node), len(remediations(node))) for node in self.broken}
        for node in self.broken:
            self.cut(node)

        def counted():
            rows = cluster.query('gpuward_remediator_source_nodes{source="silent",state=~"share|together"} > 0')
            return sum(value for _, value in rows) >= len(self.broken)

        self.wait(counted, "both to be counted as a partition", 300)
        self.wait(lambda: cluster.query('ALERTS{alertname="GpuNodesSilentTogether",alertstate="firing"}'), "people to be told", 300)
        for node in self.broken:
            self.assertEqual(before[node], (boot(node), len(remediations(node))), explain(node))
            self.assertFalse(is_out_of_service(node))


class SilentNodesThatAreOff(SilentCase):
    """Their machines may only be ended, after an approval, so that only the taint moves their pods."""
    SILENT = {**SILENT, "reboot": False, "terminate": True, "out_of_service": True}

    def keeper(self):
        """Returns the pod of the StatefulSet and its node; None while it does not run."""
        running = [pod for pod in pods("app=keeper") if pod["status"]["phase"] == "Running"]
        return (running[0]["metadata"]["uid"], running[0]["spec"]["nodeName"]) if running else None

    def fall_silent_with(self, power):
        """Starts a pod of a StatefulSet on the node; returns its UID."""
        node = self.broken[0]
        stateful = workload("keeper", **on(node))
        stateful["kind"] = "StatefulSet"
        stateful["spec"]["serviceName"] = "keeper"
        kubectl.apply([stateful])
        self.addCleanup(kubectl, "delete", "statefulset", "keeper", "--wait=false")
        self.wait(lambda: (self.keeper() or ("", ""))[1] == node, "the pod to run")
        uid = self.keeper()[0]
        self.says_power(node, power)
        self.cut(node)
        return node, uid

    def waits_for_approval(self, node):
        found = remediations(node)
        return bool(found) and found[-1].get("status", {}).get("rule") == "guard.approval"

    def test_the_pods_of_one_that_may_run_stay(self):
        node, uid = self.fall_silent_with("unreachable")
        self.wait(lambda: self.waits_for_approval(node), "the approval of the end to be asked for", 600)
        story = explain(node)
        self.assertIn("no proof that the machine is off", story)
        self.assertFalse(has_out_of_service(node))
        kept = kubectl.get("pod", "keeper-0")
        self.assertEqual((uid, node), (kept["metadata"]["uid"], kept["spec"]["nodeName"]))

    def test_the_pods_of_one_without_power_move(self):
        node, uid = self.fall_silent_with("off")
        self.wait(lambda: has_out_of_service(node), "the taint", 600)
        self.wait(lambda: (self.keeper() or (uid,))[0] != uid, "the pod to run elsewhere", 240)
        self.assertNotEqual(node, self.keeper()[1])
        self.assertNotEqual("True", ready(node))
        say(explain(node))
        self.says_power(node, None)
        cluster.node(node).machine.inside("ip", "link", "set", "eth0", "up")
        self.wait(lambda: ready(node) == "True" and not has_out_of_service(node), "the taint to be taken off", 240)
