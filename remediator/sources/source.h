// A source that is read regularly for its knowledge of the nodes: the seam between
// sources/source_poll, which reads, hands over and counts, and the one file of each source. A new
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

// The result of one read.
struct SourceFindings {
  std::vector<AlertSignal> signals;
  std::size_t read = 0;                       // number of alerts, conditions or lines read
  std::optional<std::chrono::seconds> lag{};  // how far the data lags behind the present
  // Number of nodes by the source's verdict; only from a source that counts nodes.
  std::map<std::string, std::size_t> nodes{};
  bool has_more = false;             // the next read need not wait
  std::optional<Error> complaint{};  // a failure of one part; the rest is valid
};

// Each is used by one thread.
class Source {
 public:
  virtual ~Source() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;  // the label of its metrics
  [[nodiscard]] virtual std::chrono::milliseconds every() const = 0;
  [[nodiscard]] virtual Result<SourceFindings> look() = 0;
  // Called when the signals of the last read are durable. Until then the source may return them
  // again.
  [[nodiscard]] virtual Status settle() { return {}; }
};

}  // namespace gpuward::remediator
