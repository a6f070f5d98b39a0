// The sink `webhook`: the whole event as a JSON object, by POST. The replaced monitor's fields have
// the same names in it.
#pragma once

#include <memory>

#include "remediator/notify/sink.h"

namespace gpuward::remediator {

[[nodiscard]] Result<std::unique_ptr<Sink>> open_webhook_sink(const SinkSettings& settings,
                                                              const SinkServices&);

}  // namespace gpuward::remediator
