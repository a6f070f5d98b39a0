// Access rules of the fake: bearer tokens, and a list of denials by user.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fakes/kube/failure.h"
#include "tests/fakes/kube/target.h"

namespace gpuward::fakes {

// Empty fields match anything. `resource` is "nodes", "nodes/status", "pods/eviction".
struct Denial {
  std::string user, verb, resource;
};

class Access {
 public:
  // Without any token every client is the user "anonymous-admin" and may do everything that is not
  // denied.
  void allow_token(const std::string& token, const std::string& user);
  void revoke_token(const std::string& token);
  void deny(const Denial& denial);

  // The user, or 401.
  [[nodiscard]] Outcome<std::string> authenticate(std::string_view authorization) const;
  // 403 with the text of RBAC. `verb` is get, list, watch, create, update, patch or delete.
  [[nodiscard]] Check authorize(const std::string& user, const std::string& verb,
                                const Target& target) const;
  // The SelfSubjectAccessReview with its answer.
  [[nodiscard]] Json review(const std::string& user, Json question) const;

 private:
  [[nodiscard]] bool is_denied(const std::string& user, const std::string& verb,
                               const std::string& resource) const;
  mutable std::mutex mutex_;
  std::map<std::string, std::string, std::less<>> users_;
  bool asks_for_tokens_ = false;
  std::vector<Denial> denials_;
};

}  // namespace gpuward::fakes
