"""The nodes gpu-1, gpu-2, ...: each a machine with containerd, kubelet, kube-proxy and eight GPUs of the fake NVML, which
a device plugin offers to the kubelet."""
import json
import pathlib
import re
import shutil
import time
import uuid

import machines
from control_plane import ADDRESS, API, INSTANCE_TYPE, METADATA, REPOSITORY, kube_proxy

HERE = pathlib.Path(__file__).resolve().parent
GPUS = 8
SCENARIO = REPOSITORY / "tests/testdata/invented/nvml/healthy_8x_h100.conf"
KERNEL_LOG = "/var/log/kernel/kern.log"


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

    # ---- what it is made of

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
            # To nowhere: what is asked for beyond the cluster fails at once.
            + f"ip route add default via {ADDRESS}\n")
        (folder / "instance").write_text(f"i-0{uuid.uuid4().hex[:16]}\n")
        (folder / "etc").mkdir(exist_ok=True)
        (folder / "etc/hosts").write_text(f"127.0.0.1 localhost\n{self.address} {self.name}\n")
        (folder / "etc/resolv.conf").write_text("")
        (folder / "log/kernel").mkdir(exist_ok=True)
        (folder / "log/kernel/kern.log").touch()
        self.prepare_gpus()
        self.prepare_containerd()
        self.prepare_kubelet()
        self.machine.add_service("kube-proxy", *kube_proxy(self.programs, self.keys, self.name))
        self.machine.add_service("device-plugin", self.programs / "device-plugin", "nvidia.com/gpu", *self.gpu_uuids(),
                                 first="mkdir -p /var/lib/kubelet/device-plugins")

    def gpu_uuids(self):
        return [f"GPU-{self.number:04x}{gpu:04x}-aaaa-bbbb-cccc-{self.instance[3:15]}" for gpu in range(GPUS)]

    def prepare_gpus(self):
        """The healthy machine of the unit tests, with UUIDs and serials of its own."""
        folder = self.machine.folder / "nvidia"
        folder.mkdir(exist_ok=True)
        library = REPOSITORY / "build/release/lib/fakes/libnvidia-ml.so.1"
        (folder / "libnvidia-ml.so.1").write_bytes(library.read_bytes())
        (folder / "healthy.conf").write_text(SCENARIO.read_text())
        lines = ["include = healthy.conf"]
        for gpu, name in enumerate(self.gpu_uuids()):
            lines += [f"gpu.{gpu}.uuid = {name}", f"gpu.{gpu}.serial = {int(self.instance[3:11], 16)}{gpu}"]
        (folder / "scenario.conf").write_text("\n".join(lines) + "\n")
        (folder / "scenario.conf.xids").touch()
        (folder / "nvidia-smi").write_text("#!/bin/sh\n[ \"$1\" = --gpu-reset ] && echo 'All done.'\n")
        (folder / "nvidia-smi").chmod(0o755)

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
            "resolvConf": "/etc/resolv.conf",
            "imageGCHighThresholdPercent": 100,
            "evictionHard": {"memory.available": "10Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
            "shutdownGracePeriod": "0s"}))
        import_images = f"""
until ctr version >/dev/null 2>&1; do sleep 0.1; done
for image in {self.images}/*.tar; do
  marker=/var/lib/containerd/imported-$(basename "$image")
  [ "$marker" -nt "$image" ] || {{ ctr -n k8s.io images import "$image" && touch "$marker"; }}
done"""
        labels = f"node.kubernetes.io/instance-type={INSTANCE_TYPE},nvidia.com/gpu.count={GPUS},nvidia.com/gpu.present=true"
        # The instance is that of the moment of boot.
        self.machine.add_service("kubelet", "bash", "-c",
                                 'exec "$@" --provider-id="aws:///eu-central-1a/$(cat "$0")"',
                                 self.machine.folder / "instance", self.programs / "kubelet",
                                 f"--config={configuration}", f"--kubeconfig={self.keys.file(name + '.kubeconfig')}",
                                 f"--hostname-override={name}", f"--node-ip={self.address}",
                                 f"--node-labels={labels}", first=import_images)

    # ---- what happens to it

    def become_another_machine(self, kubectl):
        """The machine is taken out, and another one comes under its name: instance, GPUs and disk are new."""
        self.machine.power_off()
        kubectl.delete("node", self.name)
        shutil.rmtree(self.machine.folder / "lib")
        (self.machine.folder / "log/kernel/kern.log").write_text("")
        self.prepare()
        self.machine.power_on()
        self.machine.wait_until_up()

    def log_kernel_line(self, text):
        """As the kernel logs it, into this machine's log."""
        stamp = time.strftime("%b %d %H:%M:%S")
        with open(self.machine.folder / "log/kernel/kern.log", "a", encoding="utf-8") as log:
            log.write(f"{stamp} {self.name} kernel: [{time.clock_gettime(time.CLOCK_BOOTTIME):.6f}] {text}\n")

    def break_gpu(self, gpu, xid):
        """An Xid as the driver reports it: in the kernel log and as an event of NVML."""
        address = re.search(rf"^gpu\.{gpu}\.pci = 0000(\S+)\.0$", SCENARIO.read_text(), re.MULTILINE)
        if not address:
            raise machines.ClusterError(f"no GPU {gpu}: there are 0 to {GPUS - 1}")
        detail = {79: "GPU has fallen off the bus."}.get(xid, "pid='<unknown>', name=<unknown>")
        self.log_kernel_line(f"NVRM: Xid (PCI:{address.group(1).lower()}): {xid}, {detail}")
        with open(self.machine.folder / "nvidia/scenario.conf.xids", "a", encoding="utf-8") as events:
            events.write(f"{gpu} {xid}\n")
