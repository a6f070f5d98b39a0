// The sink `cloudwatch_logs`: each event is a line of JSON in a stream of a log group. Used by the
// table in all.cpp.
#pragma once

#include <memory>

#include "remediator/notify/sink.h"

namespace gpuward::remediator {

// Opens the sink. The operator provides the log group, with retention and key; the sink creates its
// stream at the first event. Rights: logs:PutLogEvents, and logs:CreateLogStream for the stream.
[[nodiscard]] Result<std::unique_ptr<Sink>> open_cloudwatch_logs_sink(const SinkSettings& settings,
                                                                      const SinkServices& services);

}  // namespace gpuward::remediator
