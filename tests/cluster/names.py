"""Replaces CoreDNS, on the machine `control`: each Service has its name, and a headless one has the names of its ready
pods while they are ready. Run as: names.py KUBECONFIG FOLDER_OF_NAMES DOMAIN"""
import pathlib
import subprocess
import sys
import threading
import time

from kubectl import Kubectl
from machines import ClusterError

PAUSE = 1  # seconds before a retry


def names(kubectl, domain):
    lines = []
    for service in kubectl.items("services", "-A"):
        name, namespace, address = service["metadata"]["name"], service["metadata"]["namespace"], service["spec"]["clusterIP"]
        addresses = [address]
        if address == "None":
            subsets = (kubectl.get("endpoints", name, "-n", namespace) or {}).get("subsets", [])
            addresses = [one["ip"] for subset in subsets for one in subset.get("addresses", [])]
        lines += [f"{address} {name}.{namespace}.svc.{domain}\n" for address in addresses]
    return "".join(lines)


def publish(text, folder):
    """dnsmasq notices a replaced file of names itself."""
    new = folder.with_name("services.new")
    new.write_text(text)
    new.rename(folder / "services")


def note_changes(kubectl, changed):
    """Sets `changed` when Services or their endpoints change, also after the API server was away."""
    while True:
        with subprocess.Popen(["kubectl", "get", "services,endpoints", "-A", "--watch-only", "-o", "name"],
                              env=kubectl.environment, stdout=subprocess.PIPE, text=True) as watch:
            changed.set()
            for _ in watch.stdout:
                changed.set()
        time.sleep(PAUSE)


def main():
    kubeconfig, folder, domain = sys.argv[1:]
    kubectl, changed = Kubectl(kubeconfig), threading.Event()
    threading.Thread(target=note_changes, args=(kubectl, changed), daemon=True).start()
    while changed.wait():
        changed.clear()
        try:
            publish(names(kubectl, domain), pathlib.Path(folder))
        except ClusterError as error:
            print(error, flush=True)
            time.sleep(PAUSE)
            changed.set()


if __name__ == "__main__":
    main()
