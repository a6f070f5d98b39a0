// A real Kubernetes API on loopback: etcd and kube-apiserver with TLS, tokens and RBAC, in its own
// folder, ready in 5-10 s. Used by the contract tests and the e2e test: start one per test program
// (SetUpTestSuite) and keep it. It has no controllers: a pod bound to a node stays Terminating
// until the test deletes it with grace 0, and the test writes the status of a PodDisruptionBudget.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/http/client/client.h"
#include "core/model/result.h"
#include "tests/support/process.h"

namespace gpuward::support {

// A bearer token and its user; RBAC allows it nothing without a binding.
struct TokenUser {
  std::string token, user;
  std::vector<std::string> groups = {};
};

struct ControlPlaneOptions {
  std::vector<TokenUser> users = {};  // in addition to the admin
  bool controller_manager = false;
  std::vector<std::string> apiserver_flags = {};  // appended; e.g. "--max-requests-inflight=2"
  std::chrono::milliseconds start_limit = std::chrono::seconds(90);
};

class ControlPlane {
 public:
  // Why none can be started on this machine; empty if one can. For GPUWARD_REQUIRE.
  [[nodiscard]] static std::string why_unavailable();
  // The same for ControlPlaneOptions::controller_manager.
  [[nodiscard]] static std::string why_no_controllers();
  // Returns once /readyz is ok and namespace `default` exists; an error contains the end of the
  // log.
  [[nodiscard]] static Result<std::unique_ptr<ControlPlane>> start(
      ControlPlaneOptions options = {});

  ControlPlane(const ControlPlane&) = delete;
  ControlPlane& operator=(const ControlPlane&) = delete;
  ~ControlPlane();

  [[nodiscard]] const std::string& url() const;  // https://127.0.0.1:PORT
  [[nodiscard]] const std::string& ca_pem() const;
  [[nodiscard]] const std::filesystem::path& ca_file() const;
  [[nodiscard]] const std::string& admin_token() const;
  [[nodiscard]] const std::filesystem::path& kubeconfig() const;  // of the admin
  // Writes a kubeconfig for any token and returns its path.
  [[nodiscard]] std::filesystem::path kubeconfig_for(const std::string& token) const;

  // kubectl as the admin; an exit code other than 0 is a value.
  [[nodiscard]] Result<Process::Outcome> kubectl(std::vector<std::string> arguments,
                                                 std::string input = {}) const;
  // `kubectl apply -f` of a file, and of YAML text.
  [[nodiscard]] Status apply(const std::filesystem::path& file) const;
  [[nodiscard]] Status apply_text(const std::string& yaml) const;
  // One request as the admin, without kubectl: path from "/api/...". The content type is that of a
  // JSON object, or of a merge-patch for PATCH.
  [[nodiscard]] Result<http::ClientResponse> request(const std::string& method,
                                                     const std::string& path,
                                                     const std::string& body = {}) const;
  // Writes into etcd without the API server, for fields that the API never accepts, such as an
  // object's age. `key` as "/registry/minions/gpu-01" (the name of nodes there), `json` the whole
  // object.
  [[nodiscard]] Status put_into_store(const std::string& key, const std::string& json) const;

  // take_backup() copies etcd's data, and restore_backup() puts that copy back. Both stop etcd and
  // the API server for some seconds; the servers use the same ports again when the call returns.
  [[nodiscard]] Status take_backup();
  [[nodiscard]] Status restore_backup();

 private:
  class Impl;
  explicit ControlPlane(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace gpuward::support
