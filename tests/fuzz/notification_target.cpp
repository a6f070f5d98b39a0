// Bodies of Alertmanager's webhook and answers of its API. Reading them element by element must
// give the same as reading the whole document.
#include <string>
#include <vector>

#include "core/runtime/json.h"
#include "remediator/inbox/sources/alertmanager_alerts.h"
#include "tests/fuzz/target.h"

namespace gpuward::fuzz {
namespace {

constexpr JsonLimits kLimits{
    .max_depth = 8, .max_values = 500, .max_members = 50, .max_token_bytes = 300};

// The part of a value that the reader keeps: its objects down to `levels`, without the content of
// arrays.
Json kept_of(const Json& value, int levels) {
  if (value.is_array()) return Json::array();
  if (!value.is_object()) return value;
  Json kept = Json::object();
  if (levels == 0) return kept;
  for (const auto& [key, member] : value.items()) kept[key] = kept_of(member, levels - 1);
  return kept;
}

void check_list(std::string_view input, std::string_view key) {
  const auto whole = parse_json(input, kLimits);
  std::vector<Json> elements;
  const auto root = parse_json_list(
      input, kLimits,
      {.key = key, .on_element = [&](const Json& element) { elements.push_back(element); }});
  hold(whole.has_value() == root.has_value(), "both readers accept it, or both refuse it");
  if (!whole) {
    hold(whole.error().message == root.error().message, "both give the same error");
    return;
  }
  hold(*root == kept_of(*whole, 1), "the root is that of the document");
  const Json& list = key.empty() ? *whole : member_at(*whole, key);
  const Json none = Json::array();
  const Json& expected = list.is_array() ? list : none;
  hold(elements.size() == expected.size(), "each element is handed over");
  for (std::size_t i = 0; i < elements.size(); ++i)
    hold(elements[i] == kept_of(expected[i], 2), "an element is that of the document");
}

void check_notification(std::string_view input) {
  std::size_t alerts = 0;
  const auto notification =
      remediator::decode_notification(input, {}, [&alerts](const remediator::Alert&) { ++alerts; });
  if (!notification) {
    hold(notification.error().message.size() < 500, "a refusal is short, whatever is refused");
    return;
  }
  const auto whole = parse_json(input);
  hold(whole.has_value(), "an accepted body is JSON");
  hold(member_at(*whole, "alerts").size() == alerts, "each alert is taken");
}

}  // namespace

void check_input(std::string_view input) {
  check_list(input, "alerts");
  check_list(input, "");
  check_notification(input);
  (void)remediator::decode_active_alerts(input);
}

}  // namespace gpuward::fuzz
