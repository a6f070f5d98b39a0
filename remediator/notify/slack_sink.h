// The sink `slack`: posts {"text": ...} to an incoming webhook of Slack, or of a compatible service
// (Mattermost, Rocket.Chat, Discord's /slack).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "remediator/notify/sink.h"

namespace gpuward::remediator {

// Returns the text with mentions and links of Slack's markup as plain text. Alerts and messages of
// programs must not notify a whole channel.
[[nodiscard]] std::string escape_for_slack(std::string_view text);

[[nodiscard]] Result<std::unique_ptr<Sink>> open_slack_sink(const SinkSettings& settings,
                                                            const SinkServices&);

}  // namespace gpuward::remediator
