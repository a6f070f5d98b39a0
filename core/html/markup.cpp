#include "core/html/markup.h"

#include <utility>

#include "core/runtime/text.h"

namespace gpuward::html {
namespace {

// Shows control characters as escapes, because some reorder or hide the text around them.
void append_escaped(std::string_view text, std::string& html) {
  for (const char c : escaped_lines(text)) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      case '\'':
        html += "&#39;";
        break;
      default:
        html += c;
    }
  }
}

}  // namespace

Markup::Markup(std::string_view text) { append_escaped(text, html_); }

Markup Markup::trusted(std::string_view html) {
  Markup markup;
  markup.html_ = html;
  return markup;
}

Markup& Markup::operator+=(const Markup& next) {
  html_ += next.html_;
  return *this;
}

Markup element(std::string_view tag, std::initializer_list<Attribute> attributes,
               std::initializer_list<Markup> children) {
  Markup made;
  std::string& html = made.html_;
  html.append("<").append(tag);
  for (const Attribute& attribute : attributes) {
    html.append(" ").append(attribute.name).append("=\"");
    append_escaped(attribute.value, html);
    html += '"';
  }
  html += '>';
  for (const Markup& child : children) html += child.html_;
  html.append("</").append(tag).append(">");
  return made;
}

Markup link(std::string address, const Markup& what) {
  return element("a", {{"href", std::move(address)}}, {what});
}

}  // namespace gpuward::html
