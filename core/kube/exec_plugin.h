// Obtains credentials from a kubeconfig's exec plugin. Facts: client-go
// plugin/pkg/client/auth/exec/exec.go. Inside core/kube only. Blocks for at most kExecTimeout of
// `clock`.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "core/kube/config.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"

namespace gpuward::kube {

inline constexpr std::chrono::seconds kExecTimeout{60};

struct ExecCredential {
  std::string token;              // empty if the certificate is the credential
  ClientCertificate certificate;  // PEM
  std::optional<Clock::Wall> expires;
};

// Returns the value of KUBERNETES_EXEC_INFO for the plugin.
[[nodiscard]] std::string exec_info(const ClusterConfig& config, const ExecPlugin& plugin);

// Reads the plugin's output; errors never quote it, because it is a secret.
[[nodiscard]] Result<ExecCredential> read_exec_credential(std::string_view output,
                                                          const ExecPlugin& plugin);

// Runs the plugin (without a shell or a terminal) and reads its output. kTimeout: its process group
// was killed.
[[nodiscard]] Result<ExecCredential> run_exec_plugin(const ClusterConfig& config,
                                                     const ExecPlugin& plugin, Clock& clock);

// Credentials from an exec plugin, obtained once and kept until they expire or are refused.
class ExecCredentials final : public Credentials {
 public:
  ExecCredentials(const ClusterConfig& config, Clock& clock);
  // Callers wait while the plugin runs. Renews the credential 30 s before it expires. After a
  // failure the plugin is not run again for 5 s; a failure while the old credential is valid is
  // ignored.
  Result<std::string> authorization() override;
  Result<ClientCertificate> client_certificate() override;
  // Drops the credential, so that the next call runs the plugin again. Keeps one that is younger
  // than 5 s: the plugin would return the same one.
  void reject(const std::string& authorization) override;

 private:
  Status refresh();  // with the mutex held
  [[nodiscard]] bool is_due() const;
  [[nodiscard]] bool still_holds() const;

  const ClusterConfig config_;
  Clock& clock_;
  std::mutex mutex_;
  std::optional<ExecCredential> credential_;
  std::optional<Clock::Wall> renew_at_;
  Clock::Steady asked_at_{};
  std::optional<Error> failure_;  // of the last run
};

}  // namespace gpuward::kube
