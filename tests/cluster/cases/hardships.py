"""Problems of the two programs themselves: fewer permissions, a full disk, a changed configuration."""
import datetime
import json

from cases.base import (EXPORTERS, ISOLATE_XID, REMEDIATORS, RESET_XID, ClusterTest, cluster, exporter_of,
                        is_out_of_service, kubectl, metrics_of, pods)
from nodes import KERNEL_LOG

STATE = "/var/lib/gpuward"
STATUS = "gpuward.dev/status"
USER_XID = 13  # a program's error: it is counted and causes nothing


def value(node, metric):
    """Returns the sum over the metric's series of that node's exporter."""
    return sum(float(line.rsplit(" ", 1)[1]) for line in metrics_of(node) if line.split("{")[0].split(" ")[0] == metric)


def xids(node, xid):
    return sum(float(line.rsplit(" ", 1)[1]) for line in metrics_of(node)
               if line.startswith("gpuward_xid_errors_total{") and f'xid="{xid}"' in line)


class AnExporterWithoutPrivileges(ClusterTest):
    def test_sees_a_broken_gpu(self):
        exporter = cluster.values()["exporter"]
        # The chart mounts the log itself.
        volumes = [one for one in exporter["volumes"] if one["name"] != "kernel-log"]
        mounts = [one for one in exporter["volumeMounts"] if one["name"] != "kernel-log"]
        cluster.set_values("--set=exporter.privileged=false", f"--set=exporter.kernelLog.file={KERNEL_LOG}",
                           f"--set-json=exporter.args={json.dumps(['--path.procfs=/host/proc'])}",
                           f"--set-json=exporter.volumes={json.dumps(volumes)}",
                           f"--set-json=exporter.volumeMounts={json.dumps(mounts)}")
        self.addCleanup(cluster.set_values)
        node = self.take("gpu-1")
        context = kubectl.get("pod", exporter_of("gpu-1"), "-n", EXPORTERS)["spec"]["containers"][0]["securityContext"]
        self.assertFalse(context.get("privileged", False))
        self.assertEqual(8, value("gpu-1", "gpuward_gpu_info"))
        node.break_gpu(3, ISOLATE_XID)
        self.wait(lambda: is_out_of_service("gpu-1"), "gpu-1 to be out of service")


class AFullDisk(ClusterTest):
    NODE = "gpu-2"

    def test_under_the_state_of_an_exporter(self):
        machine = self.take(self.NODE).machine
        machine.inside("mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", STATE)
        self.addCleanup(self.restart_exporter)
        self.addCleanup(machine.inside, "bash", "-c", f"! mountpoint -q {STATE} || umount -l {STATE}")
        self.restart_exporter()
        self.wait(lambda: value(self.NODE, "gpuward_state_last_save_successful") == 1, "the state to be saved")
        machine.inside("bash", "-c", f"cat /dev/zero >{STATE}/ballast || true")
        cluster.node(self.NODE).break_gpu(3, RESET_XID)
        self.wait(lambda: value(self.NODE, "gpuward_state_last_save_successful") == 0, "the full disk to be noticed")
        self.wait(lambda: is_out_of_service(self.NODE), "the node to be out of service all the same")
        machine.inside("rm", f"{STATE}/ballast")
        self.wait(lambda: value(self.NODE, "gpuward_state_last_save_successful") == 1, "the state to be saved again")
        counted = xids(self.NODE, RESET_XID)
        self.assertEqual(1, counted)
        self.restart_exporter()
        self.wait(lambda: xids(self.NODE, RESET_XID) == counted, "the count to be known after a restart")

    def restart_exporter(self):
        kubectl("delete", "pod", exporter_of(self.NODE), "-n", EXPORTERS)
        self.wait(lambda: exporter_of(self.NODE), "the next exporter to be ready")


class ASwappedConfigMap(ClusterTest):
    """The kubelet takes up to two minutes to write a new one."""

    def swap(self, namespace, name, file, change):
        old = kubectl.get("configmap", name, "-n", namespace)["data"][file]
        kubectl("patch", "configmap", name, "-n", namespace, "--type=merge",
                "--patch", json.dumps({"data": {file: change(old)}}))
        return old

    def test_of_the_exporters(self):
        def reloaded():
            return {value(node.name, "gpuward_config_last_reload_successful") for node in cluster.nodes}

        good = self.swap(EXPORTERS, "gpuward-exporter", "config.yaml", lambda text: text + "\nchekcs: {}\n")
        self.addCleanup(self.swap, EXPORTERS, "gpuward-exporter", "config.yaml", lambda _: good)
        self.wait(lambda: reloaded() == {0}, "the bad configuration to be refused", 180)
        self.take("gpu-3").break_gpu(3, USER_XID)
        self.wait(lambda: xids("gpu-3", USER_XID) == 1, "the Xid to be counted under the configuration before")
        self.swap(EXPORTERS, "gpuward-exporter", "config.yaml", lambda _: good)
        self.wait(lambda: reloaded() == {1}, "the good configuration to be taken", 180)

    def test_of_the_remediators_while_a_node_is_drained(self):
        def reloaded():
            return {found for row, found in cluster.query('gpuward_config_last_reload_successful{job="gpuward-remediator"}')}

        self.start_slow_drain("gpu-1")
        good = self.swap(REMEDIATORS, "gpuward-remediator", "policy.yaml", lambda text: text.replace("full", "fool"))
        self.addCleanup(self.swap, REMEDIATORS, "gpuward-remediator", "policy.yaml", lambda _: good)
        self.wait(lambda: reloaded() == {0}, "the bad policy to be refused", 180)
        self.swap(REMEDIATORS, "gpuward-remediator", "policy.yaml", lambda _: good)
        self.expect_one_reset("gpu-1")
        self.wait(lambda: reloaded() == {1}, "the good policy to be taken", 180)


class Tokens(ClusterTest):
    """The pods' tokens are valid for ten minutes in this cluster (cluster.TOKEN)."""

    def test_of_old_pods_were_renewed(self):
        # The API server answers an expired token with 401.
        def age(pod):
            started = datetime.datetime.fromisoformat(pod["status"]["startTime"])
            return (datetime.datetime.now(datetime.UTC) - started).total_seconds()

        self.wait(lambda: min(age(pod) for pod in self.all_pods()) > 660, "every pod to be older than its first token", 900)
        renewed = kubectl.get("lease", "gpuward-remediator", "-n", REMEDIATORS)["spec"]["renewTime"]
        self.wait(lambda: kubectl.get("lease", "gpuward-remediator", "-n", REMEDIATORS)["spec"]["renewTime"] > renewed,
                  "the leader to renew its lease", 30)
        self.take("gpu-3").break_gpu(3, ISOLATE_XID)
        self.wait(lambda: is_out_of_service("gpu-3"), "gpu-3 to be out of service")
        self.wait(lambda: kubectl.get("node", "gpu-3")["metadata"]["labels"].get(STATUS) == "fail",
                  "the exporter to say so on the node")

    def all_pods(self):
        return [*pods("app.kubernetes.io/name=gpuward-exporter", EXPORTERS),
                *pods("app.kubernetes.io/name=gpuward-remediator", REMEDIATORS)]
