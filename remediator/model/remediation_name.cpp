#include "remediator/model/remediation_name.h"

#include <cctype>

#include "core/runtime/text.h"

namespace gpuward::remediator {
namespace {

// 253, the limit for a resource's name, less hash, count and dashes.
constexpr std::size_t kMaxNodePart = 230;
constexpr std::size_t kMaxLabelValue = 63;

bool is_label_value(std::string_view text) {
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  if (text.empty() || text.size() > kMaxLabelValue) return false;
  if (!is_word(text.front()) || !is_word(text.back())) return false;
  for (const char c : text) {
    if (!is_word(c) && c != '-' && c != '_' && c != '.') return false;
  }
  return true;
}

}  // namespace

std::string remediation_name(std::string_view node, std::string_view node_uid, int n) {
  std::string_view part = node.substr(0, kMaxNodePart);
  while (part.ends_with('-') || part.ends_with('.')) part.remove_suffix(1);
  return std::string(part) + "-" + short_hash(node_uid) + "-" + std::to_string(n);
}

int count_in(std::string_view name) {
  const auto dash = name.rfind('-');
  if (dash == std::string_view::npos) return 0;
  return parse_integer<int>(name.substr(dash + 1)).value_or(0);
}

std::string to_label_value(std::string_view text) {
  return is_label_value(text) ? std::string(text) : "hash-" + short_hash(text);
}

}  // namespace gpuward::remediator
