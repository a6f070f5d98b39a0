// nv-hostengine for the time of a diagnostic: the one that runs already, or one that we start and
// end again. Used by checks 1 and 4.
#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <thread>

#include "core/model/result.h"
#include "core/runtime/child.h"
#include "exporter/checks/check/check.h"

namespace gpuward::exporter {

class DcgmEngine {
 public:
  // Blocks until dcgmi can reach an engine, at most 30 s. An error says why that cannot be: none is
  // installed, it ends at once, it is out of reach. The engine that we start has at most
  // `lifetime`.
  [[nodiscard]] static Result<std::unique_ptr<DcgmEngine>> reach(
      const CheckContext& context, std::chrono::milliseconds lifetime);

  DcgmEngine(const DcgmEngine&) = delete;
  DcgmEngine& operator=(const DcgmEngine&) = delete;
  ~DcgmEngine() = default;  // ends ours (SIGTERM, then SIGKILL), and nobody else's

  [[nodiscard]] bool is_ours() const { return thread_.joinable(); }

 private:
  DcgmEngine() = default;
  [[nodiscard]] Status start(const CheckContext& context, std::chrono::milliseconds lifetime);
  [[nodiscard]] Status wait_until_up(const CheckContext& context) const;

  struct Outcome;  // how ours has ended
  std::shared_ptr<Outcome> outcome_;
  std::jthread thread_;  // last: it is stopped and joined first
};

}  // namespace gpuward::exporter
