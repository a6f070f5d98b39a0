// The sink `webhook`: posts the whole event as a JSON object. The fields of the replaced monitor
// keep their names. Used by the table in all.cpp.
#pragma once

#include <memory>

#include "remediator/notify/sink.h"

namespace gpuward::remediator {

[[nodiscard]] Result<std::unique_ptr<Sink>> open_webhook_sink(const SinkSettings& settings,
                                                              const SinkServices&);

}  // namespace gpuward::remediator
