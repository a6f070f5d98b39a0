"""The nodes gpu-1, gpu-2, ...: each is a machine with containerd, kubelet, kube-proxy, an enforcer of NetworkPolicies,
and eight GPUs of the fake NVML, which a device plugin, or a DRA driver instead, offers to the kubelet."""
import json
import os
import pathlib
import re
import shutil
import time
import uuid

import machines
from control_plane import ADDRESS, API, DOMAIN, INSTANCE_TYPE, METADATA, REPOSITORY, SERVICES, kube_proxy

HERE = pathlib.Path(__file__).resolve().parent
GPUS = 8
CPUS = 16
SCENARIO = REPOSITORY / "tests/testdata/invented/nvml/healthy_8x_h100.conf"
KERNEL_LOG = "/var/log/kernel/kern.log"


def minor_of(gpu):
    """Returns the number of /dev/nvidiaN. As on real machines, it is not the index."""
    return GPUS - 1 - gpu


class Node:
    def __init__(self, folder, number, count, keys, programs):
        self.number = number
        self.name = f"gpu-{number}"
        self.address = f"10.90.0.1{number}"
        self.keys = keys
        self.programs = programs
        self.machine = machines.Machine(folder, self.name)
        self.images = folder / "images"
        self.others = [n for n in range(1, count + 1) if n != number]

    @property
    def instance(self):
        return (self.machine.folder / "instance").read_text().strip()

    # ---- its parts

    def prepare(self):
        folder = self.machine.folder
        self.machine.prepare(f"""
control=$(cat {folder.parent}/control/pid)
# The kernel takes a moment to remove the interfaces of the boot before.
for attempt in {{1..100}}; do
  ip link add eth0 type veth peer name {self.name} netns "/proc/$control/ns/net" && break
  sleep 0.1
done
ip address add {self.address}/24 dev eth0
ip link set eth0 up
nsenter --net="/proc/$control/ns/net" ip link set {self.name} up master cluster
nsenter --net="/proc/$control/ns/net" ip route replace 10.244.{self.number}.0/24 via {self.address}
ip route add {METADATA} via {ADDRESS}
""" + "".join(f"ip route add 10.244.{n}.0/24 via 10.90.0.1{n}\n" for n in self.others)
            # A dead end: requests beyond the cluster fail at once.
            + f"ip route add default via {ADDRESS}\n")
        (folder / "instance").write_text(f"i-0{uuid.uuid4().hex[:16]}\n")
        (folder / "etc/kubernetes/manifests").mkdir(parents=True, exist_ok=True)
        (folder / "etc/hosts").write_text(f"127.0.0.1 localhost\n{self.address} {self.name}\n")
        (folder / "etc/resolv.conf").write_text("")
        (folder / "log/kernel").mkdir(exist_ok=True)
        (folder / "log/kernel/kern.log").touch()
        self.prepare_gpus()
        self.prepare_containerd()
        self.prepare_kubelet()
        self.machine.add_service("kube-proxy", *kube_proxy(self.programs, self.keys, self.name))
        self.prepare_network_policies()
        self.machine.add_service("device-plugin", self.programs / "device-plugin", "nvidia.com/gpu", *self.gpu_uuids(),
                                 first="mkdir -p /var/lib/kubelet/device-plugins")
        self.machine.add_service("dra-driver", self.programs / "dra-driver", self.keys.file(f"{self.name}.kubeconfig"),
                                 self.name, *(f"{minor_of(gpu)}={name}" for gpu, name in enumerate(self.gpu_uuids())),
                                 first="[ -e /run/dra-driver ] || exit 0")

    def gpu_uuids(self):
        return [f"GPU-{self.number:04x}{gpu:04x}-aaaa-bbbb-cccc-{self.instance[3:15]}" for gpu in range(GPUS)]

    def prepare_gpus(self):
        """The healthy machine of the unit tests, with UUIDs and serials of its own; programs of NVIDIA that find nothing
        wrong; and what the runtime shall mount of all that (container.json)."""
        folder = self.machine.folder / "nvidia"
        for name in ("bin", "lib"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / "healthy.conf").write_text(SCENARIO.read_text())
        lines = ["include = healthy.conf"]
        for gpu, name in enumerate(self.gpu_uuids()):
            lines += [f"gpu.{gpu}.uuid = {name}", f"gpu.{gpu}.serial = {int(self.instance[3:11], 16)}{gpu}",
                      f"gpu.{gpu}.minor = {minor_of(gpu)}"]
        (folder / "scenario.conf").write_text("\n".join(lines) + "\n")
        (folder / "scenario.conf.xids").touch()
        fakes = REPOSITORY / "build/release/lib/fakes"
        for name, made in (("libnvidia-ml.so.1",) * 2, ("libnccl.so.2",) * 2, ("libcuda.so.1", "libnccl.so.2")):
            (folder / "lib" / name).write_bytes((fakes / made).read_bytes())
        (folder / "diagnostic.json").write_text(json.dumps({"DCGM Diagnostic": {"test_categories": [
            {"category": "Hardware", "tests": [{"name": "Diagnostic", "results": [
                {"entity_group": "GPU", "entity_group_id": 1, "entity_id": gpu, "status": "Pass", "warnings": []}
                for gpu in range(GPUS)]}]}]}}))
        for name, text in (("nvidia-smi", "[ \"$1\" = --gpu-reset ] && echo 'All done.'"),
                           ("nv-hostengine", "exit 1"),
                           ("dcgmi", f"case $1 in discovery) echo '{GPUS} GPUs found.' ;; "
                                     "diag) cat /run/nvidia/diagnostic.json ;; esac")):
            (folder / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
            (folder / "bin" / name).chmod(0o755)
        # The fake NCCL libraries of two nodes meet there.
        meeting = folder.parent.parent / "nccl"
        meeting.mkdir(exist_ok=True)
        mounts = [("/run/nvidia", "/run/nvidia", "ro"), (str(meeting), "/run/nccl", "rw")]
        for name, place in (("bin", "/usr/bin"), ("lib", "/usr/lib/x86_64-linux-gnu")):
            mounts += [(f"/run/nvidia/{name}/{file.name}", f"{place}/{file.name}", "ro")
                       for file in sorted((folder / name).iterdir())]
        (folder / "container.json").write_text(json.dumps({"mounts": mounts, "env": [
            "GPUWARD_FAKE_NVML=/run/nvidia/scenario.conf",
            f"GPUWARD_FAKE_NCCL=folder=/run/nccl gpus={GPUS} free_mib=2600"]}))

    def prepare_containerd(self):
        """As on a node with NVIDIA's container toolkit: its runtime mounts what belongs to the driver."""
        etc = self.machine.folder / "etc"
        (etc / "containerd").mkdir(parents=True, exist_ok=True)
        (etc / "containerd/config.toml").write_text(f"""
version = 2
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "docker.io/library/pause:1"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    default_runtime_name = "nvidia"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia.options]
      BinaryName = "{HERE}/nvidia-runtime"
""")
        (etc / "cni/net.d").mkdir(parents=True, exist_ok=True)
        (etc / "cni/net.d/10-cluster.conflist").write_text(json.dumps({
            "cniVersion": "0.4.0", "name": "cluster",
            "plugins": [{"type": "bridge", "bridge": "pods", "isGateway": True, "hairpinMode": True,
                         "ipam": {"type": "host-local", "ranges": [[{"subnet": f"10.244.{self.number}.0/24"}]],
                                  "routes": [{"dst": "0.0.0.0/0"}]}},
                        {"type": "portmap", "capabilities": {"portMappings": True}}]}))
        self.machine.add_service("containerd", "containerd")

    def prepare_network_policies(self):
        """Adds kube-router, only as the controller of network policies. It ends if its Node does not exist yet."""
        file = self.keys.file
        registered = (f"until curl -sf --cacert {file('ca.crt')} --cert {file('admin.crt')} --key {file('admin.key')} "
                      f"{API}/api/v1/nodes/{self.name} >/dev/null; do sleep 0.5; done")
        self.machine.add_service("kube-router", "kube-router", "--run-firewall=true", "--run-router=false",
                                 "--run-service-proxy=false", f"--kubeconfig={file('admin.kubeconfig')}",
                                 f"--hostname-override={self.name}", f"--service-cluster-ip-range={SERVICES}",
                                 first=registered)

    def prepare_kubelet(self):
        name = self.name
        self.keys.issue(name, f"/O=system:nodes/CN=system:node:{name}")
        self.keys.issue(f"{name}-kubelet", f"/O=system:nodes/CN=system:node:{name}", f"IP:{self.address},DNS:{name}")
        self.keys.kubeconfig(self.keys.file(f"{name}.kubeconfig"), name, API)
        configuration = self.machine.folder / "kubelet.yaml"
        configuration.write_text(json.dumps({
            "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
            "authentication": {"anonymous": {"enabled": False}, "x509": {"clientCAFile": str(self.keys.file("ca.crt"))}},
            "authorization": {"mode": "Webhook"},
            "tlsCertFile": str(self.keys.file(f"{name}-kubelet.crt")),
            "tlsPrivateKeyFile": str(self.keys.file(f"{name}-kubelet.key")),
            "cgroupDriver": "cgroupfs", "cgroupRoot": f"/{self.machine.cgroup}", "enforceNodeAllocatable": [],
            "failSwapOn": False, "failCgroupV1": False,
            "containerRuntimeEndpoint": "unix:///run/containerd/containerd.sock",
            "resolvConf": "/etc/resolv.conf", "clusterDNS": [ADDRESS], "clusterDomain": DOMAIN,
            "staticPodPath": "/etc/kubernetes/manifests",
            "imageGCHighThresholdPercent": 100,
            "evictionHard": {"memory.available": "10Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
            "shutdownGracePeriod": "0s"}))
        self.prepare_processors()
        import_images = f"""
mountpoint -q /sys/devices/system/node || mount --bind {self.machine.folder}/processors /sys/devices/system/node
until ctr version >/dev/null 2>&1; do sleep 0.1; done
for image in {self.images}/*.tar; do
  marker=/var/lib/containerd/imported-$(basename "$image")
  [ "$marker" -nt "$image" ] || {{ ctr -n k8s.io images import "$image" && touch "$marker"; }}
done"""
        labels = f"node.kubernetes.io/instance-type={INSTANCE_TYPE},nvidia.com/gpu.count={GPUS},nvidia.com/gpu.present=true"
        # Uses the instance at the time of the boot.
        self.machine.add_service("kubelet", "bash", "-c",
                                 'exec "$@" --provider-id="aws:///eu-central-1a/$(cat "$0")"',
                                 self.machine.folder / "instance", self.programs / "kubelet",
                                 f"--config={configuration}", f"--kubeconfig={self.keys.file(name + '.kubeconfig')}",
                                 f"--hostname-override={name}", f"--node-ip={self.address}",
                                 f"--node-labels={labels}", first=import_images)

    def prepare_processors(self):
        """Gives each node 16 processors, so that there is room for the requests of a node with GPUs: shows the kubelet the
        machine's own processors several times. They count only as weights; no process is bound to one."""
        own = os.cpu_count()
        for group in range(-(-CPUS // own)):
            node = self.machine.folder / f"processors/node{group}"
            for cpu in range(own):
                topology = node / f"cpu{cpu}/topology"
                topology.mkdir(parents=True, exist_ok=True)
                (topology / "core_id").write_text(f"{cpu}\n")
                (topology / "physical_package_id").write_text(f"{group}\n")
            (node / "hugepages").mkdir(exist_ok=True)
            (node / "distance").write_text("10\n")
            (node / "meminfo").write_text("Node 0 " + pathlib.Path("/proc/meminfo").read_text().splitlines()[0] + "\n")

    # ---- its events

    def become_another_machine(self, kubectl):
        """Removes the machine and starts another one under its name: instance, GPUs and disk are new."""
        self.machine.power_off()
        kubectl.delete("node", self.name)
        shutil.rmtree(self.machine.folder / "lib")
        (self.machine.folder / "log/kernel/kern.log").write_text("")
        self.prepare()
        self.machine.power_on()
        self.machine.wait_until_up()

    def offer_gpus_by(self, service):
        """Uses `device-plugin`, as after each boot, or `dra-driver`. Not both: two pods would get the same GPU."""
        self.machine.kill("device-plugin" if service == "dra-driver" else "dra-driver", "TERM")
        self.machine.inside("touch", "/run/dra-driver")
        self.machine.start(service)

    def log_kernel_line(self, text):
        """Writes a line into this machine's log as the kernel does: a record in the form of /dev/kmsg."""
        micros = int(time.clock_gettime(time.CLOCK_BOOTTIME) * 1e6)
        with open(self.machine.folder / "log/kernel/kern.log", "a", encoding="utf-8") as log:
            log.write(f"4,{micros},{micros},-;{text}\n")

    def pci_address(self, gpu):
        """Returns the address in the form in which the driver writes it into the kernel log."""
        address = re.search(rf"^gpu\.{gpu}\.pci = 0000(\S+)\.0$", SCENARIO.read_text(), re.MULTILINE)
        if not address:
            raise machines.ClusterError(f"no GPU {gpu}: there are 0 to {GPUS - 1}")
        return address.group(1).lower()

    def break_gpu(self, gpu, xid):
        """Reports an Xid as the driver does: in the kernel log and as an event of NVML."""
        detail = {79: "GPU has fallen off the bus."}.get(xid, "pid='<unknown>', name=<unknown>")
        self.log_kernel_line(f"NVRM: Xid (PCI:{self.pci_address(gpu)}): {xid}, {detail}")
        with open(self.machine.folder / "nvidia/scenario.conf.xids", "a", encoding="utf-8") as events:
            events.write(f"{gpu} {xid}\n")
