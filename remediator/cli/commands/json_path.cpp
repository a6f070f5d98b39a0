#include "remediator/cli/commands/json_path.h"

#include <cctype>
#include <cstddef>
#include <optional>

#include "core/runtime/json.h"
#include "core/runtime/text.h"

namespace gpuward::remediator {
namespace {

constexpr std::string_view kNotKnown = "*?@()':,\"{}";

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// Takes `.name` or `[0]` from the beginning of `rest`; nullopt if it begins with anything else.
std::optional<std::string> take_key(std::string_view& rest) {
  if (rest.starts_with('[')) {
    const auto end = rest.find(']');
    const std::string_view index = rest.substr(1, end == std::string_view::npos ? end : end - 1);
    if (end == std::string_view::npos || !parse_integer<std::size_t>(index)) return std::nullopt;
    rest.remove_prefix(end + 1);
    return std::string(index);
  }
  if (!rest.starts_with('.')) return std::nullopt;
  std::string key;
  std::size_t at = 1;
  for (; at < rest.size() && rest[at] != '.' && rest[at] != '['; ++at) {
    const bool is_escaped = rest[at] == '\\' && at + 1 < rest.size();
    if (is_escaped) ++at;
    if (!is_escaped && kNotKnown.contains(rest[at])) return std::nullopt;
    key += rest[at];
  }
  rest.remove_prefix(at);
  return key.empty() ? std::nullopt : std::optional(key);
}

// Returns the digits at the beginning.
std::string_view number_of(std::string_view text) {
  std::size_t size = 0;
  while (size < text.size() && is_digit(text[size])) ++size;
  return text.substr(0, size);
}

std::string_view without_zeros(std::string_view digits) {
  const auto first = digits.find_first_not_of('0');
  return first == std::string_view::npos ? std::string_view() : digits.substr(first);
}

bool is_less_naturally(std::string_view left, std::string_view right) {
  while (!left.empty() && !right.empty()) {
    const std::string_view a = number_of(left), b = number_of(right);
    if (a.empty() || b.empty()) {
      if (left.front() != right.front()) return left.front() < right.front();
      left.remove_prefix(1);
      right.remove_prefix(1);
      continue;
    }
    const std::string_view x = without_zeros(a), y = without_zeros(b);
    if (x.size() != y.size()) return x.size() < y.size();
    if (x != y) return x < y;
    left.remove_prefix(a.size());
    right.remove_prefix(b.size());
  }
  return left.size() < right.size();
}

}  // namespace

Result<JsonPath> JsonPath::parse(std::string_view text) {
  std::string_view inner = trim(text);
  if (inner.starts_with('{') && inner.ends_with('}')) inner = inner.substr(1, inner.size() - 2);
  const std::string dotted =
      (inner.starts_with('.') || inner.starts_with('[') ? "" : ".") + std::string(inner);
  JsonPath path;
  for (std::string_view rest = dotted; !rest.empty();) {
    auto key = take_key(rest);
    if (!key)
      return fail(ErrorKind::kInvalid,
                  "expected a path such as .metadata.name or {.spec.nodeName}");
    path.keys_.push_back(*std::move(key));
  }
  return path;
}

const Json& JsonPath::in(const Json& object) const {
  static const Json kNone;
  const Json* at = &object;
  for (const std::string& key : keys_) {
    if (at->is_array()) {
      const auto index = parse_integer<std::size_t>(key);
      if (!index || *index >= at->size()) return kNone;
      at = &(*at)[*index];
    } else {
      at = &member_at(*at, key);
    }
  }
  return *at;
}

bool is_less(const Json& left, const Json& right) {
  if (left.is_null() || right.is_null()) return left.is_null() && !right.is_null();
  if (left.is_number() && right.is_number()) return left < right;
  const auto text = [](const Json& value) {
    return value.is_string() ? value.get<std::string>() : dump_json(value);
  };
  return is_less_naturally(text(left), text(right));
}

}  // namespace gpuward::remediator
