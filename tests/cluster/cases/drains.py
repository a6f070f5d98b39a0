"""gpuward drains one node and `kubectl drain` drains another, with the same pods on both."""
import json
import subprocess

from cases.base import (ISOLATE_XID, REBOOT_XID, REMEDIATORS, ClusterTest, bound_to, cluster, deploy, explain, kubectl,
                        leading_pod, phase, remediations, say, workload)

BY_KUBECTL, BY_GPUWARD = ("by-kubectl", "gpu-1"), ("by-gpuward", "gpu-2")
SLEEP = ["sh", "-c", "trap 'exit 0' TERM; while :; do busybox sleep 3600 & wait; done"]
DEAF = ["sh", "-c", "trap '' TERM; while :; do busybox sleep 1; done"]
HOLD = "example.com/hold"
STATIC_POD = "/etc/kubernetes/manifests/static.json"


class Pods:
    """The pods of one namespace, bound to one node. The label `app` gives the kind of each pod."""

    def __init__(self, namespace, node):
        self.namespace = namespace
        self.node = node

    def create(self):
        machine = cluster.node(self.node).machine
        machine.inside("mkdir", "-p", "/var/lib/data")
        kubectl.apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}}])
        kubectl.apply([*self.deployments(), *self.others()])
        static = self.pod("static")
        del static["spec"]["nodeSelector"]
        machine.inside("tee", STATIC_POD, input=json.dumps(static))

    def deployments(self):
        deployment = self.deployment
        return [
            deployment("web", replicas=2),
            deployment("budget"), self.budget("budget"),
            deployment("two-budgets"), self.budget("two-budgets"), self.budget("two-budgets", "second"),
            deployment("empty-dir", volumes=[{"name": "scratch", "emptyDir": {}}]),
            deployment("grace", command=DEAF, terminationGracePeriodSeconds=12),
            deployment("pre-stop", lifecycle={"preStop": {"exec": {"command": ["busybox", "sleep", "5"]}}}),
            deployment("critical", priorityClassName="system-cluster-critical"),
            deployment("not-safe", annotations={"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}),
            deployment("gpu", resources={"limits": {"nvidia.com/gpu": "1"}}),
            deployment("finalizer", finalizers=[HOLD]),
            deployment("refused"),
            deployment("volume", volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]),
            *self.local_volume()]

    def others(self):
        stateful = self.deployment("stateful", replicas=2)
        stateful["kind"] = "StatefulSet"
        daemon = self.deployment("daemon")
        daemon["kind"] = "DaemonSet"
        del daemon["spec"]["replicas"]
        job = self.deployment("job")
        job.update(apiVersion="batch/v1", kind="Job")
        job["spec"] = {"parallelism": 2, "completions": 2, "template": job["spec"]["template"]}
        job["spec"]["template"]["spec"]["restartPolicy"] = "Never"
        return [stateful, daemon, job, self.pod("bare"), self.pod("leaving", command=DEAF, terminationGracePeriodSeconds=15),
                self.pod("succeeded", command=["busybox", "true"]), self.pod("failed", command=["busybox", "false"])]

    def pod(self, app, **more):
        template = self.deployment(app, **more)["spec"]["template"]
        template["metadata"].update(name=app, namespace=self.namespace)
        template["spec"]["restartPolicy"] = "Never"
        return {"apiVersion": "v1", "kind": "Pod", **template}

    def deployment(self, app, replicas=1, command=SLEEP, annotations=None, finalizers=None, resources=None, lifecycle=None,
                   **spec):
        container = {"name": "work", "image": "docker.io/library/busybox:1", "imagePullPolicy": "IfNotPresent",
                     "command": command, "resources": resources or {}, "lifecycle": lifecycle}
        if "volumes" in spec:
            container["volumeMounts"] = [{"name": spec["volumes"][0]["name"], "mountPath": "/data"}]
        return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": app, "namespace": self.namespace},
                "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": app}},
                         "template": {"metadata": {"labels": {"app": app}, "annotations": annotations or {},
                                                   "finalizers": finalizers or []},
                                      "spec": {"nodeSelector": {"kubernetes.io/hostname": self.node},
                                               "containers": [container], **spec}}}}

    def budget(self, app, name="first"):
        return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
                "metadata": {"name": f"{app}-{name}", "namespace": self.namespace},
                "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": app}}}}

    def local_volume(self):
        """Returns a volume and its claim as a provisioner of local volumes makes them."""
        name = f"data-{self.node}"
        claim = {"accessModes": ["ReadWriteOnce"], "storageClassName": "", "volumeName": name,
                 "resources": {"requests": {"storage": "1Mi"}}}
        here = {"key": "kubernetes.io/hostname", "operator": "In", "values": [self.node]}
        return [{"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name},
                 "spec": {"capacity": {"storage": "1Mi"}, "accessModes": ["ReadWriteOnce"],
                          "persistentVolumeReclaimPolicy": "Retain", "local": {"path": "/var/lib/data"},
                          "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [here]}]}}}},
                {"apiVersion": "v1", "kind": "PersistentVolumeClaim",
                 "metadata": {"name": "data", "namespace": self.namespace}, "spec": claim}]

    def by_app(self):
        """Returns the UIDs of the pods by app."""
        found = {}
        for pod in kubectl.items("pods", "-n", self.namespace):
            found.setdefault(pod["metadata"]["labels"]["app"], set()).add(pod["metadata"]["uid"])
        return found

    def are_ready(self):
        """Returns whether each pod runs, or has ended if that is its purpose."""
        wanted = {"web": 2, "stateful": 2, "job": 2}
        apps = self.by_app()
        phases = {pod["metadata"]["labels"]["app"]: pod["status"].get("phase")
                  for pod in kubectl.items("pods", "-n", self.namespace)}
        ended = {"succeeded": "Succeeded", "failed": "Failed"}
        return len(apps) == len(KINDS) and all(
            len(apps[app]) == wanted.get(app, 1) and phases[app] == ended.get(app, "Running") for app in apps)

    def let_go_of_finalizer(self):
        for pod in kubectl.items("pods", "-n", self.namespace, "-l", "app=finalizer"):
            kubectl("patch", "pod", pod["metadata"]["name"], "-n", self.namespace, "--type=merge",
                    "--patch", '{"metadata":{"finalizers":null}}')

    def unblock(self):
        kubectl.delete("poddisruptionbudgets", "--all", "-n", self.namespace)
        kubectl("annotate", "pods", "-l", "app=not-safe", "-n", self.namespace,
                "cluster-autoscaler.kubernetes.io/safe-to-evict-")

    def delete(self):
        machine = cluster.node(self.node).machine
        machine.inside("rm", "-f", STATIC_POD)
        kubectl.delete("deployments", "finalizer", "-n", self.namespace, "--cascade=orphan")
        self.let_go_of_finalizer()
        kubectl.delete("namespace", self.namespace)
        kubectl.delete("persistentvolume", f"data-{self.node}")


STAY = {"daemon", "static"}
BLOCKED = {"budget", "two-budgets", "refused"}
EVICTED = {"web", "empty-dir", "grace", "pre-stop", "critical", "gpu", "finalizer", "volume", "stateful", "job", "bare",
           "leaving", "succeeded", "failed"}
ONLY_BY_KUBECTL = {"not-safe"}  # gpuward waits until its owner allows it
KINDS = STAY | BLOCKED | EVICTED | ONLY_BY_KUBECTL

REFUSAL = [
    {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "no-eviction"},
     "spec": {"matchConstraints": {"resourceRules": [
         {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods/eviction"]}]},
         "validations": [{"expression": "!object.metadata.name.startsWith('refused-')", "reason": "Forbidden",
                          "message": "its owner says no"}]}},
    {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
     "metadata": {"name": "no-eviction"}, "spec": {"policyName": "no-eviction", "validationActions": ["Deny"]}}]


class BesideKubectl(ClusterTest):
    def setUp(self):
        super().setUp()
        self.both = [Pods(*BY_KUBECTL), Pods(*BY_GPUWARD)]
        kubectl.apply(REFUSAL)
        self.addCleanup(kubectl.delete, "validatingadmissionpolicies,validatingadmissionpolicybindings", "no-eviction")
        for each in self.both:
            self.addCleanup(each.delete)
            each.create()
        for each in self.both:
            self.wait(each.are_ready, f"the pods of {each.namespace} to run")
        self.before = [each.by_app() for each in self.both]

    def gone(self):
        """Returns, for kubectl and for gpuward, the kinds of which every pod is gone."""
        return [{app for app, uids in before.items() if not uids & each.by_app().get(app, set())}
                for each, before in zip(self.both, self.before)]

    def test_the_same_pods_are_evicted_and_the_same_stay(self):
        node = self.take("gpu-2")
        for each in self.both:
            kubectl("delete", "pod", "leaving", "-n", each.namespace, "--wait=false")
        with subprocess.Popen(["kubectl", "drain", "gpu-1", "--force", "--ignore-daemonsets", "--delete-emptydir-data",
                               "--timeout=60s"], env=kubectl.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True) as drain:
            self.addCleanup(kubectl, "uncordon", "gpu-1")
            node.break_gpu(3, ISOLATE_XID)
            for each in self.both:
                self.wait(lambda each=each: any(pod["metadata"].get("deletionTimestamp") for pod in kubectl.items(
                    "pods", "-n", each.namespace, "-l", "app=finalizer")), "the pod with a finalizer to be evicted")
                each.let_go_of_finalizer()
            output, _ = drain.communicate(timeout=120)
        self.assertNotEqual(0, drain.returncode, output)
        self.wait(lambda: self.gone()[1] >= EVICTED, "gpuward to evict what can be evicted", 60)
        self.assertEqual([EVICTED | ONLY_BY_KUBECTL, EVICTED], self.gone(), output)
        text = explain("gpu-2")
        for app in BLOCKED | ONLY_BY_KUBECTL:
            self.assertIn(f"by-gpuward/{app}-", text)

        for each in self.both:
            each.unblock()
        kubectl.delete("validatingadmissionpolicybindings", "no-eviction")
        self.wait(lambda: self.gone()[1] == KINDS - STAY, "gpuward to evict the others", 60)
        self.wait(lambda: phase("gpu-2") == "Held", "the Remediation to end after its last step")
        self.assertEqual([("drain", "done")], [(step["name"], step["result"])
                                               for step in remediations("gpu-2")[-1]["status"]["steps"] if step["name"] == "drain"])


class ANodeWithTheLeader(ClusterTest):
    def test_is_drained_by_the_next_one(self):
        pod = self.wait(leading_pod, "a leader")
        node, uid = pod["spec"]["nodeName"], pod["metadata"]["uid"]
        self.take(node).break_gpu(3, ISOLATE_XID)
        self.wait(lambda: phase(node) == "Held", f"{node} to be drained and held")
        there = [one["metadata"]["uid"] for one in kubectl.items("pods", "-n", REMEDIATORS)
                 if one["spec"].get("nodeName") == node]
        say(f"the leader ran on {node} and has gone from there")
        self.assertNotIn(uid, there)
        self.assertNotEqual(uid, self.wait(leading_pod, "the next leader")["metadata"]["uid"])


class ADeploymentThatToleratesEverything(ClusterTest):
    """They may run on one node only: for each evicted pod the next one is put on that node, cordoned or not."""
    NODE = "gpu-2"
    REPLICAS = 3

    def setUp(self):
        super().setUp()
        self.ended = set()  # UIDs of pods that were asked to end
        agents = workload("agent", replicas=self.REPLICAS, **bound_to(self.NODE), tolerations=[{"operator": "Exists"}],
                          terminationGracePeriodSeconds=10)
        # Each takes ten seconds to end, so that every poll sees it.
        agents["spec"]["template"]["spec"]["containers"][0]["command"] = DEAF
        deploy(agents)

    def look(self):
        """Reads the pods and counts those that end; returns those that stay."""
        found = kubectl.items("pods", "-l", "app=agent")
        ending = {pod["metadata"]["uid"] for pod in found if pod["metadata"].get("deletionTimestamp")}
        self.ended |= ending
        return [pod for pod in found if pod["metadata"]["uid"] not in ending]

    def drain(self):
        self.look()
        return self.step_of(self.NODE, "drain")

    def test_is_left_and_named_when_it_comes_back(self):
        before = {pod["metadata"]["uid"] for pod in self.look()}
        self.take(self.NODE).break_gpu(3, REBOOT_XID)
        self.wait(lambda: self.drain().get("result") in ("done", "failed"), "the drain to end", 150)
        drain, came = self.drain(), self.look()
        say(drain["message"])
        self.assertEqual(("done", 1), (drain["result"], drain["attempts"]), drain)
        self.assertEqual({self.NODE}, {pod["spec"]["nodeName"] for pod in came})
        self.assertEqual(self.REPLICAS, len(came))
        for pod in came:
            self.assertIn(f"default/{pod['metadata']['name']}", drain["message"])

        # The machine restarts under them, and the node goes back.
        self.wait(lambda: self.look() and self.has_returned(self.NODE), f"{self.NODE} to be back in service", 240)
        self.assertEqual(1, self.drain()["attempts"])
        self.assertEqual({pod["metadata"]["uid"] for pod in came}, {pod["metadata"]["uid"] for pod in self.look()})
        self.assertEqual(before, self.ended, "each pod of before is evicted once, and no other")
