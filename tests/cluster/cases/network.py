"""The chart's NetworkPolicies, enforced: which clients can call gpuward, and which cannot."""
from cases.base import (EXPORTERS, REMEDIATORS, ClusterTest, address_of, bound_to, cluster, deploy, exporter_of, kubectl,
                        pods, workload)

NAMED = "monitoring"  # the namespace that the chart allows
NODE, OTHER_NODE = "gpu-1", "gpu-2"


class NetworkPolicies(ClusterTest):
    def setUp(self):
        super().setUp()
        self.addCleanup(kubectl.delete, "deployment", "caller", "-n", NAMED)
        self.addCleanup(kubectl.delete, "deployment", "job", "-n", EXPORTERS)
        # No client calls a Job. This one would answer.
        job = workload("job", namespace=EXPORTERS, **bound_to(NODE))
        template = job["spec"]["template"]
        template["metadata"]["labels"]["app.kubernetes.io/name"] = "gpuward-job"
        template["spec"]["containers"][0]["command"] = ["busybox", "httpd", "-f", "-p", "8080"]
        deploy(workload("neighbour", **bound_to(NODE)), workload("stranger", **bound_to(OTHER_NODE)),
               workload("caller", namespace=NAMED, **bound_to(OTHER_NODE)), job)
        exporter = kubectl.get("pod", exporter_of(NODE), "-n", EXPORTERS)
        remediator = pods("app.kubernetes.io/name=gpuward-remediator", REMEDIATORS)[0]
        self.exporter = (address_of(exporter), 10980)
        self.exporter_health = (address_of(exporter), 10983)
        self.webhook = (address_of(remediator), 10981)
        self.telemetry = (address_of(remediator), 10982)
        self.remediator_health = (address_of(remediator), 10984)
        self.job = (address_of(pods("app=job", EXPORTERS)[0]), 8080)

    def reached(self, deployment, namespace="default"):
        """Returns the addresses that a pod of it can connect to."""
        targets = (self.exporter, self.exporter_health, self.webhook, self.telemetry, self.remediator_health, self.job)
        script = "".join(f"busybox nc -w 2 {address} {port} </dev/null >/dev/null 2>&1 && echo {address} {port} & "
                         for address, port in targets)
        lines = kubectl("exec", f"deploy/{deployment}", "-n", namespace, "--", "sh", "-c", f"{script} wait").splitlines()
        return {(line.split()[0], int(line.split()[1])) for line in lines}

    def expect_reached(self, expected, deployment, namespace="default"):
        self.wait(lambda: self.reached(deployment, namespace) == expected,
                  f"{deployment} in {namespace} to reach {sorted(expected)} and nothing else", 20)

    def without(self, policy, namespace):
        """Deletes the policy until the test has ended."""
        found = kubectl.get("networkpolicy", policy, "-n", namespace)
        self.assertIsNotNone(found)
        for key in ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"):
            found["metadata"].pop(key, None)
        kubectl.delete("networkpolicy", policy, "-n", namespace)
        self.addCleanup(kubectl.apply, [found])

    def test_only_the_named_namespaces_call_in(self):
        self.expect_reached({self.exporter, self.webhook, self.telemetry}, "caller", NAMED)
        for pod in ("neighbour", "stranger"):
            self.expect_reached(set(), pod)
        # Without the policy they can connect.
        self.without("gpuward-exporter", EXPORTERS)
        for pod in ("neighbour", "stranger"):
            self.expect_reached({self.exporter, self.exporter_health}, pod)
        self.without("gpuward-remediator", REMEDIATORS)
        self.without("gpuward-jobs", EXPORTERS)
        for pod in ("neighbour", "stranger"):
            self.expect_reached({self.exporter, self.exporter_health, self.webhook, self.telemetry, self.remediator_health,
                                 self.job}, pod)

    def test_without_names_of_callers_only_jobs_are_closed(self):
        """An upgrade with default values loses no scrape and no alert."""
        self.addCleanup(cluster.install, "upgrade")
        cluster.install("upgrade", "--set=networkPolicy.enabled=auto", "--set-json=networkPolicy.from=[]",
                        "--set-json=networkPolicy.cidrs=[]")
        self.expect_reached({self.exporter, self.exporter_health, self.webhook, self.telemetry, self.remediator_health},
                            "stranger")
        self.assertEqual(["gpuward-jobs"], [one["metadata"]["name"] for one in kubectl.items("networkpolicies", "-A")])
