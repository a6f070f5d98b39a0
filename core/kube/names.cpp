#include "core/kube/names.h"

#include <chrono>
#include <cstddef>

#include "core/http/syntax/url.h"
#include "core/runtime/clock.h"
#include "core/runtime/text.h"

namespace gpuward::kube {
namespace {

constexpr std::size_t kLongestName = 253;
constexpr std::size_t kLongestLabel = 63;

bool is_lower_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool is_label(std::string_view label) {
  if (label.empty() || label.size() > kLongestLabel) return false;
  if (!is_lower_or_digit(label.front()) || !is_lower_or_digit(label.back())) return false;
  for (const char c : label) {
    if (!is_lower_or_digit(c) && c != '-') return false;
  }
  return true;
}

std::unexpected<Error> refuse(std::string_view name, const std::string& why) {
  return fail(ErrorKind::kInvalid,
              "\"" + to_valid_utf8(name, 64) + "\" is not a valid name: " + why);
}

}  // namespace

Status validate_node_name(std::string_view name) {
  if (name.empty()) return refuse(name, "it is empty");
  if (name.size() > kLongestName) return refuse(name, "it is longer than 253 characters");
  std::string_view rest = name;
  while (true) {
    const std::size_t dot = rest.find('.');
    if (!is_label(rest.substr(0, dot))) {
      return refuse(name,
                    "each part between dots needs 1 to 63 of a-z, 0-9 and inner '-' (RFC 1123)");
    }
    if (dot == std::string_view::npos) return {};
    rest.remove_prefix(dot + 1);
  }
}

Status validate_segment(std::string_view name) {
  if (name.empty()) return refuse(name, "it is empty");
  if (name.size() > kLongestName) return refuse(name, "it is longer than 253 bytes");
  if (name == "." || name == "..") return refuse(name, "'.' and '..' are not allowed");
  if (name.find_first_of("/%") != std::string_view::npos)
    return refuse(name, "'/' and '%' are not allowed");
  return {};
}

std::string percent_encode(std::string_view text) { return http::encode_query_value(text); }

std::string to_micro_time(WallTime time) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(time);
  const auto fraction = std::chrono::floor<std::chrono::microseconds>(time - whole);
  const std::string digits = std::to_string(fraction.count());
  std::string text = to_rfc3339(whole);
  text.pop_back();  // 'Z'
  return text + "." + std::string(6 - digits.size(), '0') + digits + "Z";
}

}  // namespace gpuward::kube
