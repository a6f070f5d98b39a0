#include "remediator/inbox/sources/loki_api.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>
#include <utility>

#include "core/kube/names.h"
#include "core/runtime/json.h"
#include "core/runtime/text.h"

namespace gpuward::remediator {
namespace {

constexpr std::size_t kMaxAnswer = 32U << 20U;
constexpr std::size_t kMaxComplaint = 200;

// Loki's answer to a query that its limits (limits_config) forbid, and the resulting kind of error.
struct Refusal {
  std::string_view words;
  ErrorKind kind;
};
constexpr std::array kRefusals = {
    Refusal{"max entries limit", ErrorKind::kTooLarge},
    Refusal{"query time range exceeds", ErrorKind::kTimeout},
    Refusal{"would read too many bytes", ErrorKind::kTimeout},
    Refusal{"too large to execute", ErrorKind::kTimeout},
    Refusal{"request timed out", ErrorKind::kTimeout},
};

ErrorKind kind_of(std::string_view refusal) {
  for (const Refusal& known : kRefusals) {
    if (refusal.contains(known.words)) return known.kind;
  }
  return ErrorKind::kUnavailable;
}

// `Sun, 22 Nov 2026 02:43:00 GMT`.
std::optional<std::chrono::seconds> parse_http_date(std::string_view text) {
  std::tm parts{};
  const std::string date(text);
  const char* const end = ::strptime(date.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return std::chrono::seconds(::timegm(&parts));
}

Result<LogLine> decode_log_line(const Json& pair,
                                const std::map<std::string, std::string>& labels) {
  if (pair.is_array() && pair.size() >= 2 && pair[0].is_string() && pair[1].is_string()) {
    const auto at = parse_integer<std::int64_t>(pair[0].get_ref<const std::string&>());
    if (at && *at >= 0) return LogLine{*at, labels, pair[1].get<std::string>()};
  }
  return fail(ErrorKind::kInternal, "Loki answered with a line that has no time or no text");
}

Status append_stream(const Json& stream, std::vector<LogLine>& lines) {
  std::map<std::string, std::string> labels;
  for (const auto& [key, value] : member_at(stream, "stream").items()) {
    if (value.is_string()) labels[key] = value.get<std::string>();
  }
  for (const Json& pair : member_at(stream, "values")) {
    auto line = decode_log_line(pair, labels);
    if (!line) return std::unexpected(line.error());
    lines.push_back(std::move(*line));
  }
  return {};
}

std::string query_url(const LokiPlace& place, const LokiQuestion& question) {
  return place.url +
         "/loki/api/v1/query_range?direction=" + (question.is_newest ? "backward" : "forward") +
         "&query=" + kube::percent_encode(question.query) +
         "&start=" + std::to_string(question.start) + "&end=" + std::to_string(question.end) +
         "&limit=" + std::to_string(question.limit);
}

}  // namespace

std::string logql_quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') quoted += '\\';
    if (letter == '\n') {
      quoted += "\\n";
    } else {
      quoted += letter;
    }
  }
  return quoted + '"';
}

Result<std::vector<LogLine>> decode_log_lines(std::string_view body) {
  const auto root = parse_json(to_valid_utf8(body, 3 * body.size() + 1));
  if (!root) return std::unexpected(root.error());
  const Json& data = member_at(*root, "data");
  const Json& streams = member_at(data, "result");
  if (string_at(*root, "status") != "success" || string_at(data, "resultType") != "streams" ||
      !streams.is_array()) {
    return fail(ErrorKind::kInternal, "Loki's answer is not a list of lines");
  }
  std::vector<LogLine> lines;
  for (const Json& stream : streams) {
    if (auto status = append_stream(stream, lines); !status) return std::unexpected(status.error());
  }
  std::ranges::sort(lines, {}, &LogLine::at);
  return lines;
}

LokiApi::LokiApi(LokiPlace place, http::Client& http) : place_(std::move(place)), http_(http) {
  while (place_.url.ends_with('/')) place_.url.pop_back();
}

Result<LokiAnswer> LokiApi::ask(const LokiQuestion& question) {
  http::ClientRequest request;
  request.url = query_url(place_, question);
  request.timeout = place_.timeout;
  request.max_response_bytes = kMaxAnswer;
  if (!place_.tenant.empty()) request.headers.emplace_back("X-Scope-OrgID", place_.tenant);
  const auto response = http_.send(request);
  if (!response) return with_context("reading Loki", response.error());
  if (response->status != 200) {
    return fail(kind_of(response->body),
                "reading Loki: it answered " + std::to_string(response->status) + ": " +
                    std::string(trim(to_valid_utf8(response->body, kMaxComplaint))));
  }
  auto lines = decode_log_lines(response->body);
  if (!lines) return with_context("reading Loki", lines.error());
  return LokiAnswer{std::move(*lines), parse_http_date(response->header("Date"))};
}

}  // namespace gpuward::remediator
