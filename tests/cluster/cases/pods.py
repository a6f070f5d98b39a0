"""Which pod uses which GPU, as the kubelet's device manager gave them out."""
from cases.base import ClusterTest, cluster, deploy, kubectl, metrics_of, on, pods, workload


class PodsAndTheirGpus(ClusterTest):
    def gpus_by_metric(self, app):
        """Of the running pods: GPU UUIDs that /metrics says they use."""
        found = {}
        for pod in pods(f"app={app}"):
            if pod["status"]["phase"] == "Running":
                name = pod["metadata"]["name"]
                found[name] = {line.split('uuid="')[1].split('"')[0] for line in metrics_of(pod["spec"]["nodeName"])
                               if line.startswith("gpuward_gpu_pod_info{") and f'pod="{name}"' in line}
        return found

    def gpus_by_container(self, app):
        """What the kubelet gave them."""
        return {pod["metadata"]["name"]: set(kubectl("exec", pod["metadata"]["name"], "--", "sh", "-c",
                                                     "echo $NVIDIA_VISIBLE_DEVICES").strip().split(","))
                for pod in pods(f"app={app}") if pod["status"]["phase"] == "Running"}

    def expect_truth_of(self, *apps):
        for app in apps:
            self.wait(lambda app=app: self.gpus_by_metric(app) == self.gpus_by_container(app) != {},
                      f"/metrics to say which GPUs the pods of {app} use", 60)

    def test_pods_of_one_two_and_eight_gpus(self):
        deploy(workload("eight", gpus=8), workload("two", gpus=2), workload("one", replicas=3, gpus=1))
        self.assertEqual({8}, {len(gpus) for gpus in self.gpus_by_container("eight").values()})
        self.expect_truth_of("one", "two", "eight")
        for pod in pods("app=one"):
            kubectl("delete", "pod", pod["metadata"]["name"], "--now")
        kubectl("rollout", "status", "deployment/one", "--timeout=60s")
        self.expect_truth_of("one", "two", "eight")

    def test_a_kubelet_that_was_restarted(self):
        deploy(workload("pair", gpus=2, **on("gpu-1")))
        machine = cluster.node("gpu-1").machine
        machine.kill("kubelet")
        machine.start("kubelet")
        self.expect_truth_of("pair")
        # One that the new kubelet gives GPUs to.
        kubectl("delete", "pod", "-l", "app=pair", "--now")
        kubectl("rollout", "status", "deployment/pair", "--timeout=90s", seconds=100)
        self.expect_truth_of("pair")
