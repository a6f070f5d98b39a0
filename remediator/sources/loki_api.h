// One question to Loki's /loki/api/v1/query_range and its answer as plain values. Used by
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
  std::int64_t at = 0;                        // nanoseconds since 1970, as Loki keeps it
  std::map<std::string, std::string> labels;  // of its stream
  std::string text;                           // valid UTF-8
};

// From `start` on, before `end`, at most `limit` lines: the oldest, or the newest.
struct LokiQuestion {
  std::string query;  // LogQL
  std::int64_t start = 0, end = 0;
  std::size_t limit = 1000;
  bool is_newest = false;
};

struct LokiAnswer {
  std::vector<LogLine> lines;                        // by time
  std::optional<std::chrono::seconds> server_clock;  // since 1970: when Loki says it answered
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
  // kTooLarge where the answer is beyond our cap or Loki's limit: ask for fewer lines. kTimeout
  // where the answer takes too long, or Loki allows no question of that length: for a shorter time.
  [[nodiscard]] Result<LokiAnswer> ask(const LokiQuestion& question);

 private:
  LokiPlace place_;
  http::Client& http_;
};

// The body of a 200. Bytes that are no UTF-8 are replaced: one bad line must not stop all others.
[[nodiscard]] Result<std::vector<LogLine>> decode_log_lines(std::string_view body);

// `text` between double quotes, as LogQL reads it.
[[nodiscard]] std::string logql_quoted(std::string_view text);

}  // namespace gpuward::remediator
