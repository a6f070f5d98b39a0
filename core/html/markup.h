// HTML that is safe by its type: any text that is not built here is escaped. Pure. Used by the
// pages of both programs.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace gpuward::html {

class Markup {
 public:
  Markup() = default;
  // Text, not HTML. Implicit, so that text is escaped by default. Control characters except line
  // ends and tabs are shown as escapes (is_control_character).
  Markup(std::string_view text);                                       // NOLINT(*-explicit-*)
  Markup(const std::string& text) : Markup(std::string_view(text)) {}  // NOLINT(*-explicit-*)
  Markup(const char* text) : Markup(std::string_view(text)) {}         // NOLINT(*-explicit-*)
  // HTML that is part of the program.
  [[nodiscard]] static Markup trusted(std::string_view html);

  Markup& operator+=(const Markup& next);
  [[nodiscard]] const std::string& html() const { return html_; }
  [[nodiscard]] bool empty() const { return html_.empty(); }

 private:
  friend Markup element(std::string_view, std::initializer_list<struct Attribute>,
                        std::initializer_list<Markup>);
  std::string html_;
};

// The value is text, which is escaped.
struct Attribute {
  std::string_view name;
  std::string value = {};
};

// <tag name="value">children</tag>. Tag and names are the program's own.
[[nodiscard]] Markup element(std::string_view tag, std::initializer_list<Attribute> attributes,
                             std::initializer_list<Markup> children);
[[nodiscard]] inline Markup element(std::string_view tag, std::initializer_list<Markup> children) {
  return element(tag, {}, children);
}
[[nodiscard]] Markup link(std::string address, const Markup& what);

}  // namespace gpuward::html
