#include "core/http/server/bearer_tokens.h"

#include <algorithm>
#include <utility>

#include "core/runtime/files.h"
#include "core/runtime/text.h"

namespace gpuward::http {
namespace {

constexpr std::size_t kMinTokenLength = 16;
constexpr std::size_t kMaxTokenLength = 4096;

Status check_token(std::string_view token) {
  if (token.size() < kMinTokenLength || token.size() > kMaxTokenLength) {
    return fail(ErrorKind::kInvalid, "the token has " + std::to_string(token.size()) +
                                         " characters; it must have 16 to 4096");
  }
  const bool is_visible = std::ranges::all_of(token, [](char c) { return c > ' ' && c < 0x7F; });
  if (!is_visible)
    return fail(ErrorKind::kInvalid, "a token may contain only visible ASCII characters");
  return {};
}

Status append_tokens(const std::string& file, std::vector<Digest>& tokens) {
  const auto content = read_file(file);
  if (!content) return with_context("bearer token file", content.error());
  std::string_view rest = *content;
  const std::size_t before = tokens.size();
  for (int line = 1; !rest.empty(); ++line) {
    const std::string_view text = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(text.size() + 1, rest.size()));
    const std::string_view token = trim(text);
    if (token.empty()) continue;
    if (auto status = check_token(token); !status) {
      return with_context("bearer token file " + file + ":" + std::to_string(line), status.error());
    }
    tokens.push_back(digest_of(token));
  }
  if (tokens.size() > before) return {};
  return fail(ErrorKind::kInvalid,
              "bearer token file " + file + ": contains no token; put one token on each line");
}

Result<std::vector<Digest>> read_all(const std::vector<std::string>& files) {
  std::vector<Digest> tokens;
  for (const std::string& file : files) {
    if (auto status = append_tokens(file, tokens); !status) {
      return std::unexpected(status.error());
    }
  }
  return tokens;
}

}  // namespace

Result<std::unique_ptr<BearerTokens>> BearerTokens::load(const std::vector<std::string>& files,
                                                         OnProblem on_problem) {
  std::unique_ptr<BearerTokens> tokens(new BearerTokens(files, std::move(on_problem)));
  auto accepted = read_all(files);
  if (!accepted) return std::unexpected(accepted.error());
  tokens->accepted_ = std::move(*accepted);
  return tokens;
}

bool BearerTokens::contains(std::string_view token) {
  const Digest offered = digest_of(token);
  reload_if_changed();
  const std::lock_guard lock(mutex_);
  bool found = false;
  for (const Digest& accepted : accepted_) {
    found = equal_in_constant_time(offered, accepted) || found;
  }
  return found;
}

void BearerTokens::reload_if_changed() {
  Status reloaded;
  {
    const std::lock_guard lock(mutex_);
    reloaded = reload_.reload_if_due([this]() -> Status {
      auto accepted = read_all(files_);
      if (!accepted) return std::unexpected(accepted.error());
      accepted_ = std::move(*accepted);
      return {};
    });
  }
  if (!reloaded && on_problem_) on_problem_(reloaded.error().message);
}

}  // namespace gpuward::http
