// The sink `sns`: publishes the event as JSON to a topic of Amazon SNS, with its text as the
// subject, which is what readers of mail see first.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "remediator/notify/sink.h"

namespace gpuward::remediator {

// What SNS takes as a subject: at most 100 printable characters of ASCII, beginning with none of
// the blanks.
[[nodiscard]] std::string sns_subject(std::string_view text);

// Needs the client of `services`.
[[nodiscard]] Result<std::unique_ptr<Sink>> open_sns_sink(const SinkSettings& settings,
                                                          const SinkServices& services);

}  // namespace gpuward::remediator
