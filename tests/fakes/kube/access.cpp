#include "tests/fakes/kube/access.h"

#include <algorithm>

namespace gpuward::fakes {
namespace {

bool fits(const std::string& pattern, const std::string& text) {
  return pattern.empty() || pattern == text;
}

std::string scope_of(const Target& target) {
  return target.ns.empty() ? "at the cluster scope" : "in the namespace \"" + target.ns + "\"";
}

}  // namespace

void Access::allow_token(const std::string& token, const std::string& user) {
  const std::lock_guard lock(mutex_);
  users_[token] = user;
  asks_for_tokens_ = true;
}

void Access::revoke_token(const std::string& token) {
  const std::lock_guard lock(mutex_);
  users_.erase(token);
}

void Access::deny(const Denial& denial) {
  const std::lock_guard lock(mutex_);
  denials_.push_back(denial);
}

Outcome<std::string> Access::authenticate(std::string_view authorization) const {
  constexpr std::string_view kScheme = "Bearer ";
  const std::lock_guard lock(mutex_);
  if (!asks_for_tokens_) return "anonymous-admin";
  if (!authorization.starts_with(kScheme)) return unauthorized();
  const auto found = users_.find(authorization.substr(kScheme.size()));
  if (found == users_.end()) return unauthorized();
  return found->second;
}

bool Access::is_denied(const std::string& user, const std::string& verb,
                       const std::string& resource) const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(denials_, [&](const Denial& denial) {
    return fits(denial.user, user) && fits(denial.verb, verb) && fits(denial.resource, resource);
  });
}

Json Access::review(const std::string& user, Json question) const {
  const Json& asked = member_at(member_at(question, "spec"), "resourceAttributes");
  const std::string subresource = string_at(asked, "subresource");
  const std::string resource =
      string_at(asked, "resource") + (subresource.empty() ? "" : "/" + subresource);
  question["status"] = {{"allowed", !is_denied(user, string_at(asked, "verb"), resource)}};
  return question;
}

Check Access::authorize(const std::string& user, const std::string& verb,
                        const Target& target) const {
  const Resource& resource = *target.resource;
  const std::string name =
      target.subresource.empty() ? resource.plural : resource.plural + "/" + target.subresource;
  if (!is_denied(user, verb, name)) return {};
  const std::string qualified =
      resource.group.empty() ? resource.plural : resource.plural + "." + resource.group;
  const std::string subject =
      target.name.empty() ? qualified : qualified + " \"" + target.name + "\"";
  Json details = {{"kind", resource.plural}};
  if (!target.name.empty()) details["name"] = target.name;
  if (!resource.group.empty()) details["group"] = resource.group;
  return std::unexpected(Failure{403, "Forbidden",
                                 subject + " is forbidden: User \"" + user + "\" cannot " + verb +
                                     " resource \"" + name + "\" in API group \"" + resource.group +
                                     "\" " + scope_of(target),
                                 std::move(details)});
}

}  // namespace gpuward::fakes
