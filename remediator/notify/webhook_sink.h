// The sink `webhook`: the whole event as a JSON object, by POST. What the replaced monitor sent is
// in it under the same names.
#pragma once

#include <memory>

#include "remediator/notify/sink.h"

namespace gpuward::remediator {

[[nodiscard]] Result<std::unique_ptr<Sink>> open_webhook_sink(const SinkSettings& settings,
                                                              const SinkServices&);

}  // namespace gpuward::remediator
