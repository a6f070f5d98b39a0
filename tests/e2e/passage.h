// The path of one fault from the kernel log to the cordoned node, with the time of each step. The
// e2e test checks it, and the demo prints it.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "core/model/result.h"
#include "tests/e2e/stack.h"

namespace gpuward::e2e {

enum class Step : std::uint8_t { kWritten, kMetric, kAlert, kRemediation, kCordon };

struct Passage {
  // Since the line was written.
  std::chrono::milliseconds metric{0}, alert{0}, remediation{0}, cordon{0};
};

using OnStep = std::function<void(Step, std::chrono::milliseconds since_line)>;

// Writes the line of a GPU that fell off the bus (Xid 79) into the kernel log of `node`. Returns
// once the node is tainted and cordoned. kTimeout names the step that did not happen.
[[nodiscard]] Result<Passage> follow_fault(const Stack& stack, const Cluster& cluster,
                                           const StackNode& node, const OnStep& on_step = {});

}  // namespace gpuward::e2e
