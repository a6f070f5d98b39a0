"""A Kubernetes cluster on this machine: three nodes with a real kubelet, containerd and runc, the whole control plane,
Prometheus and Alertmanager with the shipped rules and routes, and gpuward, installed by its chart. It changes
nothing in the host's network, and sends nothing outside.

  control  10.90.0.1   see control_plane.py
  gpu-N    10.90.0.1N  see nodes.py; pods in 10.244.N.0/24; eight GPUs (the fake NVML)

Used by the program `cluster` and by the tests; they find a running cluster by its folder."""
import json
import os
import pathlib
import shutil
import time
import urllib.request

from control_plane import ADDRESS, BMC_PORT, REPOSITORY, WEBHOOK_TOKEN, ControlPlane
from images import TAG, Images
from keys import Keys
from kubectl import Kubectl
from machines import ClusterError, remove_cgroups, run, wait_until
from nodes import KERNEL_LOG, Node

NODES = 3
# Ten minutes are the minimum in Kubernetes; the kubelet writes a new token after eight. With the pods' default of an
# hour no test would see that.
TOKEN = {"name": "token", "projected": {"sources": [
    {"serviceAccountToken": {"path": "token", "expirationSeconds": 600}},
    {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
    {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": {"fieldPath": "metadata.namespace"}}]}}]}}
TOKEN_MOUNT = {"name": "token", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "readOnly": True}
CHART = REPOSITORY / "manifests/chart/gpuward"


class Cluster:
    def __init__(self, folder, log=print):
        self.folder = pathlib.Path(folder)
        self.log = log
        self.kubectl = Kubectl(self.folder / "kubeconfig")
        keys = Keys(self.folder / "keys")
        programs = pathlib.Path(os.environ.get("KUBE_DIR", ""))
        prometheus = pathlib.Path(os.environ.get("PROMETHEUS_DIR", "")) / "prometheus"
        self.control = ControlPlane(self.folder, keys, programs, prometheus)
        self.nodes = [Node(self.folder, number, NODES, keys, programs) for number in range(1, NODES + 1)]
        self.machines = [self.control.machine] + [node.machine for node in self.nodes]

    def node(self, name):
        for node in self.nodes:
            if node.name == name:
                return node
        raise ClusterError(f"no node {name}: there are {', '.join(node.name for node in self.nodes)}")

    def is_up(self):
        return any(machine.pid for machine in self.machines)

    # ---- up

    def up(self):
        if os.geteuid() != 0:
            raise ClusterError("machines are namespaces, mounts and control groups: run as root")
        if not {"KUBE_DIR", "PROMETHEUS_DIR"} <= os.environ.keys():
            raise ClusterError("KUBE_DIR and PROMETHEUS_DIR say where the programs are: call `./dev cluster`, which sets them")
        if self.is_up():
            raise ClusterError(f"a cluster is up already in {self.folder}: end it by `./dev cluster down`")
        self.clear_folder()
        self.log("building images")
        Images(self.folder / "images").build()
        self.prepare_power_cycle()
        self.log("powering machines on")
        self.control.prepare()
        self.control.machine.power_on()
        self.control.machine.wait_until_up()
        for node in self.nodes:
            node.prepare()
            node.machine.power_on()
        for node in self.nodes:
            node.machine.wait_until_up()
        self.log("waiting for the API server and the nodes")
        port = self.control.reachable_here(6443)
        self.control.keys.kubeconfig(self.kubectl.kubeconfig, "admin", f"https://127.0.0.1:{port}")
        self.ports = {name: self.control.reachable_here(number)
                      for name, number in (("prometheus", 9090), ("alertmanager", 9093))}
        (self.folder / "ports.json").write_text(json.dumps(self.ports))
        wait_until(lambda: self.kubectl("get", "--raw", "/readyz"), "the API server to be ready", 60)
        self.control.publish_alertmanager(self.kubectl)
        wait_until(lambda: self.ready_nodes() == NODES, "the nodes to be ready", 60)

    def clear_folder(self):
        """Ends the cluster; the built files stay."""
        for path in self.folder.iterdir() if self.folder.exists() else []:
            if path.name != "images":
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.folder.chmod(0o755)

    def prepare_power_cycle(self):
        """Writes the programs that policies name for reboots and power states: they call the data center. gpuward's
        image has no shell."""
        folder = self.folder / "bin"
        folder.mkdir()
        shutil.copy("/bin/busybox", folder / "busybox")
        for name, options, action in (("power-cycle", "-O /dev/null --post-data=", "reset"), ("power-state", "-O -", "power")):
            (folder / name).write_text(f"""#!{folder}/busybox sh
# Gets the machine as JSON on its standard input.
node=$({folder}/busybox sed -n 's/.*"node":"\\([^"]*\\)".*/\\1/p')
exec {folder}/busybox wget -q {options} "http://{ADDRESS}:{BMC_PORT}/{action}/$node"
""")
            (folder / name).chmod(0o755)
        # A machine here has its own boot ID, which only its own /proc shows.
        job = json.loads((REPOSITORY / "manifests/remediator-job-gpu-reset.json").read_text())
        pod = job["spec"]["template"]["spec"]
        pod["containers"][0]["command"].insert(1, "--path.procfs=/host/proc")
        pod["containers"][0]["volumeMounts"].append({"name": "proc", "mountPath": "/host/proc", "readOnly": True})
        pod["volumes"].append({"name": "proc", "hostPath": {"path": "/proc"}})
        (folder / "gpu-reset.json").write_text(json.dumps(job))
        self.prepare_reboot(folder)

    def prepare_reboot(self, folder):
        """Writes the Job of `reboot` with another /proc: all machines here are namespaces of one kernel, whose systemd and SysRq
        keys would end them all. Process 1 there is a systemd that calls the data center. tests/machine has the shipped Job."""
        root = folder / "proc/1/root"
        (root / "bin").mkdir(parents=True)
        (root.parent / "comm").write_text("systemd\n")
        (folder / "proc/sys/kernel/random").mkdir(parents=True)
        (folder / "proc/sys/kernel/random/boot_id").touch()
        shutil.copy("/bin/busybox", root / "bin/busybox")
        # The unit requests the reboot 15 s after its start.
        ask = f'exec /bin/busybox wget -q -O /dev/null --post-data=15 "http://{ADDRESS}:{BMC_PORT}/reset/$NODE"'
        for name, text in (("systemd-run", ask), ("systemctl", "exit 0")):
            (root / "bin" / name).write_text(f"#!/bin/busybox sh\n{text}\n")
            (root / "bin" / name).chmod(0o755)
        job = json.loads((REPOSITORY / "manifests/remediator-job-reboot.json").read_text())
        pod = job["spec"]["template"]["spec"]
        container = pod["containers"][0]
        container["command"].insert(1, "--path.procfs=/node/proc")
        container["env"] = [{"name": "NODE", "value": "$(NODE_NAME)"}]
        boot_id = "proc/sys/kernel/random/boot_id"
        container["volumeMounts"] = [{"name": "proc", "mountPath": "/node/proc", "readOnly": True},
                                     {"name": "boot-id", "mountPath": f"/node/{boot_id}", "readOnly": True}]
        pod["volumes"] = [{"name": "proc", "hostPath": {"path": str(folder / "proc")}},
                          {"name": "boot-id", "hostPath": {"path": f"/{boot_id}", "type": "File"}}]
        (folder / "reboot.json").write_text(json.dumps(job))

    @property
    def power_cycle(self):
        """Returns the command of a policy in which a program restarts machines."""
        return [str(self.folder / "bin/power-cycle")]

    def ready_nodes(self):
        return sum(is_ready(node) for node in self.kubectl.items("nodes"))

    # ---- gpuward

    def values(self):
        """Returns the chart's values: those of this cluster, and times of minutes for the preset `full`."""
        templates = {name: f"/etc/gpuward-jobs/{name}.json" for name in ("gpu-reset", "reboot")}
        host = {"name": "cluster", "hostPath": {"path": str(self.folder / "bin")}}
        return {
            # The control plane: Prometheus, Alertmanager, and the API server as a proxy.
            "networkPolicy": {"enabled": True, "from": ["monitoring"], "cidrs": [f"{ADDRESS}/32"]},
            "images": {name: {"tag": TAG} for name in ("exporter", "remediator")},
            "exporter": {
                "runtimeClassName": "nvidia",
                "args": ["--path.procfs=/host/proc", f"--kernel-log.path={KERNEL_LOG}"],
                # An upgrade without it would keep the preset of the test before.
                "config": {"instance": {"profiles": [{"type": "p5.48xlarge", "gpus": 8}]}, "node": {"preset": "gpuward"}},
                # A machine here has its own boot ID and kernel log, not its own kernel.
                "volumes": [TOKEN, {"name": "proc", "hostPath": {"path": "/proc"}},
                            {"name": "kernel-log", "hostPath": {"path": str(pathlib.Path(KERNEL_LOG).parent)}}],
                "volumeMounts": [TOKEN_MOUNT, {"name": "proc", "mountPath": "/host/proc", "readOnly": True},
                                 {"name": "kernel-log", "mountPath": str(pathlib.Path(KERNEL_LOG).parent),
                                  "readOnly": True}]},
            "remediator": {
                "prometheusURL": f"http://{ADDRESS}:9090", "alertmanagerURL": f"http://{ADDRESS}:9093",
                "preset": "full", "grants": {"jobs": True, "rebootJob": True},
                "jobTemplates": {"mount": True, "files": {name: (self.folder / f"bin/{name}.json").read_text() for name in templates}},
                "volumes": [TOKEN, host],
                "volumeMounts": [TOKEN_MOUNT, {"name": "cluster", "mountPath": str(self.folder / "bin"), "readOnly": True}],
                "policy": {
                    "startup_grace": "0s",
                    "jobs": {"image": f"docker.io/library/gpuward-exporter:{TAG}",
                             "templates": templates},
                    "severities": {
                        "isolate": ["taint", "cordon", {"drain": {"deadline": "5m", "unmanaged": "evict"}}],
                        "reboot": ["taint", "cordon", {"drain": {"deadline": "5m"}}, {"reboot": {"timeout": "5m"}},
                                   {"verify": {"soak": "15s"}}, "return-to-service"],
                        "reset": ["taint", "cordon", "collect-evidence", {"drain": {"pods": "gpu", "deadline": "5m"}}, {"gpu-reset": {"not_on": []}},
                                  {"verify": {"soak": "15s"}}, "return-to-service"]},
                    "budgets": {"cluster": {"nodes": 2}, "pool": {"nodes": 2}, "zone": {"nodes": 2},
                                "taint": {"nodes": 3}, "cordon": {"nodes": 3},
                                # This cluster exists for faults.
                                "storm": {"nodes": 1000}, "breaker": {"nodes": 1000}}}}}

    def install(self, command="install", *arguments, policy=None):
        """`policy` replaces its own; helm merges its arguments into it."""
        values = self.values()
        values["remediator"]["policy"] = policy or values["remediator"]["policy"]
        path = self.folder / "values.json"
        path.write_text(json.dumps(values))
        if command == "install":
            self.kubectl.apply([
                {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "nvidia"},
                 "handler": "nvidia"},
                {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "gpuward"}},
                {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "gpuward-webhook", "namespace": "gpuward"},
                 "stringData": {"token": WEBHOOK_TOKEN}}])
        self.kubectl.helm(command, "gpuward", CHART, "--namespace=gpuward", f"--values={path}", "--wait",
                          "--timeout=180s", *arguments)
        # helm does not wait for as many nodes as a rollout may leave behind (exporter.maxUnavailable).
        self.wait_for_rollout("daemonset/gpuward-exporter", "gpu-healthcheck")

    def set_values(self, *arguments, policy=None):
        """Upgrades to other values; they are in force when it returns: the kubelet takes up to two minutes to replace a
        ConfigMap, but a new pod has it at once."""
        self.install("upgrade", *arguments, policy=policy)
        for workload, namespace in (("daemonset/gpuward-exporter", "gpu-healthcheck"), ("deployment/gpuward-remediator", "gpuward")):
            self.kubectl("rollout", "restart", workload, "-n", namespace)
            self.wait_for_rollout(workload, namespace)

    def wait_for_rollout(self, workload, namespace):
        self.kubectl("rollout", "status", workload, "-n", namespace, "--timeout=90s", seconds=100)

    # ---- down

    def down(self):
        """Leaves no process, mount, interface or control group; the images stay."""
        for machine in reversed(self.machines):
            machine.power_off()
        for machine in self.machines:
            machine.forget_cgroups()
        remove_cgroups(self.folder.name)
        self.clear_folder()

    # ---- queries

    def query(self, expression):
        """Returns the result of Prometheus, as a list of (labels, value)."""
        answer = self.ask_prometheus(f"query?query={urllib.request.quote(expression)}")
        return [(row["metric"], float(row["value"][1])) for row in answer["data"]["result"]]

    def history(self, expression):
        """Returns the unchanged answer of Prometheus for the last hour."""
        now = time.time()
        return self.ask_prometheus(f"query_range?query={urllib.request.quote(expression)}&start={now - 3600}&end={now}&step=15")

    def ask_prometheus(self, question):
        ports = json.loads((self.folder / "ports.json").read_text())
        with urllib.request.urlopen(f"http://127.0.0.1:{ports['prometheus']}/api/v1/{question}", timeout=10) as answer:
            return json.load(answer)


def is_ready(node):
    return any(condition["type"] == "Ready" and condition["status"] == "True"
               for condition in node["status"].get("conditions", []))
