// The sink `slack`: {"text": ...} by POST to an incoming webhook of Slack, or of anything that is
// compatible with it (Mattermost, Rocket.Chat, Discord's /slack).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "remediator/notify/sink.h"

namespace gpuward::remediator {

// What could be read as a mention or a link in Slack's own markup is plain text: alerts and
// messages of programs are not to call a whole channel.
[[nodiscard]] std::string escape_for_slack(std::string_view text);

[[nodiscard]] Result<std::unique_ptr<Sink>> open_slack_sink(const SinkSettings& settings,
                                                            const SinkServices&);

}  // namespace gpuward::remediator
