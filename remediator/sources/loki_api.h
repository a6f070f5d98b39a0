// One query to Loki's /loki/api/v1/query_range and its answer as plain values. Used by
// sources/loki_source.
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
  std::int64_t at = 0;                        // nanoseconds since 1970, Loki's timestamp
  std::map<std::string, std::string> labels;  // of its stream
  std::string text;                           // valid UTF-8
};

// At most `limit` lines from `start` on and before `end`: the oldest, or the newest.
struct LokiQuestion {
  std::string query;  // LogQL
  std::int64_t start = 0, end = 0;
  std::size_t limit = 1000;
  bool is_newest = false;
};

struct LokiAnswer {
  std::vector<LogLine> lines;                        // by time
  std::optional<std::chrono::seconds> server_clock;  // since 1970: the time of the answer, by Loki
};

struct LokiPlace {
  std::string url;          // Loki's base: `http://loki:3100`
  std::string tenant = {};  // X-Scope-OrgID; empty: none
  std::chrono::milliseconds timeout{10'000};
};

class LokiApi {
 public:
  // `http` must outlive it.
  LokiApi(LokiPlace place, http::Client& http);
  // kTooLarge if the answer exceeds our limit or Loki's: ask for fewer lines. kTimeout if the
  // answer takes too long, or Loki does not allow so long a query: ask for a shorter time.
  [[nodiscard]] Result<LokiAnswer> ask(const LokiQuestion& question);

 private:
  LokiPlace place_;
  http::Client& http_;
};

// Decodes the body of a 200. Replaces bytes that are not UTF-8: one bad line must not stop all
// others.
[[nodiscard]] Result<std::vector<LogLine>> decode_log_lines(std::string_view body);

// Puts `text` in double quotes for LogQL.
[[nodiscard]] std::string logql_quoted(std::string_view text);

}  // namespace gpuward::remediator
