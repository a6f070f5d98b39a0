// The API server that a command of gpuwardctl asks, once it has answered. Used by ctl/commands.cpp
// and by the commands that need it only sometimes.
#pragma once

#include <memory>
#include <string>

#include "core/kube/api.h"
#include "core/kube/connection.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/commands/command_flags.h"

namespace gpuward::remediator {

class ClusterAccess {
 public:
  // In kubectl's order: --kubeconfig, $KUBECONFIG, ~/.kube/config, the account of the pod. kInvalid
  // where none says which server; else, within flags.request_timeout, why it does not answer or
  // does not take the credential: the message names the server, where its name is from, and what to
  // check. An exec plugin has its own time.
  [[nodiscard]] static Result<std::unique_ptr<ClusterAccess>> open(const CommandFlags& flags,
                                                                   Clock& clock);
  [[nodiscard]] kube::Api& api() { return *api_; }
  // As the kubeconfig calls who we are; empty where it does not say.
  [[nodiscard]] const std::string& user() const { return config_.user; }

 private:
  ClusterAccess(kube::ClusterConfig config, const CommandFlags& flags, Clock& clock);
  [[nodiscard]] Status reach(const CommandFlags& flags);

  const kube::ClusterConfig config_;
  kube::Connection connection_;
  std::unique_ptr<kube::Api> api_;
};

}  // namespace gpuward::remediator
