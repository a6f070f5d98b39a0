// The sink `cloudwatch`: counts the event in the metric GPUErrorByType of Amazon CloudWatch, by
// NodeName, InstanceId and ErrorType, as the replaced monitor did.
#pragma once

#include <memory>

#include "remediator/notify/sink.h"

namespace gpuward::remediator {

// Opens the sink. It uses the AWS client of `services`.
[[nodiscard]] Result<std::unique_ptr<Sink>> open_cloudwatch_sink(const SinkSettings& settings,
                                                                 const SinkServices& services);

}  // namespace gpuward::remediator
