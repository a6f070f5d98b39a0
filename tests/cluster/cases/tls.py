"""Each listener with TLS, mTLS and credentials, by the values of the chart: the flow finds, repairs and returns a node over
them, and no other client is admitted."""
import json
import shutil
import urllib.request

from cases.base import (EXPORTERS, REMEDIATORS, RESET_XID, ClusterTest, address_of, cluster, exporter_of, kubectl, pods)
from control_plane import WEBHOOK_TOKEN, changed
from keys import Keys
from machines import run

NODE = "gpu-2"
EXPORTER = f"gpuward-exporter.{EXPORTERS}.svc"
REMEDIATOR = f"gpuward-remediator.{REMEDIATORS}.svc"
SCRAPE_TOKEN = "token-of-the-scrapes"
PASSWORD = "password-of-alice"
VALUES = ("exporter.web.tlsSecret=server-tls", "exporter.web.clientSecret=client-tls",
          "exporter.web.tokenSecret=scrape-token", "remediator.telemetry.tlsSecret=server-tls",
          "remediator.telemetry.clientSecret=client-tls", "remediator.telemetry.tokenSecret=scrape-token",
          "remediator.telemetry.usersSecret=people", "remediator.webhook.tlsSecret=server-tls",
          "remediator.webhook.clientSecret=client-tls")


def secret(name, namespace, **data):
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": namespace},
            "stringData": {key.replace("_", "."): value for key, value in data.items()}}


def reload(program):
    """Makes the program read its configuration again; raises an error if it refuses it."""
    port = json.loads((cluster.folder / "ports.json").read_text())[program]
    urllib.request.urlopen(f"http://127.0.0.1:{port}/-/reload", data=b"", timeout=20).close()


class OnEachListener(ClusterTest):
    def setUp(self):
        super().setUp()
        self.servers = cluster.control.keys
        self.clients = Keys(cluster.folder / "client-keys")  # of an authority that signs no server
        self.monitoring = cluster.control.machine.folder / "monitoring"
        self.plain = {name: (self.monitoring / f"{name}.yaml").read_text() for name in ("prometheus", "alertmanager")}
        self.secrets = []

    def tearDown(self):
        """The other tests read the metrics without TLS."""
        for name, text in self.plain.items():
            (self.monitoring / f"{name}.yaml").write_text(text)
            reload(name)
        cluster.set_values()
        for one in self.secrets:
            kubectl.delete("secret", one["metadata"]["name"], "-n", one["metadata"]["namespace"])
        shutil.rmtree(self.clients.folder, ignore_errors=True)
        super().tearDown()

    def make_secrets(self):
        self.clients.make_authority()
        self.clients.issue("monitoring", "/CN=monitoring")
        hashed = run("openssl", "passwd", "-6", PASSWORD).strip()
        for name, host, namespace in (("exporter", EXPORTER, EXPORTERS), ("remediator", REMEDIATOR, REMEDIATORS)):
            self.servers.issue(name, f"/CN={name}", f"DNS:{host}")
            self.secrets += [
                secret("server-tls", namespace, tls_crt=self.servers.file(f"{name}.crt").read_text(),
                       tls_key=self.servers.file(f"{name}.key").read_text(), ca_crt=self.servers.file("ca.crt").read_text()),
                secret("client-tls", namespace, tls_crt=self.clients.file("monitoring.crt").read_text(),
                       tls_key=self.clients.file("monitoring.key").read_text(), ca_crt=self.clients.file("ca.crt").read_text()),
                secret("scrape-token", namespace, token=SCRAPE_TOKEN)]
        self.secrets.append(secret("people", REMEDIATORS, users=f"alice:{hashed}\n"))
        kubectl.apply(self.secrets)

    def secure_monitoring(self):
        """Follows the chart's notes for a Prometheus without the operator, with the chart's own routes."""
        token = self.monitoring / "scrape-token"
        token.write_text(SCRAPE_TOKEN)
        text = self.plain["prometheus"]
        for job, host in (("gpuward-exporter", EXPORTER), ("gpuward-remediator", REMEDIATOR)):
            text = changed(text, f"  - job_name: {job}\n", f"""  - job_name: {job}
    scheme: https
    tls_config:
      server_name: {host}
      ca_file: {self.servers.file('ca.crt')}
      cert_file: {self.clients.file('monitoring.crt')}
      key_file: {self.clients.file('monitoring.key')}
    authorization: {{credentials_file: {token}}}
""")
        (self.monitoring / "prometheus.yaml").write_text(text)
        reload("prometheus")
        for name, file in (("gpuward-ca.crt", self.servers.file("ca.crt")),
                           ("gpuward-client.crt", self.clients.file("monitoring.crt")),
                           ("gpuward-client.key", self.clients.file("monitoring.key"))):
            shutil.copy(file, self.monitoring / name)
        routes = kubectl.get("configmap", "gpuward-alertmanager", "-n", REMEDIATORS)["data"]["alertmanager.yaml"]
        self.assertIn(f"https://{REMEDIATOR}:10981/", routes)
        (self.monitoring / "alertmanager.yaml").write_text(changed(routes, "/etc/alertmanager/", f"{self.monitoring}/"))
        reload("alertmanager")

    def status(self, pod, host, port, *arguments, scheme="https", keys=None):
        """Returns the status of the pod's answer to the machine of the monitoring; "000" if the connection fails. `keys`:
        paths of the client's certificate and its key."""
        certificate = ["--cert", keys[0], "--key", keys[1]] if keys else []
        path = "/api/v1/alerts" if port == 10981 else "/metrics"
        return cluster.control.machine.inside(
            "bash", "-c", '"$@" || :', "_", "curl", "--silent", "--output", "/dev/null", "--write-out", "%{http_code}",
            "--max-time", "10", "--cacert", self.servers.file("ca.crt"), "--resolve", f"{host}:{port}:{address_of(pod)}",
            *certificate, *arguments, f"{scheme}://{host}:{port}{path}")

    def expect_closed_to_others(self, pod, host, port, token, right):
        """`right`: the status of a request with all required credentials."""
        ours = (self.clients.file("monitoring.crt"), self.clients.file("monitoring.key"))
        strangers = (self.servers.file("admin.crt"), self.servers.file("admin.key"))
        bearer = ("--header", f"Authorization: Bearer {token}")
        body = ("--header", "Content-Type: application/json", "--data", '{"version":"4","alerts":[]}') if port == 10981 else ()
        self.assertEqual(right, self.status(pod, host, port, *bearer, *body, keys=ours))
        self.assertEqual("401", self.status(pod, host, port, *body, keys=ours), "no token")
        self.assertEqual("401", self.status(pod, host, port, "--header", "Authorization: Bearer another-token-0123", *body,
                                            keys=ours))
        self.assertEqual("000", self.status(pod, host, port, *bearer, *body), "no certificate")
        self.assertEqual("000", self.status(pod, host, port, *bearer, *body, keys=strangers), "of another authority")
        self.assertNotEqual(right, self.status(pod, host, port, *bearer, *body, scheme="http"))

    def failed_probes(self):
        """Returns gpuward's containers that are not ready or were restarted: (pod, ready, restarts)."""
        found = [*pods("app.kubernetes.io/name=gpuward-exporter", EXPORTERS),
                 *pods("app.kubernetes.io/name=gpuward-remediator", REMEDIATORS)]
        self.assertEqual(len(cluster.nodes) + 2, len(found))
        return [(pod["metadata"]["name"], status["ready"], status["restartCount"])
                for pod in found for status in pod["status"]["containerStatuses"]
                if not status["ready"] or status["restartCount"]]

    def scraped(self, job):
        return sorted(value for row, value in cluster.query(f'up{{job="{job}"}}'))

    def test_gpuward_is_scraped_called_and_probed(self):
        node = self.take(NODE)
        self.make_secrets()
        cluster.set_values(*(f"--set={value}" for value in VALUES))
        self.secure_monitoring()
        self.wait(lambda: self.scraped("gpuward-exporter") == [1.0] * len(cluster.nodes), "Prometheus to scrape the exporters")
        self.wait(lambda: self.scraped("gpuward-remediator") == [1.0] * 2, "Prometheus to scrape the remediators")

        exporter = kubectl.get("pod", exporter_of(NODE), "-n", EXPORTERS)
        remediator = pods("app.kubernetes.io/name=gpuward-remediator", REMEDIATORS)[0]
        self.expect_closed_to_others(exporter, EXPORTER, 10980, SCRAPE_TOKEN, "200")
        self.expect_closed_to_others(remediator, REMEDIATOR, 10982, SCRAPE_TOKEN, "200")
        self.expect_closed_to_others(remediator, REMEDIATOR, 10981, WEBHOOK_TOKEN, "200")
        ours = (self.clients.file("monitoring.crt"), self.clients.file("monitoring.key"))
        self.assertEqual("200", self.status(remediator, REMEDIATOR, 10982, "--user", f"alice:{PASSWORD}", keys=ours))
        self.assertEqual("401", self.status(exporter, EXPORTER, 10980, "--user", f"alice:{PASSWORD}", keys=ours))

        # The path leads from the kernel line through Prometheus and Alertmanager to the webhook, and back by the exporter's report.
        node.break_gpu(3, RESET_XID)
        self.wait(lambda: self.step_of(NODE, "gpu-reset"), "the reset of a node whose alert came over TLS", 180)
        self.wait_until_returned(NODE, 300)
        self.assertEqual([], self.failed_probes())

        told = kubectl.helm("test", "gpuward", f"--namespace={REMEDIATORS}", "--timeout=200s",
                            "--filter=name=gpuward-test-exporter,name=gpuward-test-webhook")
        for test in ("exporter", "webhook"):
            self.assertRegex(told, rf"gpuward-test-{test}\n.*\n.*\nPhase: +Succeeded")
