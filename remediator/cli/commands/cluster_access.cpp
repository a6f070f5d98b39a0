#include "remediator/cli/commands/cluster_access.h"

#include <string>
#include <utility>

#include "core/kube/config.h"

namespace gpuward::remediator {
namespace {

// After its first answer, the server has this many times flags.request_timeout for a request.
constexpr int kPatience = 5;

Result<kube::ClusterConfig> find_cluster(const CommandFlags& flags) {
  auto config = kube::load_kubeconfig(flags.kubeconfig, flags.context);
  const bool is_named = !flags.kubeconfig.empty() || !flags.context.empty();
  if (config || is_named || config.error().kind != ErrorKind::kNotFound) return config;
  auto own = kube::load_in_cluster();
  if (own || own.error().kind != ErrorKind::kNotFound) return own;
  return fail(ErrorKind::kInvalid, "no cluster to connect to: " + config.error().message +
                                       "; outside a pod, set --kubeconfig");
}

Error unreachable(const kube::ClusterConfig& config, const CommandFlags& flags, Error error) {
  const std::string server = "API server " + config.server + " (" + config.origin + ") ";
  if (error.kind == ErrorKind::kUnauthenticated) {
    error.message =
        server + "refuses the credential: " + error.message +
        ". Check that it has not expired (log in again) and that the context is right (--context).";
    return error;
  }
  if (error.kind == ErrorKind::kInternal) {
    error.message = "the server at " + config.server + " (" + config.origin +
                    ") is not a Kubernetes API server: " + error.message +
                    ". Check `server` in that context.";
    return error;
  }
  const bool is_late = error.kind == ErrorKind::kTimeout;
  error.message =
      server + "does not answer: " + error.message +
      ". Check that this machine can reach it (network, VPN) and that the context is right "
      "(--context).";
  if (is_late) {
    error.message += " To wait longer than " + std::to_string(flags.request_timeout.count()) +
                     " ms, set --request-timeout";
  }
  return error;
}

// Works like kubectl's --as and --as-group.
http::HeaderList impersonation(const CommandFlags& flags) {
  http::HeaderList headers;
  if (!flags.as_user.empty()) headers.emplace_back("Impersonate-User", flags.as_user);
  for (const std::string& group : flags.as_groups) headers.emplace_back("Impersonate-Group", group);
  return headers;
}

}  // namespace

Result<std::unique_ptr<ClusterAccess>> ClusterAccess::open(const CommandFlags& flags,
                                                           Clock& clock) {
  auto config = find_cluster(flags);
  if (!config) return fail(ErrorKind::kInvalid, config.error().message);
  std::unique_ptr<ClusterAccess> access(new ClusterAccess(*std::move(config), flags, clock));
  if (auto reached = access->reach(flags); !reached) return std::unexpected(reached.error());
  return access;
}

ClusterAccess::ClusterAccess(kube::ClusterConfig config, const CommandFlags& flags, Clock& clock)
    : config_(std::move(config)),
      connection_(config_, "gpuwardctl/" GPUWARD_VERSION, clock, impersonation(flags)) {
  const auto limit = kPatience * flags.request_timeout;
  api_ = connection_.make_api({.request = limit, .with_retries = limit}, {});
}

Status ClusterAccess::reach(const CommandFlags& flags) {
  if (auto known = connection_.log_in(); !known)
    return with_context("the credential of " + config_.origin, known.error());
  const auto limit = flags.request_timeout;
  const auto answered =
      connection_.make_api({.request = limit, .with_retries = limit, .ends_program = true}, {})
          ->answers();
  if (answered) return {};
  // This is also an answer, from a server that does not show its version.
  const ErrorKind kind = answered.error().kind;
  if (kind == ErrorKind::kForbidden || kind == ErrorKind::kNotFound) return {};
  return std::unexpected(unreachable(config_, flags, answered.error()));
}

}  // namespace gpuward::remediator
