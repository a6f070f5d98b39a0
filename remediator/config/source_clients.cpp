#include "remediator/config/source_clients.h"

#include <utility>

namespace gpuward::remediator {

Result<SourceClients> open_source_clients(const Flags& flags) {
  auto prometheus = http::AuthorizedClient::open(flags.prometheus_files, flags.prometheus_url);
  if (!prometheus) return std::unexpected(prometheus.error());
  auto alertmanager =
      http::AuthorizedClient::open(flags.alertmanager_files, flags.alertmanager_url);
  if (!alertmanager) return std::unexpected(alertmanager.error());
  auto loki = http::AuthorizedClient::open(flags.loki_files, flags.loki_url);
  if (!loki) return std::unexpected(loki.error());
  return SourceClients{.prometheus = *std::move(prometheus),
                       .alertmanager = *std::move(alertmanager),
                       .loki = *std::move(loki)};
}

}  // namespace gpuward::remediator
