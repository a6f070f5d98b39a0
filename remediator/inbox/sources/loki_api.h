// Sends one query to Loki's /loki/api/v1/query_range, and returns the answer as plain values. Used
// by inbox/sources/loki_source and inbox/sources/last_kernel_lines.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/http/client/client.h"
#include "core/model/result.h"

namespace gpuward::remediator {

struct LogLine {
  std::int64_t at = 0;                        // Loki's timestamp, in nanoseconds since 1970.
  std::map<std::string, std::string> labels;  // Labels of the line's stream.
  std::string text;                           // Valid UTF-8.
};

// Asks for at most `limit` lines from `start` (inclusive) to `end` (exclusive), either the oldest
// or the newest.
struct LokiQuestion {
  std::string query;  // LogQL.
  std::int64_t start = 0, end = 0;
  std::size_t limit = 1000;
  bool is_newest = false;
};

struct LokiAnswer {
  std::vector<LogLine> lines;  // Sorted by time.
  // Time of the answer by Loki's clock, in seconds since 1970.
  std::optional<std::chrono::seconds> server_clock;
};

struct LokiPlace {
  std::string url;          // Base URL of Loki: `http://loki:3100`.
  std::string tenant = {};  // X-Scope-OrgID; empty: none.
  std::chrono::milliseconds timeout{10'000};
};

class LokiApi {
 public:
  // `http` must outlive this object.
  LokiApi(LokiPlace place, http::Client& http);
  // Sends the query. Returns kTooLarge if the answer exceeds gpuward's limit or Loki's; the caller
  // asks for fewer lines. Returns kTimeout if the answer takes too long or Loki does not allow such
  // a long query; the caller asks for a shorter time.
  [[nodiscard]] Result<LokiAnswer> ask(const LokiQuestion& question);

 private:
  LokiPlace place_;
  http::Client& http_;
};

// Decodes the body of a 200. Replaces bytes that are not UTF-8, because one bad line must not stop
// all other lines.
[[nodiscard]] Result<std::vector<LogLine>> decode_log_lines(std::string_view body);

// Returns `text` in double quotes for LogQL.
[[nodiscard]] std::string logql_quoted(std::string_view text);

}  // namespace gpuward::remediator
