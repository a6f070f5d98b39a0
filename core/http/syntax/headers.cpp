#include "core/http/syntax/headers.h"

#include <algorithm>

#include "core/runtime/text.h"

namespace gpuward::http {
namespace {

char lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + ('a' - 'A')) : letter;
}

}  // namespace

bool same_name(std::string_view left, std::string_view right) {
  return std::ranges::equal(left, right, {}, lower, lower);
}

const std::string* find_header(const HeaderList& headers, std::string_view name) {
  const auto found = std::ranges::find_if(
      headers, [name](const auto& header) { return same_name(header.first, name); });
  return found == headers.end() ? nullptr : &found->second;
}

std::string_view header_value(const HeaderList& headers, std::string_view name) {
  const std::string* value = find_header(headers, name);
  return value == nullptr ? std::string_view{} : *value;
}

std::size_t count_headers(const HeaderList& headers, std::string_view name) {
  return static_cast<std::size_t>(std::ranges::count_if(
      headers, [name](const auto& header) { return same_name(header.first, name); }));
}

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::string_view item = list.substr(0, list.find(','));
    list.remove_prefix(std::min(item.size() + 1, list.size()));
    if (same_name(trim(item), word)) return true;
  }
  return false;
}

bool is_field_text(std::string_view text) {
  return std::ranges::none_of(text, [](char c) { return c == '\r' || c == '\n' || c == '\0'; });
}

}  // namespace gpuward::http
