"""The state after `helm install --wait`."""
import re

from cases.base import REMEDIATORS, ClusterTest, cluster, kubectl, metrics_of


class Installed(ClusterTest):
    def test_every_part_is_watched_and_well(self):
        self.wait(lambda: {(row["job"], row.get("node")) for row, value in cluster.query("up") if value == 1} >=
                  {("gpuward-exporter", node.name) for node in cluster.nodes}, "Prometheus to watch the exporters")
        self.wait(lambda: sum(value for row, value in cluster.query("up") if row["job"] == "gpuward-remediator") == 2,
                  "Prometheus to watch both remediators")
        self.wait(lambda: [value for _, value in cluster.query('up{job="alertmanager"}')] == [1], "Alertmanager's Service")

    def test_a_healthy_node_has_its_gpus_and_no_finding(self):
        for node in cluster.nodes:
            # The page follows the readings, on a busy machine after a long time.
            self.wait(lambda node=node: sum(line.startswith("gpuward_gpu_info{") for line in metrics_of(node.name)) == 8,
                      f"the GPUs of {node.name}")
            lines = metrics_of(node.name)
            self.assertEqual([], [line for line in lines if line.startswith("gpuward_finding{")], node.name)
            self.assertIn("gpuward_node_severity 0", lines)

    def test_the_exporter_and_the_kubelet_know_the_same_boot(self):
        for node in cluster.nodes:
            boot = kubectl.get("node", node.name)["status"]["nodeInfo"]["bootID"]
            self.assertTrue(any(line.startswith("gpuward_boot_info{") and boot in line for line in metrics_of(node.name)))

    def test_the_page_of_the_fleet_is_served_through_the_api_server(self):
        def page(path=""):
            return kubectl("get", "--raw", f"/api/v1/namespaces/{REMEDIATORS}/services/gpuward-remediator:telemetry/proxy/{path}")

        fleet = page()
        self.assertIn("<dt>GPU nodes</dt><dd>3</dd>", fleet)
        self.assertNotIn('class="alarm"', fleet)
        for path in set(re.findall(r'(?:href|src)="([^"#]+)"', fleet)) - {"./"}:
            self.assertTrue(page(path), path)
        self.assertIn("Its exporter has found nothing.", page("nodes/gpu-1"))

    def test_no_network_leads_out(self):
        for machine in cluster.machines:
            routes = machine.inside("ip", "route", "show", "table", "main")
            beyond = [line for line in routes.splitlines() if not line.startswith(("10.", "169.254.169.254 "))]
            self.assertIn(beyond, ([], ["default via 10.90.0.1 dev eth0 "]), machine.name)
            addresses = {line.split(":")[1].split("@")[0].strip() for line in
                         machine.inside("ip", "-o", "link").splitlines()}
            self.assertTrue(all(name in ("lo", "eth0", "cluster", "pods") or name.startswith(("gpu-", "veth"))
                                for name in addresses), addresses)
        control = cluster.control.machine.inside("ip", "route", "show")
        self.assertNotIn("default", control)
