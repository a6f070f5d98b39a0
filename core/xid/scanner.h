// Reads a message from left to right in pieces, without copying; the line parsers use it. Private
// to core/xid.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace gpuward::xid {

[[nodiscard]] constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
[[nodiscard]] constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
// The characters in the names of the kernel's functions and enumerators.
[[nodiscard]] constexpr bool is_identifier(char c) {
  return is_letter(c) || is_digit(c) || c == '_';
}

class Scanner {
 public:
  explicit constexpr Scanner(std::string_view text) : text_(text) {}

  [[nodiscard]] constexpr std::string_view rest() const { return text_; }
  [[nodiscard]] constexpr bool at_end() const { return text_.empty(); }
  [[nodiscard]] constexpr bool sees(std::string_view literal) const {
    return text_.starts_with(literal);
  }

  // Skips `literal` if the text begins with it.
  constexpr bool take(std::string_view literal) {
    if (!text_.starts_with(literal)) return false;
    text_.remove_prefix(literal.size());
    return true;
  }

  constexpr void skip(std::size_t count) {
    text_.remove_prefix(count < text_.size() ? count : text_.size());
  }
  constexpr void skip_spaces() {
    while (text_.starts_with(' ') || text_.starts_with('\t')) text_.remove_prefix(1);
  }

  template <typename Predicate>
  constexpr std::string_view take_while(Predicate predicate) {
    std::size_t size = 0;
    while (size < text_.size() && predicate(text_[size])) ++size;
    return take_first(size);
  }

  // Takes the text up to `mark`, or all of it; the mark stays.
  constexpr std::string_view take_until(char mark) { return take_first(text_.find(mark)); }
  constexpr std::string_view take_until(std::string_view mark) {
    return take_first(text_.find(mark));
  }

  // Takes a number in `base`; takes nothing if there is none or it does not fit.
  template <typename T>
  std::optional<T> take_number(int base = 10) {
    T value{};
    const auto [end, error] =
        std::from_chars(text_.data(), text_.data() + text_.size(), value, base);
    if (error != std::errc{}) return std::nullopt;
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    return value;
  }

 private:
  constexpr std::string_view take_first(std::size_t size) {
    const auto taken = text_.substr(0, size);
    text_.remove_prefix(taken.size());
    return taken;
  }

  std::string_view text_;
};

}  // namespace gpuward::xid
