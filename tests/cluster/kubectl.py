"""kubectl and helm with the credentials of one cluster."""
import json
import os

from machines import ClusterError, run


class Kubectl:
    def __init__(self, kubeconfig):
        self.kubeconfig = kubeconfig
        self.environment = {**os.environ, "KUBECONFIG": str(kubeconfig)}

    def __call__(self, *arguments, seconds=60, **more):
        return run("kubectl", *arguments, seconds=seconds, env=self.environment, **more)

    def helm(self, *arguments, seconds=240):
        return run("helm", *arguments, seconds=seconds, env=self.environment)

    def get(self, *arguments):
        """Returns the parsed object; None if there is none."""
        try:
            return json.loads(self("get", *arguments, "-o", "json"))
        except ClusterError as error:
            if "NotFound" in str(error) or "the server doesn't have a resource type" in str(error):
                return None
            raise

    def items(self, *arguments):
        found = self.get(*arguments)
        return found["items"] if found else []

    def apply(self, objects):
        listed = {"apiVersion": "v1", "kind": "List", "items": objects}
        return self("apply", "-f", "-", input=json.dumps(listed))

    def delete(self, *arguments):
        return self("delete", "--ignore-not-found", "--wait=true", *arguments, seconds=120)
