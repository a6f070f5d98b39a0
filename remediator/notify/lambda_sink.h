// The sink `lambda`: hands the event as JSON to a function of AWS Lambda, whose work is not waited
// for.
#pragma once

#include <memory>

#include "remediator/notify/sink.h"

namespace gpuward::remediator {

// Needs the client of `services`.
[[nodiscard]] Result<std::unique_ptr<Sink>> open_lambda_sink(const SinkSettings& settings,
                                                             const SinkServices& services);

}  // namespace gpuward::remediator
