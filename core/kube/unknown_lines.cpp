#include "core/kube/unknown_lines.h"

#include "core/runtime/clock.h"
#include "core/runtime/json.h"
#include "core/runtime/text.h"

namespace gpuward {
namespace {

constexpr std::size_t kLongestLine = 500;

}  // namespace

std::string unknown_lines_text(const std::vector<UnknownKernelLine>& lines) {
  Json json = Json::array();
  for (const UnknownKernelLine& line : lines) {
    json.push_back({{"at", to_rfc3339(line.at)}, {"line", to_valid_utf8(line.text, kLongestLine)}});
  }
  return dump_json(json);
}

std::vector<UnknownKernelLine> unknown_lines_of(const kube::Node& node) {
  const auto found = node.meta.annotations.find(std::string(kUnknownLinesAnnotation));
  if (found == node.meta.annotations.end()) return {};
  const auto json = parse_json(found->second);
  if (!json || !json->is_array()) return {};
  std::vector<UnknownKernelLine> lines;
  for (const Json& one : *json) {
    const auto at = parse_rfc3339(string_at(one, "at"));
    std::string text = string_at(one, "line");
    if (!at || text.empty() || text.size() > kLongestLine) continue;
    lines.push_back({.text = std::move(text), .at = *at});
    if (lines.size() == kMostUnknownLines) break;
  }
  return lines;
}

}  // namespace gpuward
