#include "core/xid/generator/csv.h"

#include <optional>
#include <utility>

namespace gpuward::xid_generator {
namespace {

// Takes one field and the comma behind it off `rest`; nullopt for a quote that does not end.
std::optional<std::string> take_quoted(std::string_view& rest) {
  std::string field;
  rest.remove_prefix(1);
  while (!rest.empty()) {
    const char c = rest.front();
    rest.remove_prefix(1);
    if (c != '"') {
      field += c;
    } else if (rest.starts_with('"')) {
      field += '"';
      rest.remove_prefix(1);
    } else {
      return field;
    }
  }
  return std::nullopt;
}

std::string take_plain(std::string_view& rest) {
  std::string field{rest.substr(0, rest.find(','))};
  rest.remove_prefix(field.size());
  return field;
}

std::optional<std::vector<std::string>> split(std::string_view line) {
  std::vector<std::string> fields;
  while (true) {
    auto field = line.starts_with('"') ? take_quoted(line) : take_plain(line);
    if (!field) return std::nullopt;
    fields.push_back(std::move(*field));
    if (line.empty()) return fields;
    if (line.front() != ',') return std::nullopt;
    line.remove_prefix(1);
  }
}

}  // namespace

std::string at(const Csv& csv, std::size_t line, std::string_view fault) {
  return csv.file + ":" + std::to_string(line) + ": " + std::string{fault};
}

Csv read_csv(std::string file, std::string_view text, Errors& errors) {
  Csv csv{std::move(file), {}};
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    const auto line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (auto fields = split(line); line.empty()) {
      errors.push_back(at(csv, number, "empty line: remove it"));
    } else if (!fields) {
      errors.push_back(at(csv, number, "a quoted field does not end: close it with \""));
    } else {
      csv.rows.push_back({number, std::move(*fields)});
    }
  }
  return csv;
}

}  // namespace gpuward::xid_generator
