// The port of an exporter that chose a free one, from its own log. Used by tests that start the
// real program, in any installation.
#pragma once

#include <string>

#include "core/runtime/text.h"
#include "tests/support/http_get.h"
#include "tests/support/process.h"

namespace gpuward::support {

// From `msg=Serving version=… port=N`; 0 until it is there.
[[nodiscard]] inline int serving_port(const std::string& log) {
  const auto serving = log.find("msg=Serving");
  if (serving == std::string::npos) return 0;
  const auto port = log.find("port=", serving);
  const auto end = log.find('\n', serving);
  if (port == std::string::npos || end == std::string::npos) return 0;
  return parse_integer<int>(log.substr(port + 5, end - port - 5)).value_or(0);
}

// Its /metrics; empty until it serves.
[[nodiscard]] inline std::string metrics_page_of(const Process& exporter) {
  const int port = serving_port(exporter.error_output());
  if (port == 0) return {};
  return http_get("http://127.0.0.1:" + std::to_string(port) + "/metrics").body;
}

}  // namespace gpuward::support
