// Clients that attack a server: thousands of connections at once; each opens again soon after the
// server closes it. They run in their own process (hostile_clients.cpp). Used by the tests of the
// answers that a server still gives to other clients.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/http/client/client.h"
#include "tests/places.inc"
#include "tests/support/process.h"
#include "tests/support/wait.h"

namespace gpuward::support {

struct HostileOptions {
  int connections = 2'000;
  int addresses = 1;      // of loopback, from 127.0.1.1 on; ordinary clients have 127.0.0.1
  std::string sends;      // the text that a client sends on an open connection
  bool trickles = false;  // sends a byte now and then after that
  bool reads = true;      // false: leaves the answers in the kernel's buffers
  std::string sends_late =
      {};  // 90 ms after the server's first bytes, so that a worker waits for it
};

class HostileClients {
 public:
  // Returns once the server's kernel has accepted as many as fit into an old server's queues.
  HostileClients(int port, const HostileOptions& options) {
    auto spawned = Process::spawn(
        {.argv = {GPUWARD_BIN_DIR "/hostile_clients", std::to_string(port),
                  std::to_string(options.connections), std::to_string(options.addresses),
                  options.sends, options.trickles ? "trickles" : "", options.reads ? "reads" : "",
                  options.sends_late}});
    if (spawned) process_ = *std::move(spawned);
    EXPECT_TRUE(process_ && wait_until([&] { return process_->output().contains("begun"); },
                                       "the attack to begin"));
  }

 private:
  std::unique_ptr<Process> process_;
};

struct NamedAttack {
  const char* name;
  HostileOptions options;
};

// For INSTANTIATE_TEST_SUITE_P.
[[nodiscard]] inline std::string name_of(const testing::TestParamInfo<NamedAttack>& info) {
  return info.param.name + std::string(info.param.options.addresses == 1 ? "FromOne" : "FromMany");
}

// Ways to hold a server's connections, from one address and from 200; all of them if none is named.
// 50 answers that are not read fill the kernel's buffers.
[[nodiscard]] inline std::vector<NamedAttack> attacks_of(const std::set<std::string>& names = {}) {
  const std::string get = "GET /metrics HTTP/1.1\r\nHost: h\r\n";
  std::string many;
  for (int i = 0; i < 50; ++i) many += get + "\r\n";
  std::vector<NamedAttack> attacks = {
      {"Silent", {}},
      {"HalfAHead", {.sends = get}},
      {"ATricklingHead", {.sends = get, .trickles = true}},
      {"NoBody", {.sends = get + "Content-Length: 1000\r\n\r\n"}},
      {"NoBodyOfARefusedRequest",
       {.sends = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n"}},
      {"Idle", {.sends = "GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n"}},
      {"Deaf", {.sends = many, .reads = false}},
  };
  std::erase_if(attacks, [&](const NamedAttack& attack) {
    return !names.empty() && !names.contains(attack.name);
  });
  const std::size_t count = attacks.size();
  for (std::size_t i = 0; i < count; ++i) {
    attacks.push_back(attacks[i]);
    attacks.back().options.addresses = 200;
  }
  return attacks;
}

// Requests that are complete in the end: a worker waits a little less than 100 ms for each.
[[nodiscard]] inline NamedAttack brief_holds() {
  return {"ABodyAfterAWhile",
          {.connections = 4'000,
           .addresses = 200,
           .sends = "GET /metrics HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n"
                    "Expect: 100-continue\r\n\r\n",
           .sends_late = "x"}};
}

// The longest time of five requests in a row; the maximum value if one of them fails.
template <typename Send>
[[nodiscard]] std::chrono::nanoseconds longest_of_five(const Send& send) {
  auto longest = std::chrono::nanoseconds::zero();
  for (int i = 0; i < 5; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const http::ClientResponse answer = send();
    if (answer.status != 200) return std::chrono::nanoseconds::max();
    longest = std::max<std::chrono::nanoseconds>(longest, std::chrono::steady_clock::now() - begin);
  }
  return longest;
}

// The memory that the kernel has for a process now, in MiB.
[[nodiscard]] inline double resident_mib(const Process& process) {
  std::ifstream status("/proc/" + std::to_string(process.pid()) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stod(line.substr(6)) / 1024;
  }
  return 0;
}

}  // namespace gpuward::support
