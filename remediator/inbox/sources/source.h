// The interface of a source that is read regularly for evidence about nodes.
// inbox/sources/source_poll reads the source, passes on its signals and counts them. A new source
// is one file and one line in inbox/sources/all.cpp.
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
  std::size_t read = 0;                       // Number of alerts, conditions or lines read.
  std::optional<std::chrono::seconds> lag{};  // How far the data lags behind the present.
  // Number of nodes by the source's verdict; empty for a source that counts no nodes.
  std::map<std::string, std::size_t> nodes{};
  bool has_more = false;             // The next read need not wait.
  std::optional<Error> complaint{};  // A failure of one part; all other values are valid.
};

// One thread uses each source.
class Source {
 public:
  virtual ~Source() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;  // The label of the source's metrics.
  [[nodiscard]] virtual std::chrono::milliseconds every() const = 0;
  [[nodiscard]] virtual Result<SourceFindings> look() = 0;
  // Called when the signals of the last read are durable. Until then the source may return the same
  // signals again.
  [[nodiscard]] virtual Status settle() { return {}; }
};

}  // namespace gpuward::remediator
