// The sink `sns`: publishes the event as JSON to a topic of Amazon SNS, with its text as the
// subject, which mail readers show first.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "remediator/notify/sink.h"

namespace gpuward::remediator {

// Returns a subject that SNS accepts: at most 100 printable ASCII characters, not starting with a
// blank.
[[nodiscard]] std::string sns_subject(std::string_view text);

// Opens the sink. It uses the AWS client of `services`.
[[nodiscard]] Result<std::unique_ptr<Sink>> open_sns_sink(const SinkSettings& settings,
                                                          const SinkServices& services);

}  // namespace gpuward::remediator
