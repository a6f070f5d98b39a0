// The shared state of Api's methods; each group of methods (nodes, pods, leases, ...) has its own
// file. Inside core/kube only.
#pragma once

#include <utility>

#include "core/kube/api.h"
#include "core/kube/transport.h"

namespace gpuward::kube {

class Api::Impl {
 public:
  Impl(ApiOptions api_options, http::Client& http, Credentials& credentials, Clock& api_clock)
      : options(std::move(api_options)),
        clock(api_clock),
        transport(options, http, credentials, api_clock) {}

  const ApiOptions options;
  Clock& clock;
  Transport transport;
};

}  // namespace gpuward::kube
