#include <utility>

#include "core/kube/config.h"
#include "core/kube/exec_credentials.h"
#include "core/kube/token_file.h"
#include "core/runtime/encoding.h"

namespace gpuward::kube {
namespace {

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
