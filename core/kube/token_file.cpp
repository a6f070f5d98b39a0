#include "core/kube/token_file.h"

#include <utility>

#include "core/runtime/files.h"
#include "core/runtime/text.h"

namespace gpuward::kube {
namespace {

constexpr std::chrono::seconds kBetweenReads{30};
constexpr std::size_t kLargestToken = 64U << 10U;

}  // namespace

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
    return fail(ErrorKind::kInvalid, "token file " + path_.string() + " holds more than one line");
  }
  authorization_ = "Bearer " + token;
  return {};
}

}  // namespace gpuward::kube
