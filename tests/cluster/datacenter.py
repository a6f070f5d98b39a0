"""The services of a data center beside its machines, on the machine `control`:
- the instance metadata services of EC2 (IMDSv2), Compute Engine and Azure at 169.254.169.254, each with its own paths
and headers. The client's address gives the instance: 10.90.0.1N is node N itself, 10.244.N.x one of its pods. A
machine's announcements are in its file announced-by-CLOUD, in the form of that cloud;
- a management controller of all machines: POST /reset/NODE restarts it, after so many seconds as its body says, GET /power/NODE returns `on`, or the text that
a test has written into the machine's file power-says.
Run as: datacenter.py CLUSTER_FOLDER METADATA_ADDRESS ADDRESS PORT INSTANCE_TYPE"""
import http.server
import json
import os
import pathlib
import sys
import threading

TOKEN = "token-of-the-metadata-service"
REGION = "eu-central-1"


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, text=""):
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format, *arguments):
        print(self.client_address[0], format % arguments, flush=True)


class Metadata(Answer):
    folder = None
    instance_type = ""

    def machine(self):
        """Returns the name of the node that sent the request."""
        parts = [int(part) for part in self.client_address[0].split(".")]
        return f"gpu-{parts[2] if parts[:2] == [10, 244] else parts[3] % 10}"

    def instance(self):
        """Returns the ID of the instance that sent the request; it is in the machine's folder, because a machine may be
        replaced."""
        return (self.folder / self.machine() / "instance").read_text().strip()

    def announced_by(self, cloud, nothing):
        """Returns the text that a test has written into the machine's file."""
        file = self.folder / self.machine() / f"announced-by-{cloud}"
        return file.read_text() if file.exists() else nothing

    def do_PUT(self):
        if self.path != "/latest/api/token":
            return self.answer(404)
        return self.answer(200, TOKEN)

    def do_GET(self):
        path = self.path.partition("?")[0]
        # Each cloud requires a header that no request has by mistake, and refuses requests without it.
        for root, header, value, refusal, facts in (
                ("/latest/", "X-aws-ec2-metadata-token", TOKEN, 401, self.facts_of_ec2),
                ("/computeMetadata/v1/instance/", "Metadata-Flavor", "Google", 403, self.facts_of_compute_engine),
                ("/metadata/", "Metadata", "true", 400, self.facts_of_azure)):
            if not path.startswith(root):
                continue
            if self.headers.get(header) != value:
                return self.answer(refusal)
            try:
                fact = facts().get(path.removeprefix(root))
            except OSError:
                fact = None
            return self.answer(404) if fact is None else self.answer(200, fact)
        return self.answer(404)

    def facts_of_ec2(self):
        instance = self.instance()
        return {
            "dynamic/instance-identity/document": json.dumps({
                "instanceId": instance, "instanceType": self.instance_type, "accountId": "000000000000",
                "region": REGION, "availabilityZone": REGION + "a"}),
            "meta-data/instance-id": instance,
            "meta-data/instance-type": self.instance_type,
            "meta-data/placement/region": REGION,
            "meta-data/placement/availability-zone": REGION + "a",
            "meta-data/events/maintenance/scheduled": self.announced_by("aws", "[]"),
        }

    def facts_of_compute_engine(self):
        return {"maintenance-event": "NONE", "upcoming-maintenance": self.announced_by("gce", "{}"),
                "preempted": "FALSE"}

    def facts_of_azure(self):
        return {"instance/compute/name": self.machine(),
                "scheduledevents": self.announced_by("azure", '{"DocumentIncarnation": 1, "Events": []}')}


class ManagementController(Answer):
    folder = None

    def do_GET(self):
        action, _, node = self.path.strip("/").partition("/")
        machine = self.folder / pathlib.Path(node).name
        if action != "power" or not machine.exists():
            return self.answer(404, f"no machine {node}\n")
        says = machine / "power-says"
        return self.answer(200, says.read_text() if says.exists() else "on\n")

    def do_POST(self):
        delay = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        action, _, node = self.path.strip("/").partition("/")
        power = self.folder / pathlib.Path(node).name / "power"
        if action != "reset" or not power.exists():
            return self.answer(404, f"no machine {node}\n")
        if delay:
            threading.Timer(float(delay), self.press, (power,)).start()
        elif not self.press(power):
            return self.answer(409, f"{node} has no power\n")
        return self.answer(200, "reset\n")

    @staticmethod
    def press(power):
        """Presses the button; returns whether the machine has power."""
        try:
            descriptor = os.open(power, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            return False
        os.write(descriptor, b"reset\n")
        os.close(descriptor)
        return True


def main():
    folder, metadata, address, port, instance_type = sys.argv[1:]
    Metadata.folder = ManagementController.folder = pathlib.Path(folder)
    Metadata.instance_type = instance_type
    threading.Thread(target=http.server.ThreadingHTTPServer((metadata, 80), Metadata).serve_forever, daemon=True).start()
    http.server.ThreadingHTTPServer((address, int(port)), ManagementController).serve_forever()


if __name__ == "__main__":
    main()
