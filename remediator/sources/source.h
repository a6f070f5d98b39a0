// A place that is asked now and then what it knows of the nodes: the seam between
// sources/source_poll, which asks, hands over and counts, and the one file of each source. A new
// source is one file and one line in sources/all.cpp.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/result.h"
#include "remediator/model/evidence.h"

namespace gpuward::remediator {

// What one look has found.
struct SourceFindings {
  std::vector<AlertSignal> signals;
  std::size_t read = 0;                       // alerts, conditions or lines that were looked at
  std::optional<std::chrono::seconds> lag{};  // how far what was read is behind now
  // Nodes by what the source has made of them; only of a source that counts nodes.
  std::map<std::string, std::size_t> nodes{};
  bool has_more = false;             // the next look need not wait
  std::optional<Error> complaint{};  // what was wrong with a part; the rest counts
};

// Each is used by one thread.
class Source {
 public:
  virtual ~Source() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;  // the label of its metrics
  [[nodiscard]] virtual std::chrono::milliseconds every() const = 0;
  [[nodiscard]] virtual Result<SourceFindings> look() = 0;
  // The signals of the last look are durable. What comes before this may come again.
  [[nodiscard]] virtual Status settle() { return {}; }
};

}  // namespace gpuward::remediator
