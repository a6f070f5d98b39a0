#include "tests/fakes/fake_loki.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <regex>

#include "core/runtime/json.h"

namespace gpuward::fakes {
namespace {

std::string percent_decoded(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      plain += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

FakeLoki::Labels parameters_of(const std::string& url) {
  FakeLoki::Labels parameters;
  std::string rest = url.substr(url.find('?') + 1);
  while (!rest.empty()) {
    const auto end = std::min(rest.find('&'), rest.size());
    const std::string pair = rest.substr(0, end);
    const auto equals = pair.find('=');
    parameters[pair.substr(0, equals)] = percent_decoded(pair.substr(equals + 1));
    rest.erase(0, std::min(end + 1, rest.size()));
  }
  return parameters;
}

http::ClientResponse text_answer(int status, std::string body) {
  http::ClientResponse response;
  response.status = status;
  response.body = std::move(body);
  return response;
}

std::string unquoted(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    plain += text[i];
  }
  return plain;
}

// Matchers of labels, and any number of line filters.
struct LogQuery {
  std::vector<std::pair<std::string, std::string>> matchers;  // label, pattern
  std::vector<std::string> filters;
};

std::optional<LogQuery> parse_log_query(const std::string& text) {
  static const std::regex kMatcher(R"re([{,]\s*(\w+)=~?"((?:[^"\\]|\\.)+)")re");
  static const std::regex kFilter(R"re(\s*\|(~|=) "((?:[^"\\]|\\.)*)")re");
  std::smatch match;
  LogQuery query;
  std::string rest = text;
  while (std::regex_search(rest, match, kMatcher, std::regex_constants::match_continuous)) {
    query.matchers.emplace_back(match[1], unquoted(match[2]));
    rest = match.suffix();
  }
  if (query.matchers.empty() || !rest.starts_with('}')) return std::nullopt;
  rest.erase(0, 1);
  while (std::regex_search(rest, match, kFilter, std::regex_constants::match_continuous)) {
    query.filters.push_back(unquoted(match[2]));
    rest = match.suffix();
  }
  return rest.empty() ? std::optional(query) : std::nullopt;
}

bool finds(const std::string& pattern, const std::string& text) {
  const bool ignores_case = pattern.starts_with("(?i)");
  const auto flags = ignores_case ? std::regex::icase : std::regex::ECMAScript;
  return std::regex_search(text, std::regex(ignores_case ? pattern.substr(4) : pattern, flags));
}

std::string http_date(Clock::Wall time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 40> text{};
  std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return text.data();
}

// A duration as Loki prints it: `1h2m`.
std::string in_words(std::chrono::nanoseconds range) {
  using namespace std::chrono;
  auto rest = duration_cast<milliseconds>(range).count();
  std::string text;
  for (const auto& [unit, length] : {std::pair("h", 3'600'000), std::pair("m", 60'000),
                                     std::pair("s", 1'000), std::pair("ms", 1)}) {
    if (rest >= length) text += std::to_string(rest / length) + unit;
    rest %= length;
  }
  return text;
}

}  // namespace

void FakeLoki::push(const Labels& labels, std::int64_t at, const std::string& text) {
  const std::lock_guard lock(mutex_);
  const auto place = std::ranges::upper_bound(entries_, at, {}, &Entry::at);
  entries_.insert(place, {labels, at, text});
}

Result<http::ClientResponse> FakeLoki::send(const http::ClientRequest& request) {
  const std::lock_guard lock(mutex_);
  ++questions_;
  if (error_) return std::unexpected(*error_);
  const auto tenant = std::ranges::find(request.headers, std::string("X-Scope-OrgID"),
                                        &std::pair<std::string, std::string>::first);
  if (!tenant_.empty() && (tenant == request.headers.end() || tenant->second != tenant_))
    return text_answer(401, "no org id\n");
  return answer(parameters_of(request.url));
}

Result<http::ClientResponse> FakeLoki::answer(const Labels& parameters) {
  const auto start = std::stoll(parameters.at("start")), end = std::stoll(parameters.at("end"));
  const std::size_t limit = std::stoul(parameters.at("limit"));
  const auto query = parse_log_query(parameters.at("query"));
  if (!query) return text_answer(400, "parse error: syntax error");
  if (end <= start)
    return text_answer(400, "end timestamp must not be before or equal to start time");
  if (limit > most_lines_) {
    return text_answer(
        400, "max entries limit per query exceeded, limit > max_entries_limit_per_query (" +
                 std::to_string(limit) + " > " + std::to_string(most_lines_) + ")");
  }
  const std::chrono::nanoseconds range(end - start);
  if (range > longest_range_) {
    return text_answer(400, "the query time range exceeds the limit (query length: " +
                                in_words(range) + ", limit: " + in_words(longest_range_) + ")");
  }
  // The newest first, unless the query says otherwise.
  const auto direction = parameters.find("direction");
  const bool is_forward = direction != parameters.end() && direction->second == "forward";
  std::map<Labels, Json> streams;
  std::size_t found = 0;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[is_forward ? i : entries_.size() - 1 - i];
    const auto matches = [&](const auto& one) {
      const auto value = entry.labels.find(one.first);
      return value != entry.labels.end() && std::regex_match(value->second, std::regex(one.second));
    };
    const bool is_asked_for =
        entry.at >= start && entry.at < end && std::ranges::all_of(query->matchers, matches) &&
        std::ranges::all_of(
            query->filters, [&](const auto& one) { return finds(one, entry.text); });
    if (!is_asked_for || found == limit) continue;
    ++found;
    streams[entry.labels].push_back({std::to_string(entry.at), entry.text});
  }
  if (found > cap_) return fail(ErrorKind::kTooLarge, "the response is too large");
  Json result = Json::array();
  for (const auto& [labels, values] : streams)
    result.push_back({{"stream", labels}, {"values", values}});
  auto response = text_answer(
      200, dump_json({{"status", "success"},
                      {"data", {{"resultType", "streams"}, {"result", std::move(result)}}}}));
  response.headers.emplace_back("Date", http_date(clock_.wall() + ahead_));
  return response;
}

}  // namespace gpuward::fakes
