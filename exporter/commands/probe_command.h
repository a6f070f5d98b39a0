// `gpuward-exporter probe`: requests a URL until the answer is as expected. For the tests of the
// chart (`helm test`) and for users inside a cluster: the images have no other HTTP client.
#pragma once

#include <chrono>
#include <iosfwd>
#include <stop_token>
#include <string>

#include "core/http/client/authorized_client.h"
#include "core/runtime/clock.h"
#include "exporter/config/flags.h"

namespace gpuward::exporter {

struct ProbeWishes {
  std::string url;
  std::string body;    // sent by POST, with `$(NOW)` replaced by the time; empty: GET
  std::string expect;  // what the answer must contain
  int status = 200;
  std::chrono::seconds timeout{60};
  http::ClientFiles files;
};

void add_probe_command(CLI::App& app, Commands& commands);

// kDone once the answer is as expected; kFailed with the last difference if none was in time.
[[nodiscard]] int run_probe(const ProbeWishes& wishes, Clock& clock, const std::stop_token& stop,
                            std::ostream& out);

}  // namespace gpuward::exporter
