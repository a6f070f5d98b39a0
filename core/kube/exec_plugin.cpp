#include "core/kube/exec_plugin.h"

#include <algorithm>
#include <utility>

#include "core/runtime/child.h"
#include "core/runtime/encoding.h"
#include "core/runtime/files.h"
#include "core/runtime/json.h"
#include "core/runtime/text.h"

namespace gpuward::kube {
namespace {

constexpr std::chrono::seconds kLeeway{30};
constexpr std::chrono::seconds kBetweenRuns{5};

// Renews before the expiry, but never before half of the lifetime: a credential of 20 s must not be
// renewed for every request.
std::optional<Clock::Wall> renewal_of(const ExecCredential& credential, Clock::Wall now) {
  if (!credential.expires) return std::nullopt;  // until a 401
  const Clock::Wall expires = *credential.expires;
  if (expires <= now) return expires;
  return std::max(expires - kLeeway, now + (expires - now) / 2);
}

constexpr std::size_t kLargestAnswer = 1U << 20U;
constexpr std::size_t kMaxComplaintBytes = 300;

Json cluster_info(const ClusterConfig& config) {
  Json cluster = {{"server", config.server}};
  if (!config.tls.server_name.empty()) cluster["tls-server-name"] = config.tls.server_name;
  if (config.tls.skip_verify) cluster["insecure-skip-tls-verify"] = true;
  std::string ca = config.tls.ca_pem;
  if (ca.empty() && !config.tls.ca_file.empty()) ca = read_file(config.tls.ca_file).value_or("");
  if (!ca.empty()) cluster["certificate-authority-data"] = encode_base64(ca);
  return cluster;
}

std::unexpected<Error> broken(const ExecPlugin& plugin, const std::string& what) {
  return fail(ErrorKind::kUnauthenticated, "exec plugin " + plugin.command + ": " + what);
}

// Quotes the beginning of stderr, never stdout, which may hold a credential.
std::unexpected<Error> failed(const ExecPlugin& plugin, const ChildResult& ended) {
  return fail(ErrorKind::kUnavailable,
              "exec plugin: " + plugin.command + " " + how_it_ended(ended) + ": " +
                  to_valid_utf8(trim(ended.complaint), kMaxComplaintBytes));
}

}  // namespace

std::string exec_info(const ClusterConfig& config, const ExecPlugin& plugin) {
  Json spec = {{"interactive", false}};
  if (plugin.provide_cluster_info) spec["cluster"] = cluster_info(config);
  return dump_json(
      {{"apiVersion", plugin.api_version}, {"kind", "ExecCredential"}, {"spec", spec}});
}

Result<ExecCredential> read_exec_credential(std::string_view output, const ExecPlugin& plugin) {
  const auto answer = parse_json(output);
  if (!answer) return broken(plugin, "its output is not JSON");
  if (string_at(*answer, "kind") != "ExecCredential" ||
      string_at(*answer, "apiVersion") != plugin.api_version) {
    return broken(plugin, "its output is not an ExecCredential of " + plugin.api_version);
  }
  const Json& status = member_at(*answer, "status");
  ExecCredential credential;
  credential.token = string_at(status, "token");
  credential.certificate = {string_at(status, "clientCertificateData"),
                            string_at(status, "clientKeyData")};
  if (credential.certificate.certificate_pem.empty() != credential.certificate.key_pem.empty()) {
    return broken(plugin, "clientCertificateData and clientKeyData must be set together");
  }
  if (credential.token.empty() && credential.certificate.certificate_pem.empty()) {
    return broken(plugin, "its output contains neither a token nor a certificate");
  }
  if (credential.token.find_first_of("\r\n") != std::string::npos)
    return broken(plugin, "its token contains a line break");
  if (const std::string expires = string_at(status, "expirationTimestamp"); !expires.empty()) {
    credential.expires = parse_rfc3339(expires);
    if (!credential.expires) return broken(plugin, "its expirationTimestamp is not RFC 3339");
  }
  return credential;
}

Result<ExecCredential> run_exec_plugin(const ClusterConfig& config, const ExecPlugin& plugin,
                                       Clock& clock) {
  ChildCommand command;
  command.program = plugin.command;
  command.arguments = plugin.args;
  command.environment = plugin.env;
  command.environment["KUBERNETES_EXEC_INFO"] = exec_info(config, plugin);
  command.max_output_bytes = kLargestAnswer;
  command.timeout = kExecTimeout;
  const auto ended = run_child(command, clock);
  if (!ended) {
    Error error = ended.error();
    if (error.kind == ErrorKind::kNotFound && !plugin.install_hint.empty()) {
      error.message += "; " + to_valid_utf8(plugin.install_hint, 512);
    }
    return with_context("exec plugin", std::move(error));
  }
  if (ended->exit_code != 0) return failed(plugin, *ended);
  return read_exec_credential(ended->output, plugin);
}

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
