// Credentials from an exec plugin, asked for once and kept until they end or are refused. Inside
// core/kube only.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "core/kube/config.h"
#include "core/kube/exec_plugin.h"

namespace gpuward::kube {

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
