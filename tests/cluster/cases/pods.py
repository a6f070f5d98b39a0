"""Which pod uses which GPU, as the kubelet assigned them."""
from cases.base import EXPORTERS, ClusterTest, cluster, deploy, kubectl, metrics_of, on, pods, signal_pod, workload


def running(app):
    return [pod for pod in pods(f"app={app}") if pod["status"]["phase"] == "Running"]


class GpusOfPods(ClusterTest):
    def gpus_by_metric(self, app):
        """Returns the running pods with the GPU UUIDs that /metrics reports for them."""
        found = {}
        for pod in running(app):
            name = pod["metadata"]["name"]
            found[name] = {line.split('uuid="')[1].split('"')[0] for line in metrics_of(pod["spec"]["nodeName"])
                           if line.startswith("gpuward_gpu_pod_info{") and f'pod="{name}"' in line}
        return found

    def expect_truth_of(self, *apps):
        """`given_to(pod)` of a test returns the UUIDs of the GPUs that the pod got. The exporters ask the kubelet every
        half minute, and on SIGHUP."""
        for app in apps:
            def is_told(app=app):
                given = {pod["metadata"]["name"]: self.given_to(pod) for pod in running(app)}
                if given != {} and self.gpus_by_metric(app) == given:
                    return True
                for exporter in pods("app.kubernetes.io/name=gpuward-exporter", EXPORTERS):
                    signal_pod(exporter, "SIGHUP")
                return False
            self.wait(is_told, f"/metrics to say which GPUs the pods of {app} use", 60)


class ByTheDevicePlugin(GpusOfPods):
    def given_to(self, pod):
        listed = kubectl("exec", pod["metadata"]["name"], "--", "sh", "-c", "echo $NVIDIA_VISIBLE_DEVICES")
        return set(listed.strip().split(","))

    def test_pods_of_one_two_and_eight_gpus(self):
        deploy(workload("eight", gpus=8), workload("two", gpus=2), workload("one", replicas=3, gpus=1))
        self.assertEqual([8], [len(self.given_to(pod)) for pod in running("eight")])
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
        # A pod to which the new kubelet assigns GPUs.
        kubectl("delete", "pod", "-l", "app=pair", "--now")
        kubectl("rollout", "status", "deployment/pair", "--timeout=90s", seconds=100)
        self.expect_truth_of("pair")


def claim(count):
    return {"devices": {"requests": [{"name": "gpus", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": count}}]}}


def claiming(deployment, **source):
    """Returns the Deployment with a claim in its pods, which their container uses."""
    pod = deployment["spec"]["template"]["spec"]
    pod["resourceClaims"] = [{"name": "gpus", **source}]
    pod["containers"][0]["resources"] = {"claims": [{"name": "gpus"}]}
    return deployment


class ByClaims(GpusOfPods):
    NODE = "gpu-3"

    def setUp(self):
        super().setUp()
        node = cluster.node(self.NODE)
        self.addCleanup(self.offer_by_plugin, node)
        node.offer_gpus_by("dra-driver")
        api = "resource.k8s.io/v1"
        kubectl.apply([
            {"apiVersion": api, "kind": "DeviceClass", "metadata": {"name": "gpu.nvidia.com"}, "spec": {"selectors": [
                {"cel": {"expression": "device.driver == 'gpu.nvidia.com'"
                                       " && device.attributes['gpu.nvidia.com'].type == 'gpu'"}}]}},
            {"apiVersion": api, "kind": "ResourceClaimTemplate", "metadata": {"name": "two", "namespace": "default"},
             "spec": {"spec": claim(2)}},
            {"apiVersion": api, "kind": "ResourceClaim", "metadata": {"name": "shared", "namespace": "default"},
             "spec": claim(1)}])
        # Kept, because a starting kubelet removes them, and the driver publishes them again half a minute later.
        self.uuids = self.wait(self.published_gpus, "ResourceSlices with the GPUs", 30)

    def published_gpus(self):
        return {(one["spec"]["pool"]["name"], device["name"]): device["attributes"]["uuid"]["string"]
                for one in kubectl.items("resourceslices") for device in one["spec"]["devices"]}

    def offer_by_plugin(self, node):
        # The driver must see the end of its claims.
        kubectl.delete("resourceclaims,resourceclaimtemplates", "--all", "-n", "default")
        node.offer_gpus_by("device-plugin")
        kubectl.delete("resourceslices,deviceclasses", "--all")
        self.wait(lambda: kubectl.get("node", self.NODE)["status"]["allocatable"].get("nvidia.com/gpu") == "8",
                  f"the device plugin of {self.NODE} to be known again", 30)

    def given_to(self, pod):
        names = [status["resourceClaimName"] for status in pod["status"].get("resourceClaimStatuses", [])]
        names += [one["resourceClaimName"] for one in pod["spec"]["resourceClaims"] if "resourceClaimName" in one]
        return {self.uuids[device["pool"], device["device"]] for name in names
                for device in kubectl.get("resourceclaim", name)["status"]["allocation"]["devices"]["results"]}

    def test_pods_of_own_and_of_shared_claims(self):
        deploy(claiming(workload("own"), resourceClaimTemplateName="two"),
               claiming(workload("sharing", replicas=2), resourceClaimName="shared"))
        given = [self.given_to(pod) for app in ("own", "sharing") for pod in running(app)]
        self.assertEqual([2, 1, 1], [len(gpus) for gpus in given])
        self.assertEqual(3, len(set.union(*given)))
        self.expect_truth_of("own", "sharing")
        # The new kubelet knows the pods from before its start, and those that it starts.
        machine = cluster.node(self.NODE).machine
        machine.kill("kubelet")
        machine.start("kubelet")
        kubectl("delete", "pod", "-l", "app=own", "--now")
        kubectl("rollout", "status", "deployment/own", "--timeout=90s", seconds=100)
        self.expect_truth_of("own", "sharing")
