#include "core/html/parts.h"

#include <algorithm>

namespace gpuward::html {
namespace {

std::string_view shape_of(std::string_view severity) {
  if (severity == "isolate") return "■ ";
  if (severity == "reboot") return "▲ ";
  if (severity == "reset") return "◆ ";
  return "● ";
}

Markup head_of(const Column& column) {
  return element("th", {{"scope", "col"}, {"class", column.is_number ? "number" : ""}},
                 {column.head});
}

// A fleet page has thousands of cells: most have no class. On a phone an empty cell has no head.
Markup cell_of(const Column& column, const Markup& content) {
  if (content.empty()) return element("td", {content});
  if (column.is_number)
    return element("td", {{"class", "number"}, {"data-head", column.head}}, {content});
  return element("td", {{"data-head", column.head}}, {content});
}

}  // namespace

Markup severity_mark(std::string_view severity) {
  return element("span", {{"class", "severity " + std::string(severity)}},
                 {shape_of(severity), severity});
}

Markup alarm(const Markup& text) { return element("span", {{"class", "alarm"}}, {"▲ ", text}); }

Markup well(const Markup& text) { return element("span", {{"class", "well"}}, {"✓ ", text}); }

Markup command(std::string_view text) { return element("code", {{"class", "command"}}, {text}); }

Markup note(const Markup& text) { return element("p", {{"class", "empty"}}, {text}); }

Markup table(const std::vector<Column>& columns, const std::vector<std::vector<Markup>>& rows) {
  std::vector<bool> is_shown;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    is_shown.push_back(
        std::ranges::any_of(rows, [i](const std::vector<Markup>& row) { return !row[i].empty(); }));
  }
  Markup heads, body;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (is_shown[i]) heads += head_of(columns[i]);
  }
  for (const std::vector<Markup>& row : rows) {
    Markup cells;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (is_shown[i]) cells += cell_of(columns[i], row[i]);
    }
    body += element("tr", {cells});
  }
  return element("table", {{"class", "rows"}},
                 {element("thead", {element("tr", {heads})}), element("tbody", {body})});
}

Markup facts(const std::vector<std::pair<std::string, Markup>>& pairs) {
  Markup list;
  for (const auto& [name, value] : pairs) {
    if (value.empty()) continue;
    list += element("dt", {name});
    list += element("dd", {value});
  }
  return element("dl", {{"class", "facts"}}, {list});
}

}  // namespace gpuward::html
