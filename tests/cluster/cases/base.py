"""The common parts of the tests on the cluster: the cluster itself, workloads, and readers of nodes and records."""
import os
import pathlib
import sys
import unittest

from cluster import Cluster, is_ready
from machines import ClusterError, wait_until

FOLDER = pathlib.Path(os.environ.get("GPUWARD_CLUSTER", "/var/tmp/gpuward-cluster-test"))
EXPORTERS, REMEDIATORS = "gpu-healthcheck", "gpuward"
ISOLATE_XID, REBOOT_XID, RESET_XID = 64, 79, 95


def say(text):
    print(f"# {text}", file=sys.stderr, flush=True)


cluster = Cluster(FOLDER, say)
kubectl = cluster.kubectl


def workload(name, replicas=1, gpus=0, namespace="default", **pod):
    """Returns a Deployment whose pods end at once on SIGTERM."""
    container = {"name": "work", "image": "docker.io/library/busybox:1", "imagePullPolicy": "IfNotPresent",
                 "command": ["sh", "-c", "trap 'exit 0' TERM; while :; do busybox sleep 3600 & wait; done"]}
    if gpus:
        container["resources"] = {"limits": {"nvidia.com/gpu": str(gpus)}}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": namespace},
            "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}},
                     "template": {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container], **pod}}}}


def bound_to(node):
    return {"nodeSelector": {"kubernetes.io/hostname": node}}


def on(node):
    """Prefers that node, and may run on any other."""
    term = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}]}
    return {"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution":
                                          [{"weight": 100, "preference": term}]}}}


def deploy(*workloads):
    kubectl.apply(list(workloads))
    for each in workloads:
        kubectl("rollout", "status", f"deployment/{each['metadata']['name']}", "-n", each["metadata"]["namespace"],
                "--timeout=90s", seconds=100)


def pods(selector, namespace="default"):
    return [pod for pod in kubectl.items("pods", "-n", namespace, "-l", selector)
            if not pod["metadata"].get("deletionTimestamp")]


def address_of(pod):
    return pod["status"]["podIP"]


def nodes_of(selector):
    """Returns the node of each running pod, in no order."""
    return [pod["spec"]["nodeName"] for pod in pods(selector) if pod["status"]["phase"] == "Running"]


def remediations(node):
    """Returns them, the oldest first."""
    found = [one for one in kubectl.items("remediations") if one["spec"]["nodeName"] == node]
    return sorted(found, key=lambda one: one["metadata"]["creationTimestamp"])


def phase(node):
    found = remediations(node)
    return found[-1].get("status", {}).get("phase") if found else None


def is_out_of_service(node):
    spec = (kubectl.get("node", node) or {}).get("spec", {})
    return spec.get("unschedulable", False) and any(
        taint["key"] == "gpuward.dev/remediation" for taint in spec.get("taints", []))


def is_in_service(node):
    found = kubectl.get("node", node)
    return found is not None and is_ready(found) and not (
        found["spec"].get("unschedulable") or found["spec"].get("taints"))


def exporter_of(node):
    """Returns the name of its pod, once that is ready."""
    for pod in pods("app.kubernetes.io/name=gpuward-exporter", EXPORTERS):
        if pod["spec"].get("nodeName") == node and is_ready(pod):
            return pod["metadata"]["name"]
    raise ClusterError(f"no exporter is ready on {node}")


def metrics_of(node):
    """Returns the lines of the exporter's /metrics, through the API server."""
    return kubectl("get", "--raw", f"/api/v1/namespaces/{EXPORTERS}/pods/{exporter_of(node)}:10980/proxy/metrics").splitlines()


def boot_of(node):
    return kubectl.get("node", node)["status"]["nodeInfo"]["bootID"]


def has_settled(node):
    """Returns whether a new machine under an old node's name is in service and its own exporter answers. For a while
    the API server shows the pods of the old machine as ready."""
    return is_in_service(node) and bool(metrics_of(node))


def signal_pod(pod, signal):
    """Sends a signal to the process of the pod's only container."""
    container = pod["status"]["containerStatuses"][0]["containerID"].removeprefix("containerd://")
    cluster.node(pod["spec"]["nodeName"]).machine.inside(
        "ctr", "-n", "k8s.io", "tasks", "kill", "--signal", signal, container)


def explain(node):
    """Returns the output of the remediator's command line, run in one of its pods."""
    return kubectl("-n", REMEDIATORS, "exec", "deploy/gpuward-remediator", "--", "gpuwardctl", "explain", node)


def leading_pod():
    """Returns the pod that holds the Lease; None if no pod does, or if the last holder's pod is gone."""
    lease = kubectl.get("lease", "gpuward-remediator", "-n", REMEDIATORS)
    holder = (lease or {}).get("spec", {}).get("holderIdentity")
    return kubectl.get("pod", holder.split("_")[0], "-n", REMEDIATORS) if holder else None


def kill_leader():
    """Kills the process that holds the Lease with kill -9. Raises ClusterError if there is none, or the holder has
    changed."""
    pod = leading_pod()
    if pod is None:
        raise ClusterError("nobody leads")
    signal_pod(pod, "SIGKILL")


class ClusterTest(unittest.TestCase):
    longMessage = True

    def wait(self, condition, what, seconds=120):
        try:
            return wait_until(condition, what, seconds)
        except ClusterError as error:
            say(error)
            story = kubectl("get", "nodes,remediations,pods", "-A", "-o", "wide")
            self.fail(f"{error}\n{story}\n{kubectl('get', 'remediations', '-o', 'yaml')[-6000:]}")

    def status_of(self, node):
        """Returns the status of this test's newest Remediation: until an alert has fired, the last one may belong to an
        earlier test."""
        own = [one for one in remediations(node) if one["metadata"]["name"] not in self.known]
        return own[-1].get("status", {}) if own else {}

    def step_of(self, node, name):
        """Returns the record of the step; empty before it has begun."""
        return next((step for step in self.status_of(node).get("steps", []) if step["name"] == name), {})

    def has_returned(self, node):
        return self.status_of(node).get("phase") == "Released" and is_in_service(node)

    def wait_until_returned(self, node, seconds=180):
        self.wait(lambda: self.has_returned(node), f"{node} to be back in service", seconds)

    def start_slow_drain(self, node):
        """Makes a reset due while a pod on the node takes 25 s to end."""
        slow = workload("slow", gpus=1, **bound_to(node), terminationGracePeriodSeconds=25)
        slow["spec"]["template"]["spec"]["containers"][0]["command"] = [
            "sh", "-c", "trap '' TERM; while :; do busybox sleep 1; done"]
        deploy(slow)
        self.take(node).break_gpu(3, RESET_XID)
        self.wait(lambda: phase(node) == "Draining", f"{node} to be drained", 60)

    def expect_one_reset(self, node):
        self.wait_until_returned(node, 300)
        resets = [step for step in remediations(node)[-1]["status"]["steps"] if step["name"] == "gpu-reset"]
        self.assertEqual([("done", 1)], [(step["result"], step["attempts"]) for step in resets])

    def setUp(self):
        self.known = {one["metadata"]["name"] for one in kubectl.items("remediations")}

    def tearDown(self):
        """Replaces the machines of broken nodes, because gpuward remembers the history of a machine."""
        for machine in cluster.machines:
            for service in ("kube-apiserver", "etcd", "kubelet"):
                machine.ensure(service)
        self.wait(lambda: kubectl("get", "--raw", "/readyz"), "the API server")
        kubectl.delete("deployments,poddisruptionbudgets", "--all", "-n", "default")
        broken = {one["spec"]["nodeName"] for one in kubectl.items("remediations")
                  if one["metadata"]["name"] not in self.known}
        for node in broken:
            cluster.node(node).become_another_machine(kubectl)
        for node in broken:
            self.wait(lambda node=node: has_settled(node), f"the new {node} to be ready")

    def take(self, node):
        """Returns a node to break. The alert of the machine that had this name before has to end first; it would
        continue."""
        self.wait(lambda: not cluster.query(f'ALERTS{{node="{node}",remediation!=""}}'), f"the alerts of {node} to end")
        return cluster.node(node)
