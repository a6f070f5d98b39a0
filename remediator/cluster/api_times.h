// Measures how long the API server takes to answer, for tell/page/metrics: an http::Client that
// passes everything on. The composition root puts it under all clients of the API server. Watches
// are not measured, because they have no usual duration.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "core/http/client/client.h"
#include "core/metrics/family.h"
#include "core/runtime/clock.h"

namespace gpuward::remediator {

class ApiTimes final : public http::Client {
 public:
  // The arguments must outlive this object.
  ApiTimes(http::Client& behind, Clock& clock);

  [[nodiscard]] Result<http::ClientResponse> send(const http::ClientRequest& request) override;
  [[nodiscard]] Result<http::ClientResponse> stream(
      const http::ClientRequest& request, std::chrono::milliseconds idle, std::stop_token stop,
      const std::function<bool(std::string_view)>& on_bytes) override;

  // Returns the seconds by verb (the HTTP method in lower case) and class of the code: `2xx` to
  // `5xx`, `none` without an answer. All possible series exist from the start. Thread-safe.
  [[nodiscard]] metrics::Family family() const;

 private:
  http::Client& behind_;
  Clock& clock_;
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, metrics::Histogram> times_;  // By verb and code.
};

}  // namespace gpuward::remediator
