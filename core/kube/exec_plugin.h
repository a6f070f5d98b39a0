// Asks a kubeconfig's exec plugin who we are. Facts: client-go plugin/pkg/client/auth/exec/exec.go.
// Inside core/kube only. Blocks for at most kExecTimeout of `clock`.
#pragma once

#include <chrono>
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

}  // namespace gpuward::kube
