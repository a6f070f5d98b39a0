"""Certificates of the cluster's own authority, and the kubeconfigs made from them."""
import base64
import json

from machines import run


class Keys:
    def __init__(self, folder):
        self.folder = folder

    def file(self, name):
        return self.folder / name

    def make_authority(self):
        self.folder.mkdir(parents=True)
        self.folder.chmod(0o700)
        run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
            "-subj", "/CN=gpuward-cluster", "-keyout", self.file("ca.key"), "-out", self.file("ca.crt"))
        run("openssl", "genrsa", "-out", self.file("service-accounts.key"), "2048")

    def issue(self, name, subject, names=""):
        """Makes a key and a certificate. `names`: subject alternative names in OpenSSL's form."""
        extensions = "basicConstraints=CA:FALSE\n" + (f"subjectAltName={names}\n" if names else "")
        self.file(f"{name}.ext").write_text(extensions)
        run("openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", subject,
            "-keyout", self.file(f"{name}.key"), "-out", self.file(f"{name}.csr"))
        run("openssl", "x509", "-req", "-in", self.file(f"{name}.csr"), "-CA", self.file("ca.crt"),
            "-CAkey", self.file("ca.key"), "-CAcreateserial", "-days", "30", "-extfile", self.file(f"{name}.ext"),
            "-out", self.file(f"{name}.crt"))

    def kubeconfig(self, path, name, server):
        """Writes a kubeconfig for the holder of that certificate. JSON is YAML."""
        def encoded(file):
            return base64.b64encode(self.file(file).read_bytes()).decode()

        path.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "cluster",
            "clusters": [{"name": "cluster", "cluster": {
                "server": server, "certificate-authority-data": encoded("ca.crt")}}],
            "users": [{"name": name, "user": {
                "client-certificate-data": encoded(f"{name}.crt"), "client-key-data": encoded(f"{name}.key")}}],
            "contexts": [{"name": "cluster", "context": {"cluster": "cluster", "user": name}}]}))
        path.chmod(0o600)
        return path
