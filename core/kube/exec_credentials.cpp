#include "core/kube/exec_credentials.h"

#include <algorithm>
#include <utility>

namespace gpuward::kube {
namespace {

constexpr std::chrono::seconds kLeeway{30};
constexpr std::chrono::seconds kBetweenRuns{5};

// Before the end, but never before half of the life: a credential of 20 s must not be renewed for
// every request.
std::optional<Clock::Wall> renewal_of(const ExecCredential& credential, Clock::Wall now) {
  if (!credential.expires) return std::nullopt;  // until a 401
  const Clock::Wall expires = *credential.expires;
  if (expires <= now) return expires;
  return std::max(expires - kLeeway, now + (expires - now) / 2);
}

}  // namespace

ExecCredentials::ExecCredentials(const ClusterConfig& config, Clock& clock)
    : config_(config), clock_(clock) {}

Result<std::string> ExecCredentials::authorization() {
  const std::lock_guard lock(mutex_);
  if (auto done = refresh(); !done) return std::unexpected(std::move(done.error()));
  return credential_->token.empty() ? std::string() : "Bearer " + credential_->token;
}

Result<ClientCertificate> ExecCredentials::client_certificate() {
  const std::lock_guard lock(mutex_);
  if (auto done = refresh(); !done) return std::unexpected(std::move(done.error()));
  return credential_->certificate;
}

void ExecCredentials::reject(const std::string& authorization) {
  const std::lock_guard lock(mutex_);
  if (!credential_ || clock_.steady() - asked_at_ < kBetweenRuns) return;
  const std::string current =
      credential_->token.empty() ? std::string() : "Bearer " + credential_->token;
  if (authorization == current) credential_.reset();
}

Status ExecCredentials::refresh() {
  if (!is_due()) return {};
  if (!failure_ || clock_.steady() - asked_at_ >= kBetweenRuns) {
    auto fresh = run_exec_plugin(config_, *config_.exec, clock_);
    asked_at_ = clock_.steady();
    if (fresh) {
      failure_.reset();
      credential_ = std::move(*fresh);
      renew_at_ = renewal_of(*credential_, clock_.wall());
      return {};
    }
    failure_ = std::move(fresh.error());
  }
  if (still_holds()) return {};
  return std::unexpected(*failure_);
}

bool ExecCredentials::is_due() const {
  return !credential_ || (renew_at_ && clock_.wall() >= *renew_at_);
}

bool ExecCredentials::still_holds() const {
  return credential_ && credential_->expires && clock_.wall() < *credential_->expires;
}

}  // namespace gpuward::kube
