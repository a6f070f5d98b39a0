#include "exporter/checks/dcgm/embedded_json.h"

#include <string>

#include "core/runtime/text.h"

namespace gpuward::exporter {
namespace {

// Log lines may hold braces too; a text that has more than this many places where an object could
// begin is not what we look for.
constexpr int kMostCandidates = 64;

}  // namespace

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
    return fail(ErrorKind::kTooLarge, std::to_string(text.size()) + " bytes, at most " +
                                          std::to_string(limits.max_bytes) + " are read");
  }
  Error why{ErrorKind::kNotFound, "no JSON object in it", {}};
  std::size_t at = text.find('{');
  for (int tried = 0; at != std::string_view::npos && tried < kMostCandidates; ++tried) {
    const std::size_t length = json_object_length(text.substr(at));
    if (length == 0) why = {ErrorKind::kInvalid, "it is cut off: a JSON object has no end", {}};
    if (length != 0) {
      auto parsed = parse_json(to_valid_utf8(text.substr(at, length), limits.max_bytes), limits);
      if (parsed && is_wanted(*parsed)) return parsed;
      if (!parsed) why = parsed.error();
      if (parsed && why.kind == ErrorKind::kNotFound) why.message = "no JSON object of its kind";
      at += parsed ? length - 1 : 0;
    }
    at = text.find('{', at + 1);
  }
  return std::unexpected(std::move(why));
}

}  // namespace gpuward::exporter
