#include "exporter/publish/node/results_annotation.h"

#include <algorithm>

#include "core/runtime/clock.h"
#include "core/runtime/json.h"
#include "core/runtime/text.h"
#include "exporter/publish/node/node_keys.h"

namespace gpuward::exporter {
namespace {

constexpr std::size_t kMostAnnotationBytes = 8192;
constexpr std::size_t kMostTextBytes = 256;

// As the suite's result files: a check that found nothing has no severity.
Json line_of(const CheckLine& line) {
  const bool is_clean = line.severity == Severity::kNone;
  return {{"check", to_valid_utf8(line.check, kMostTextBytes)},
          {"status", to_upper(to_string(line.status))},
          {"severity", is_clean ? "" : severity_word(line.severity)}};
}

}  // namespace

std::string results_annotation(const NodeWish& wish, std::string_view node_name) {
  Json checks = Json::array();
  for (const CheckLine& line : wish.checks) checks.push_back(line_of(line));
  Json results = {{"timestamp", to_rfc3339(wish.last_check)},
                  {"hostname", to_valid_utf8(node_name, kMostTextBytes)},
                  {"instance_type", to_valid_utf8(wish.instance_type, kMostTextBytes)},
                  {"status", to_string(wish.status)},
                  {"severity", severity_word(wish.severity)},
                  {"checks", std::move(checks)}};
  std::string text = dump_json(results);
  while (text.size() > kMostAnnotationBytes && !results["checks"].empty()) {
    results["checks"].erase(results["checks"].size() - 1);
    text = dump_json(results);
  }
  return text;
}

}  // namespace gpuward::exporter
