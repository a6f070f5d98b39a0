#include "remediator/policy/message_template.h"

#include <algorithm>
#include <array>
#include <optional>

#include "core/runtime/text.h"

namespace gpuward::remediator {
namespace {

constexpr std::string_view kOpenBraces = "{{";
constexpr std::string_view kCloseBraces = "}}";
// The fields of a notification (notify/event).
constexpr std::array<std::string_view, 14> kPlaceholders{
    "cluster_name", "error_details", "error_type",  "instance_id", "message",  "mode", "moment",
    "node_name",    "phase",         "remediation", "runbook",     "severity", "step", "timestamp"};

bool is_placeholder(std::string_view name) {
  return std::ranges::find(kPlaceholders, name) != kPlaceholders.end();
}

std::string all_placeholders() {
  std::string text;
  for (const std::string_view name : kPlaceholders) {
    text += (text.empty() ? "" : ", ") + std::string(name);
  }
  return text;
}

// Returns the name between the braces, with which `rest` begins, and moves `rest` behind them.
std::optional<std::string_view> take_placeholder(std::string_view& rest) {
  const auto close = rest.find(kCloseBraces);
  if (close == std::string_view::npos) return std::nullopt;
  const std::string_view name = trim(rest.substr(kOpenBraces.size(), close - kOpenBraces.size()));
  rest.remove_prefix(close + kCloseBraces.size());
  return name;
}

}  // namespace

Status check_template(std::string_view text) {
  for (auto open = text.find(kOpenBraces); open != std::string_view::npos;
       open = text.find(kOpenBraces)) {
    text.remove_prefix(open);
    const auto name = take_placeholder(text);
    if (!name) return fail(ErrorKind::kInvalid, "has a {{ without }}");
    if (!is_placeholder(*name)) {
      return fail(ErrorKind::kInvalid,
                  "has an unknown placeholder; valid placeholders: " + all_placeholders());
    }
  }
  return {};
}

std::string fill_template(std::string_view text,
                          const std::function<std::string(std::string_view)>& value_of) {
  std::string filled;
  for (auto open = text.find(kOpenBraces); open != std::string_view::npos;
       open = text.find(kOpenBraces)) {
    filled += text.substr(0, open);
    text.remove_prefix(open);
    const auto name = take_placeholder(text);
    if (!name) break;
    filled += value_of(*name);
  }
  return filled += text;
}

}  // namespace gpuward::remediator
