#include "tests/unit/fakes/differential.h"

#include <algorithm>
#include <regex>
#include <utility>

#include "tests/support/wait.h"

namespace gpuward::fakes {
namespace {

// Removes fields that differ between any two servers, or that no client of gpuward uses.
void equalise_metadata(Json& metadata) {
  metadata.erase("managedFields");
  for (const char* key : {"uid", "resourceVersion", "creationTimestamp", "deletionTimestamp"}) {
    if (metadata.contains(key) && !metadata[key].is_null())
      metadata[key] = std::string("<") + key + ">";
  }
}

void equalise(Json& value) {
  if (value.is_array()) {
    for (Json& item : value) equalise(item);
  }
  if (!value.is_object()) return;
  if (value.contains("metadata") && value["metadata"].is_object())
    equalise_metadata(value["metadata"]);
  if (value.contains("details") && value["details"].contains("uid"))
    value["details"]["uid"] = "<uid>";
  // A real server validates some updates several times over and repeats itself.
  if (value.contains("causes") && value["causes"].is_array()) {
    Json once = Json::array();
    for (const Json& cause : value["causes"]) {
      if (std::ranges::find(once, cause) == once.end()) once.push_back(cause);
    }
    value["causes"] = std::move(once);
  }
  for (const char* key : {"lastTransitionTime", "timeAdded"}) {
    if (value.contains(key) && !value[key].is_null()) value[key] = "<time>";
  }
  for (Json& member : value) equalise(member);
}

std::string equalised_text(const std::string& text) {
  static const std::regex kUid("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");
  static const std::regex kTime(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)");
  static const std::regex kRevision(R"(in record \(\d+\))");
  return std::regex_replace(
      std::regex_replace(std::regex_replace(text, kUid, "<uid>"), kTime, "<time>"), kRevision,
      "in record (<revision>)");
}

std::string shown(const http::ClientResponse& response, Compare compare) {
  const std::string code = std::to_string(response.status);
  auto body = parse_json(response.body, {.max_depth = 100});
  if (!body) return code + " (not JSON)";
  const bool is_failure =
      string_at(*body, "kind") == "Status" && string_at(*body, "status") == "Failure";
  if (compare == Compare::kCode || (compare == Compare::kOutcome && !is_failure)) {
    return code + (is_failure ? " " + string_at(*body, "reason") : "");
  }
  equalise(*body);
  return code + " " + equalised_text(dump_json(*body));
}

}  // namespace

std::string Player::play(Step step) {
  step.path = filled(step.path);
  step.body = filled(step.body);
  const bool awaits = step.method == "AWAIT";
  if (awaits) step.method = "GET";
  http::ClientResponse response = send_(step);
  if (awaits) {
    (void)support::poll_until([&] {
      response = send_(step);
      return response.status == 200;
    });
  }
  if (const auto body = parse_json(response.body, {.max_depth = 100})) remember(*body);
  return shown(response, step.compare);
}

void Player::remember(const Json& object) {
  const Json& metadata = member_at(object, "metadata");
  const std::string name = string_at(metadata, "name");
  if (name.empty()) return;
  known_["${uid:" + name + "}"] = string_at(metadata, "uid");
  known_["${rv:" + name + "}"] = string_at(metadata, "resourceVersion");
}

std::string Player::filled(std::string text) const {
  for (const auto& [placeholder, value] : known_) {
    for (auto at = text.find(placeholder); at != std::string::npos; at = text.find(placeholder)) {
      text.replace(at, placeholder.size(), value);
    }
  }
  return text;
}

}  // namespace gpuward::fakes
