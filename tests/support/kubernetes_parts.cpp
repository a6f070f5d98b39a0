#include "tests/support/kubernetes_parts.h"

#include <cstdlib>

#include "tests/support/neighbours.h"
#include "tests/support/process.h"

namespace gpuward::support {
namespace {

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

KubernetesParts find_kubernetes_parts() {
  const auto folder = folder_of(kKubernetes);
  KubernetesParts parts;
  parts.etcd = find_program((folder / "etcd").string());
  const std::string given = from_environment("KUBE_APISERVER");
  parts.apiserver = find_program(given.empty() ? (folder / "kube-apiserver").string() : given);
  parts.controller_manager = find_program((folder / "kube-controller-manager").string());
  parts.scheduler = find_program((folder / "kube-scheduler").string());
  return parts;
}

std::vector<std::string> etcd_command(const KubernetesParts& parts,
                                      const ControlPlaneLayout& layout) {
  const std::string client = "http://127.0.0.1:" + std::to_string(layout.etcd_port);
  const std::string peer = "http://127.0.0.1:" + std::to_string(layout.etcd_peer_port);
  return {parts.etcd.string(),
          "--data-dir=" + (layout.folder / "etcd").string(),
          "--listen-client-urls=" + client,
          "--advertise-client-urls=" + client,
          "--listen-peer-urls=" + peer,
          "--initial-advertise-peer-urls=" + peer,
          "--initial-cluster=default=" + peer,
          "--log-level=error"};
}

std::vector<std::string> apiserver_command(const KubernetesParts& parts,
                                           const ControlPlaneLayout& layout) {
  const auto in_folder = [&layout](const char* name) { return (layout.folder / name).string(); };
  const std::string port = std::to_string(layout.api_port);
  return {parts.apiserver.string(),
          "--etcd-servers=http://127.0.0.1:" + std::to_string(layout.etcd_port),
          "--bind-address=127.0.0.1", "--secure-port=" + port, "--cert-dir=" + in_folder("certs"),
          "--service-cluster-ip-range=10.0.0.0/24", "--allow-privileged=true",
          "--disable-admission-plugins=ServiceAccount", "--endpoint-reconciler-type=none",
          "--service-account-issuer=https://127.0.0.1:" + port + "/",
          "--service-account-key-file=" + in_folder("sa.pub"),
          "--service-account-signing-key-file=" + in_folder("sa.key"),
          "--token-auth-file=" + in_folder("tokens.csv"), "--authorization-mode=RBAC",
          // Terminates at once: a test's server needs no drain.
          "--shutdown-delay-duration=0s"};
}

std::vector<std::string> controller_manager_command(const KubernetesParts& parts,
                                                    const std::filesystem::path& kubeconfig) {
  return {parts.controller_manager.string(),
          "--kubeconfig=" + kubeconfig.string(),
          "--authentication-kubeconfig=" + kubeconfig.string(),
          "--authorization-kubeconfig=" + kubeconfig.string(),
          "--bind-address=127.0.0.1",
          "--secure-port=0",
          "--leader-elect=false",
          "--use-service-account-credentials=false",
          "--controllers=disruption-controller,node-lifecycle-controller,taint-eviction-controller,"
          "pod-garbage-collector-controller,garbage-collector-controller,job-controller,"
          "replicaset-controller"};
}

std::vector<std::string> scheduler_command(const KubernetesParts& parts,
                                           const std::filesystem::path& kubeconfig) {
  return {parts.scheduler.string(),
          "--kubeconfig=" + kubeconfig.string(),
          "--authentication-kubeconfig=" + kubeconfig.string(),
          "--authorization-kubeconfig=" + kubeconfig.string(),
          "--bind-address=127.0.0.1",
          "--secure-port=0",
          "--leader-elect=false"};
}

std::string kubeconfig_text(const std::string& server, const std::filesystem::path& ca_file,
                            const std::string& token) {
  std::string text = "apiVersion: v1\nkind: Config\ncurrent-context: test\nclusters:\n";
  text += "- name: test\n  cluster:\n    server: " + server + "\n";
  if (!ca_file.empty()) text += "    certificate-authority: " + ca_file.string() + "\n";
  text += "contexts:\n- name: test\n  context: {cluster: test, user: test}\n";
  text += "users:\n- name: test\n  user: {token: \"" + token + "\"}\n";
  return text;
}

}  // namespace gpuward::support
