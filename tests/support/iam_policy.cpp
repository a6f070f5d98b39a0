#include "tests/support/iam_policy.h"

#include <fnmatch.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace gpuward::support {
namespace {

constexpr std::string_view kTagKey = "aws:ResourceTag/";

// IAM's wildcards are those of the shell, and '/' is nothing special to them.
bool matches(const std::string& pattern, const std::string& text) {
  return ::fnmatch(pattern.c_str(), text.c_str(), FNM_NOESCAPE) == 0;
}

// A string, or a list of them.
std::vector<std::string> texts_of(const Json& value) {
  if (value.is_string()) return {value.get<std::string>()};
  return value.get<std::vector<std::string>>();
}

bool is_any_matched(const Json& patterns, const std::string& text) {
  return std::ranges::any_of(texts_of(patterns),
                             [&](const std::string& pattern) { return matches(pattern, text); });
}

bool meets(const Json& conditions, const IamCall& call) {
  for (const auto& [how, keys] : conditions.items()) {
    if (how != "StringEquals") throw std::invalid_argument("condition " + how);
    for (const auto& [key, wanted] : keys.items()) {
      if (!key.starts_with(kTagKey)) throw std::invalid_argument("condition on " + key);
      const auto tag = call.tags.find(key.substr(kTagKey.size()));
      const auto values = texts_of(wanted);
      if (tag == call.tags.end() || std::ranges::find(values, tag->second) == values.end())
        return false;
    }
  }
  return true;
}

bool allows_by(const Json& statement, const IamCall& call) {
  static const std::set<std::string> kKnown = {"Sid", "Effect", "Action", "Resource", "Condition"};
  for (const auto& [key, value] : statement.items()) {
    if (!kKnown.contains(key)) throw std::invalid_argument("statement with " + key);
  }
  if (statement.at("Effect") != "Allow") throw std::invalid_argument("statement that denies");
  return is_any_matched(statement.at("Action"), call.action) &&
         is_any_matched(statement.at("Resource"), call.resource) &&
         meets(statement.value("Condition", Json::object()), call);
}

}  // namespace

bool allows(const Json& policy, const IamCall& call) {
  bool is_allowed = false;
  for (const Json& statement : policy.at("Statement"))
    is_allowed = allows_by(statement, call) || is_allowed;
  return is_allowed;
}

}  // namespace gpuward::support
