// Asks a kubeconfig's exec plugin who we are. Facts: client-go plugin/pkg/client/auth/exec/exec.go.
// Inside core/kube only. Blocks for at most kExecTimeout of `clock`.
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
  std::string token;              // empty: the certificate says who we are
  ClientCertificate certificate;  // PEM
  std::optional<Clock::Wall> expires;
};

// What the plugin finds in KUBERNETES_EXEC_INFO.
[[nodiscard]] std::string exec_info(const ClusterConfig& config, const ExecPlugin& plugin);

// The plugin's answer; never quoted in an error, it is a secret.
[[nodiscard]] Result<ExecCredential> read_exec_credential(std::string_view output,
                                                          const ExecPlugin& plugin);

// Runs the plugin (without a shell or a terminal) and reads its answer. kTimeout: its process group
// was killed.
[[nodiscard]] Result<ExecCredential> run_exec_plugin(const ClusterConfig& config,
                                                     const ExecPlugin& plugin, Clock& clock);

// Credentials from an exec plugin, requested once and kept until they expire or are refused.
class ExecCredentials final : public Credentials {
 public:
  ExecCredentials(const ClusterConfig& config, Clock& clock);
  // Whoever comes while the plugin runs waits for its answer. Renewed 30 s before the end. After a
  // failure the plugin is not asked again for 5 s; one that fails while the old credential still
  // holds costs nothing.
  Result<std::string> authorization() override;
  Result<ClientCertificate> client_certificate() override;
  // One that is younger than 5 s stays: the plugin would give the same again.
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
  std::optional<Error> failure_;  // of the last time
};

}  // namespace gpuward::kube
