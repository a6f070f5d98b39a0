// What the demo does and tells: see demo_main.cpp.
#pragma once

#include <stop_token>

namespace gpuward::e2e {

// Starts everything, lets a GPU fall off the bus, tells what happens, waits for `stop` where it
// `stays`, and ends everything. The exit code: 0 where the node was cordoned, or where `stop` came
// first.
[[nodiscard]] int run_demo(bool stays, const std::stop_token& stop);

}  // namespace gpuward::e2e
