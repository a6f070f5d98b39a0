#include <filesystem>
#include <mutex>
#include <string>
#include <utility>

#include "core/kube/config.h"
#include "core/kube/exec_plugin.h"
#include "core/runtime/encoding.h"
#include "core/runtime/files.h"
#include "core/runtime/text.h"

namespace gpuward::kube {
namespace {

// A token from a file that another program renews, as the kubelet does for a service account.
// Inside core/kube only.

class TokenFileCredentials final : public Credentials {
 public:
  TokenFileCredentials(std::filesystem::path path, Clock& clock);
  // Reads the file again every 30 s (a projected token may live 10 minutes) and after a rejection.
  // If a read fails, the last token stays in use; an error only if there never was one.
  Result<std::string> authorization() override;
  void reject(const std::string& authorization) override;

 private:
  Status read();

  const std::filesystem::path path_;
  Clock& clock_;
  std::mutex mutex_;
  std::string authorization_;
  Clock::Steady read_again_at_{};
};

constexpr std::chrono::seconds kBetweenReads{30};
constexpr std::size_t kLargestToken = 64U << 10U;

TokenFileCredentials::TokenFileCredentials(std::filesystem::path path, Clock& clock)
    : path_(std::move(path)), clock_(clock) {}

Result<std::string> TokenFileCredentials::authorization() {
  const std::lock_guard lock(mutex_);
  if (authorization_.empty() || clock_.steady() >= read_again_at_) {
    const auto done = read();
    if (!done && authorization_.empty()) return std::unexpected(done.error());
    read_again_at_ = clock_.steady() + kBetweenReads;
  }
  return authorization_;
}

void TokenFileCredentials::reject(const std::string& authorization) {
  const std::lock_guard lock(mutex_);
  if (authorization == authorization_) read_again_at_ = clock_.steady();
}

Status TokenFileCredentials::read() {
  const auto content = read_file(path_, kLargestToken);
  if (!content) return with_context("token file", content.error());
  const std::string token(trim(*content));
  if (token.empty()) return fail(ErrorKind::kInvalid, "token file " + path_.string() + " is empty");
  if (token.find_first_of("\r\n") != std::string::npos) {
    return fail(ErrorKind::kInvalid,
                "token file " + path_.string() + " contains more than one line");
  }
  authorization_ = "Bearer " + token;
  return {};
}

// A header that never changes: a token, a password, or none at all.
class FixedCredentials final : public Credentials {
 public:
  explicit FixedCredentials(std::string authorization) : authorization_(std::move(authorization)) {}
  Result<std::string> authorization() override { return authorization_; }
  void reject(const std::string& /*authorization*/) override {}

 private:
  const std::string authorization_;
};

}  // namespace

std::unique_ptr<Credentials> make_credentials(const ClusterConfig& config, Clock& clock) {
  if (config.exec) return std::make_unique<ExecCredentials>(config, clock);
  if (!config.token_file.empty())
    return std::make_unique<TokenFileCredentials>(config.token_file, clock);
  if (!config.token.empty()) return std::make_unique<FixedCredentials>("Bearer " + config.token);
  if (!config.username.empty()) {
    return std::make_unique<FixedCredentials>(
        "Basic " + encode_base64(config.username + ":" + config.password));
  }
  return std::make_unique<FixedCredentials>("");
}

}  // namespace gpuward::kube
