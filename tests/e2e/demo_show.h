// The demo behind demo_main.cpp.
#pragma once

#include <stop_token>

namespace gpuward::e2e {

// Starts everything, lets a GPU fall off the bus, prints the events, waits for `stop` if it
// `stays`, and ends everything. Returns the exit code: 0 if the node was cordoned, or if `stop`
// came first.
[[nodiscard]] int run_demo(bool stays, const std::stop_token& stop);

}  // namespace gpuward::e2e
