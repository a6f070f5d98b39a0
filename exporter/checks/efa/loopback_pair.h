// A test program that talks to itself over the loopback: the server in the background, the client
// as soon as the server listens. Used by check 6. The server never outlives the call.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "core/model/result.h"
#include "core/runtime/child.h"
#include "core/runtime/clock.h"

namespace gpuward::exporter {

struct LoopbackPair {
  std::string program;
  std::vector<std::string> server_arguments, client_arguments;
  std::map<std::string, std::string> environment;
  std::vector<std::filesystem::path> search;
  std::chrono::milliseconds timeout{0};  // of both together
  std::stop_token stop;
};

// How the client has ended; what the server complained of is put behind its complaint. While the
// server does not listen yet the client is started again. Errors as of run_child().
[[nodiscard]] Result<ChildResult> run_loopback_pair(const LoopbackPair& pair, Clock& clock);

// A TCP port on which nobody listens now, from the kernel's own range. kUnavailable: none.
[[nodiscard]] Result<std::uint16_t> free_port();

}  // namespace gpuward::exporter
