#include "exporter/checks/dcgm/dcgm_diagnostic.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/model/result.h"
#include "core/runtime/json.h"
#include "core/runtime/text.h"

namespace gpuward::exporter {
namespace {

// Finds the JSON document that a program has written among other things: log lines before it, a
// summary behind it. Pure. Used by the parser of DCGM's diagnostics.

// Log lines may hold braces too; a text that has more than this many places where an object could
// begin is not what we look for.
constexpr int kMostCandidates = 64;

// How many bytes the object that `text` begins with takes, braces within strings not counted; 0
// where `text` does not begin with `{` or the object has no end.
std::size_t json_object_length(std::string_view text) {
  if (!text.starts_with('{')) return 0;
  std::size_t depth = 0;
  bool is_in_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (is_in_string) {
      if (c == '\\') ++at;
      if (c == '"') is_in_string = false;
    } else if (c == '"') {
      is_in_string = true;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      return at + 1;
    }
  }
  return 0;
}

Result<Json> find_json_object(std::string_view text, const JsonLimits& limits,
                              const std::function<bool(const Json&)>& is_wanted) {
  if (text.size() > limits.max_bytes) {
    return fail(ErrorKind::kTooLarge, std::to_string(text.size()) +
                                          " bytes, which is more than the limit of " +
                                          std::to_string(limits.max_bytes) + " bytes");
  }
  Error why{ErrorKind::kNotFound, "no JSON object in it", {}};
  std::size_t at = text.find('{');
  for (int tried = 0; at != std::string_view::npos && tried < kMostCandidates; ++tried) {
    const std::size_t length = json_object_length(text.substr(at));
    if (length == 0) why = {ErrorKind::kInvalid, "truncated: a JSON object is not closed", {}};
    if (length != 0) {
      auto parsed = parse_json(to_valid_utf8(text.substr(at, length), limits.max_bytes), limits);
      if (parsed && is_wanted(*parsed)) return parsed;
      if (!parsed) why = parsed.error();
      if (parsed && why.kind == ErrorKind::kNotFound)
        why.message = "no DCGM diagnostic report found";
      at += parsed ? length - 1 : 0;
    }
    at = text.find('{', at + 1);
  }
  return std::unexpected(std::move(why));
}

constexpr JsonLimits kLimits{.max_bytes = 8U << 20U, .max_depth = 16, .max_values = 500'000};
constexpr std::size_t kMostResults = 20'000;
constexpr std::size_t kMostTextBytes = 512;
constexpr int kMostGpus = 1024;
// DCGM 3 and 4.
constexpr std::array<std::string_view, 2> kRoots{"DCGM Diagnostic", "DCGM GPU Diagnostic"};

std::string short_text(const std::string& text) {
  return to_valid_utf8(trim(text), kMostTextBytes);
}

const Json* root_of(const Json& document) {
  for (const std::string_view name : kRoots) {
    if (const Json& root = member_at(document, name); root.is_object()) return &root;
  }
  return nullptr;
}

std::optional<int> whole(const Json& value) {
  if (value.is_string()) return parse_integer<int>(value.get_ref<const std::string&>());
  if (!value.is_number_integer()) return std::nullopt;
  const auto number = value.get<std::int64_t>();
  return number >= -1'000'000 && number <= 1'000'000 ? std::optional(static_cast<int>(number))
                                                     : std::nullopt;
}

std::optional<int> gpu_number(const Json& value) {
  const auto number = whole(value);
  return number && *number >= 0 && *number < kMostGpus ? number : std::nullopt;
}

// The N of the first "GPU N" in the text.
std::optional<int> gpu_named_in(std::string_view text) {
  constexpr std::string_view kWord = "GPU ";
  for (auto at = text.find(kWord); at != std::string_view::npos; at = text.find(kWord, at + 1)) {
    const std::string_view rest = text.substr(at + kWord.size());
    const auto digits = rest.substr(0, std::min(rest.find_first_not_of("0123456789"), rest.size()));
    if (const auto number = parse_integer<int>(digits); number && *number < kMostGpus)
      return number;
  }
  return std::nullopt;
}

class Reader {
 public:
  explicit Reader(DcgmDiagnostic& report) : report_(report) {}

  void read(const Json& document) {
    const Json* const root = root_of(document);
    if (root == nullptr) return;
    read_facts(document, *root);
    for (const Json& category : member_at(*root, "test_categories")) {
      for (const Json& test : member_at(category, "tests")) {
        read_test(string_at(category, "category"), test);
      }
    }
  }

 private:
  void read_facts(const Json& document, const Json& root) {
    const Json& metadata = member_at(document, "metadata");
    report_.version = string_at(metadata, "version", string_at(root, "version", report_.version));
    report_.driver_version =
        string_at(metadata, "Driver Version Detected", string_at(root, "Driver Version Detected"));
    if (const auto error = string_at(root, "runtime_error"); !error.empty())
      report_.runtime_error = short_text(error);
    for (const Json& group : member_at(document, "entity_groups")) {
      if (string_at(group, "entity_group") == "GPU") read_serials(member_at(group, "entities"));
    }
  }

  void read_serials(const Json& entities) {
    for (const Json& entity : entities) {
      const auto gpu = gpu_number(member_at(entity, "entity_id"));
      const std::string serial = string_at(entity, "serial_num");
      if (gpu && !serial.empty() && !serial.starts_with('<')) report_.serials[*gpu] = serial;
    }
  }

  void read_test(const std::string& category, const Json& test) {
    if (!test.is_object()) return;  // DCGM 3 leaves null where a test was not run
    const std::string name = short_text(string_at(test, "name", "unnamed"));
    const std::size_t first = report_.results.size();
    for (const Json& result : member_at(test, "results")) read_result(category, name, result);
    if (const Json& summary = member_at(test, "test_summary"); summary.is_object())
      read_summary(category, name, summary, first);
  }

  void read_result(const std::string& category, const std::string& name, const Json& result) {
    if (!result.is_object()) return;
    auto read = result_of(category, name, result);
    if (!read) return;
    name_entity(result, *read);
    attribute(*read);
    const std::string list = string_at(result, "gpu_ids");  // "0,1,2,3": what nvvs itself writes
    if (list.empty()) return keep(std::move(*read));
    for (std::size_t at = 0; at <= list.size();) {
      const std::size_t end = std::min(list.find(',', at), list.size());
      DcgmResult one = *read;
      one.gpu = gpu_number(Json(list.substr(at, end - at)));
      attribute(one);
      keep(std::move(one));
      at = end + 1;
    }
  }

  // DCGM 4 sums each test up. It repeats what its results have said; what it alone says concerns
  // the node.
  void read_summary(const std::string& category, const std::string& name, const Json& summary,
                    std::size_t first) {
    auto read = result_of(category, name, summary);
    if (!read) return;
    const auto results = std::span(report_.results).subspan(first);
    std::erase_if(read->warnings, [&](const DcgmWarning& warning) {
      return std::ranges::any_of(results, [&](const DcgmResult& result) {
        return std::ranges::any_of(result.warnings, [&](const DcgmWarning& other) {
          return other.error_id == warning.error_id && other.text == warning.text;
        });
      });
    });
    const bool is_told = std::ranges::any_of(
        results, [&](const DcgmResult& result) { return result.status == read->status; });
    if (!is_told || !read->warnings.empty()) keep(std::move(*read));
  }

  std::optional<DcgmResult> result_of(const std::string& category, const std::string& name,
                                      const Json& json) {
    const std::string status = to_lower(string_at(json, "status"));
    DcgmResult result{category, name, {}, {}, DcgmStatus::kPass, {}};
    if (status == "not run") return std::nullopt;
    if (status == "fail") {
      result.status = DcgmStatus::kFail;
    } else if (status == "warn") {
      result.status = DcgmStatus::kWarn;
    } else if (status == "skip" || status == "skipped") {
      result.status = DcgmStatus::kSkip;
    } else if (status != "pass") {
      riddle(name + ": status '" + status + "'");
      return std::nullopt;
    }
    read_warnings(json, result);
    return result;
  }

  static void read_warnings(const Json& json, DcgmResult& result) {
    const Json& warnings = member_at(json, "warnings");
    if (warnings.is_string()) result.warnings.push_back(warning_of(warnings));
    if (!warnings.is_array()) return;
    for (const Json& warning : warnings) {
      if (!warning.is_null()) result.warnings.push_back(warning_of(warning));
    }
  }

  static DcgmWarning warning_of(const Json& json) {
    DcgmWarning warning;
    if (json.is_string()) warning.text = short_text(json.get_ref<const std::string&>());
    if (!json.is_object()) return warning;
    warning.error_id = whole(member_at(json, "error_id")).value_or(0);
    warning.severity = whole(member_at(json, "error_severity"));
    warning.text = short_text(string_at(json, "warning"));
    if (!warning.text.empty()) return warning;
    // The deployment tests of DCGM 3 have another key.
    warning.text = short_text(string_at(json, "warnings"));
    warning.gpu = gpu_named_in(warning.text);
    warning.is_collective = true;
    return warning;
  }

  static void name_entity(const Json& json, DcgmResult& result) {
    const std::string group = string_at(json, "entity_group", "GPU");
    if (group != "GPU") {
      const auto number = whole(member_at(json, "entity_id"));
      result.entity = short_text(group) + (number ? " " + std::to_string(*number) : "");
      return;
    }
    for (const std::string_view key : {"entity_id", "gpu_id", "gpuId"}) {
      if (const auto gpu = gpu_number(member_at(json, key))) {
        result.gpu = gpu;
        return;
      }
    }
  }

  static void attribute(DcgmResult& result) {
    for (DcgmWarning& warning : result.warnings) {
      const bool is_anybodys = warning.is_collective && result.warnings.size() > 1;
      if (!warning.gpu && !is_anybodys) warning.gpu = result.gpu;
    }
  }

  void keep(DcgmResult result) {
    if (report_.results.size() < kMostResults) return report_.results.push_back(std::move(result));
    if (report_.riddles.empty()) riddle("more than " + std::to_string(kMostResults) + " results");
  }

  void riddle(const std::string& what) {
    constexpr std::size_t kMost = 16;
    if (report_.riddles.size() < kMost) report_.riddles.push_back(short_text(what));
  }

  DcgmDiagnostic& report_;
};

bool is_diagnostic(const Json& document) {
  return root_of(document) != nullptr || member_at(document, "iterations").is_array();
}

}  // namespace

Result<DcgmDiagnostic> parse_dcgm_diagnostic(std::string_view output) {
  const auto document = find_json_object(output, kLimits, is_diagnostic);
  if (!document) return with_context("the output of dcgmi", document.error());
  DcgmDiagnostic report;
  Reader reader(report);
  reader.read(*document);
  for (const Json& iteration : member_at(*document, "iterations")) reader.read(iteration);
  if (report.results.empty() && report.riddles.empty() && report.runtime_error.empty())
    return fail(ErrorKind::kInvalid, "the output of dcgmi contains no test");
  return report;
}

}  // namespace gpuward::exporter
