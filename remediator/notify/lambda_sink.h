// The sink `lambda`: sends the event as JSON to a function of AWS Lambda, without waiting for the
// function to finish.
#pragma once

#include <memory>

#include "remediator/notify/sink.h"

namespace gpuward::remediator {

// Opens the sink. It uses the AWS client of `services`.
[[nodiscard]] Result<std::unique_ptr<Sink>> open_lambda_sink(const SinkSettings& settings,
                                                             const SinkServices& services);

}  // namespace gpuward::remediator
