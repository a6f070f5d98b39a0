// The HTTP clients for Prometheus, Alertmanager and Loki, with the credentials that the flags name.
// Made by the composition root.
#pragma once

#include <memory>

#include "core/http/client/authorized_client.h"
#include "core/model/result.h"
#include "remediator/config/flags.h"

namespace gpuward::remediator {

struct SourceClients {
  std::unique_ptr<http::Client> prometheus, alertmanager, loki;
};

// Opens the clients. Returns kInvalid, or the error of a file that cannot be read; the message
// names the flags.
[[nodiscard]] Result<SourceClients> open_source_clients(const Flags& flags);

}  // namespace gpuward::remediator
