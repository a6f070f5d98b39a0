"""The machine `control`: etcd, API server, controller manager, scheduler, kube-proxy, Prometheus and Alertmanager with
the shipped rules and routes, and the services of a data center beside its machines (datacenter.py). It is also the
switch that connects the nodes."""
import pathlib
import re
import socket
import subprocess

import machines

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent

ADDRESS = "10.90.0.1"
API = f"https://{ADDRESS}:6443"
SERVICES = "10.96.0.0/16"
PODS = "10.244.0.0/16"
DOMAIN = "cluster.local"
METADATA = "169.254.169.254"
BMC_PORT = 8000
INSTANCE_TYPE = "p5.48xlarge"
WEBHOOK_TOKEN = "token-of-the-cluster"


class ControlPlane:
    def __init__(self, folder, keys, programs, prometheus):
        self.folder = folder
        self.keys = keys
        self.programs = programs
        self.prometheus = prometheus
        self.machine = machines.Machine(folder, "control")
        self.names = self.machine.folder / "names"
        self.forwarders = []

    def prepare(self):
        self.make_keys()
        self.machine.prepare(f"""
ip link add cluster type bridge
ip address add {ADDRESS}/24 dev cluster
ip link set cluster up
ip address add {METADATA}/32 dev lo
# kube-proxy sends what is for a Service elsewhere, once it has found a way.
ip route add {SERVICES} dev cluster
""")
        resolver = self.machine.folder / "etc/resolv.conf"
        resolver.parent.mkdir(exist_ok=True)
        resolver.write_text(f"search {DOMAIN}\noptions ndots:5\nnameserver {ADDRESS}\n")
        self.names.mkdir(exist_ok=True)
        add, key = self.machine.add_service, self.keys.file
        # It queries no other server; names.py gives it the names.
        add("dnsmasq", "/usr/sbin/dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--user=root", "--pid-file=",
            "--log-facility=-", "--no-resolv", "--no-hosts", "--local=/#/", f"--listen-address={ADDRESS}", "--bind-interfaces",
            f"--hostsdir={self.names}")
        add("datacenter", "/usr/bin/python3", HERE / "datacenter.py", self.folder, METADATA, ADDRESS, BMC_PORT, INSTANCE_TYPE)
        add("etcd", self.programs / "etcd", "--data-dir=/var/lib/etcd", "--log-level=error", "--unsafe-no-fsync")
        add("kube-apiserver", self.programs / "kube-apiserver", "--etcd-servers=http://127.0.0.1:2379",
            f"--advertise-address={ADDRESS}", f"--service-cluster-ip-range={SERVICES}", "--allow-privileged=true",
            "--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction",
            f"--client-ca-file={key('ca.crt')}", f"--tls-cert-file={key('api-server.crt')}",
            f"--tls-private-key-file={key('api-server.key')}",
            f"--kubelet-client-certificate={key('api-server-to-kubelet.crt')}",
            f"--kubelet-client-key={key('api-server-to-kubelet.key')}",
            "--kubelet-preferred-address-types=InternalIP",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={key('service-accounts.key')}",
            f"--service-account-signing-key-file={key('service-accounts.key')}")
        # The others start faster if they wait for the API server here.
        ready = f"until curl -sf --cacert {key('ca.crt')} {API}/readyz >/dev/null; do sleep 0.2; done"
        add("kube-controller-manager", self.programs / "kube-controller-manager",
            f"--kubeconfig={key('kube-controller-manager.kubeconfig')}", f"--root-ca-file={key('ca.crt')}",
            f"--service-account-private-key-file={key('service-accounts.key')}",
            "--use-service-account-credentials=true", "--leader-elect=false", first=ready)
        add("kube-scheduler", self.programs / "kube-scheduler", f"--kubeconfig={key('kube-scheduler.kubeconfig')}",
            "--leader-elect=false", first=ready)
        add("names", "/usr/bin/python3", HERE / "names.py", key("admin.kubeconfig"), self.names, DOMAIN,
            first=ready)
        add("kube-proxy", *kube_proxy(self.programs, self.keys, "control"), first=ready)
        self.prepare_monitoring(ready)

    def make_keys(self):
        self.keys.make_authority()
        self.keys.issue("api-server", "/CN=kube-apiserver",
                        f"IP:10.96.0.1,IP:{ADDRESS},IP:127.0.0.1,DNS:localhost,DNS:kubernetes,"
                        "DNS:kubernetes.default,DNS:kubernetes.default.svc")
        self.keys.issue("admin", "/O=system:masters/CN=admin")
        self.keys.issue("api-server-to-kubelet", "/O=system:masters/CN=kube-apiserver-kubelet-client")
        for component in ("kube-controller-manager", "kube-scheduler", "kube-proxy"):
            self.keys.issue(component, f"/CN=system:{component}")
            self.keys.kubeconfig(self.keys.file(f"{component}.kubeconfig"), component, API)
        self.keys.kubeconfig(self.keys.file("admin.kubeconfig"), "admin", API)

    def prepare_monitoring(self, ready):
        """Writes the shipped files with this cluster's credentials and path of the token. It also shortens the time for which an
        alert is kept during a reboot, because machines boot within seconds here."""
        folder = self.machine.folder / "monitoring"
        folder.mkdir(exist_ok=True)
        token = folder / "gpuward-token"
        token.write_text(WEBHOOK_TOKEN)
        alerts = REPOSITORY / "alerts"
        text = (alerts / "prometheus-kubernetes.yaml").read_text()
        # A second target on each node, as clusters have it: more than one target shows whether a node answers.
        text += f"""
  - job_name: kubelet
    scheme: https
    tls_config: {{insecure_skip_verify: true, cert_file: {self.keys.file('admin.crt')}, key_file: {self.keys.file('admin.key')}}}
    kubernetes_sd_configs:
      - role: node
    relabel_configs:
      - {{source_labels: [__meta_kubernetes_node_name], target_label: node}}
"""
        # Each discovery queries the API server as the admin.
        text = re.sub(r"^( +)- role: \w+$", rf"\g<0>\n\1  kubeconfig_file: {self.keys.file('admin.kubeconfig')}", text,
                      flags=re.MULTILINE)
        rules = (alerts / "gpuward.rules.yaml").read_text()
        (folder / "gpuward.rules.yaml").write_text(re.sub(r"keep_firing_for: \d+m", "keep_firing_for: 40s", rules))
        (folder / "prometheus.yaml").write_text(text)
        routes = (alerts / "alertmanager.yaml").read_text()
        (folder / "alertmanager.yaml").write_text(changed(routes, "/etc/alertmanager/gpuward-token", token))
        self.machine.add_service("alertmanager", "prometheus-alertmanager", f"--config.file={folder}/alertmanager.yaml",
                                 "--storage.path=/var/lib/alertmanager", "--cluster.listen-address=")
        self.machine.add_service("prometheus", self.prometheus, f"--config.file={folder}/prometheus.yaml",
                                 "--storage.tsdb.path=/var/lib/prometheus", "--web.enable-lifecycle", first=ready)

    def publish_alertmanager(self, kubectl):
        """Makes Alertmanager a Service, by which the shipped configuration finds it."""
        kubectl.apply([
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "monitoring"}},
            {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "alertmanager", "namespace": "monitoring"},
             "spec": {"ports": [{"name": "web", "port": 9093}]}},
            {"apiVersion": "v1", "kind": "Endpoints", "metadata": {"name": "alertmanager", "namespace": "monitoring"},
             "subsets": [{"addresses": [{"ip": ADDRESS}], "ports": [{"name": "web", "port": 9093}]}]}])

    def reachable_here(self, port):
        """Returns a port of the host's loopback that leads to this port of the machine while the machine is on. The listening
        socket is made in the host's network and passed into the machine's, so that there is no other connection."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            here = probe.getsockname()[1]
        pid = self.machine.pid
        with open(self.machine.folder / "log/reachable.log", "ab") as log:
            self.forwarders.append(subprocess.Popen(
                ["nsenter", "--target", str(pid), "--pid", "--", "systemd-socket-activate", f"--listen=127.0.0.1:{here}",
                 "nsenter", f"--net=/proc/{pid}/ns/net", "/lib/systemd/systemd-socket-proxyd", f"{ADDRESS}:{port}"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                # SIGPIPE stays ignored: the proxy relies on that, and a connection cut at either end would end it.
                restore_signals=False))
        return here


def changed(text, old, new):
    """Returns the text with every `old` replaced; raises ClusterError if a shipped file no longer has it."""
    if old not in text:
        raise machines.ClusterError(f"a file in alerts/ no longer has the text {old!r}")
    return text.replace(old, str(new))


def kube_proxy(programs, keys, hostname):
    return [programs / "kube-proxy", f"--kubeconfig={keys.file('kube-proxy.kubeconfig')}",
            f"--hostname-override={hostname}", "--proxy-mode=iptables", f"--cluster-cidr={PODS}",
            # The kernel's own limits, which belong to the host.
            "--conntrack-max-per-core=0", "--conntrack-tcp-timeout-established=0s",
            "--conntrack-tcp-timeout-close-wait=0s"]
