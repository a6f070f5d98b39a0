// The bearer tokens that a server accepts, from files that are read again when they change: one
// token a line, two lines while one takes over from the other. Used by the authenticator.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/result.h"
#include "core/runtime/digest.h"
#include "core/runtime/files.h"

namespace gpuward::http {

class BearerTokens {
 public:
  using OnProblem = std::function<void(const std::string&)>;

  // Errors name file and line, never a token. A token is 16 to 4096 visible ASCII characters.
  [[nodiscard]] static Result<std::unique_ptr<BearerTokens>> load(
      const std::vector<std::string>& files, OnProblem on_problem);

  // Thread-safe. Takes the same time for every token. A file that has become unreadable or wrong
  // leaves the tokens as they were, is read again at each call, and is reported to on_problem once.
  [[nodiscard]] bool contains(std::string_view token);

 private:
  BearerTokens(const std::vector<std::string>& files, OnProblem on_problem)
      : files_(files), on_problem_(std::move(on_problem)), reload_(files) {}
  void reload_if_changed();

  const std::vector<std::string> files_;
  const OnProblem on_problem_;
  std::mutex mutex_;
  FileReload reload_;             // guarded by mutex_
  std::vector<Digest> accepted_;  // guarded by mutex_
};

}  // namespace gpuward::http
