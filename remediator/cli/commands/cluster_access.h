// The API server of a gpuwardctl command, once it has answered. Used by cli/ctl/commands.cpp and by
// the commands that only sometimes need one.
#pragma once

#include <memory>
#include <string>

#include "core/kube/api.h"
#include "core/kube/connection.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/cli/commands/command_flags.h"

namespace gpuward::remediator {

class ClusterAccess {
 public:
  // Finds the server in kubectl's order: --kubeconfig, $KUBECONFIG, ~/.kube/config, the account of
  // the pod. kInvalid if none of them names a server. Otherwise it returns within
  // flags.request_timeout an error if the server does not answer or rejects the credential: the
  // message names the server, the source of its name, and what to check. An exec plugin has its own
  // time limit.
  [[nodiscard]] static Result<std::unique_ptr<ClusterAccess>> open(const CommandFlags& flags,
                                                                   Clock& clock);
  [[nodiscard]] kube::Api& api() { return *api_; }
  // Returns the user's name in the kubeconfig; empty if it has none.
  [[nodiscard]] const std::string& user() const { return config_.user; }

 private:
  ClusterAccess(kube::ClusterConfig config, const CommandFlags& flags, Clock& clock);
  [[nodiscard]] Status reach(const CommandFlags& flags);

  const kube::ClusterConfig config_;
  kube::Connection connection_;
  std::unique_ptr<kube::Api> api_;
};

}  // namespace gpuward::remediator
