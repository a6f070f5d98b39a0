#include <array>
#include <string_view>

#include "remediator/notify/sink.h"
#include "remediator/notify/slack_sink.h"
#include "remediator/notify/webhook_sink.h"

namespace gpuward::remediator {
namespace {

struct SinkEntry {
  std::string_view kind;
  Result<std::unique_ptr<Sink>> (*open)(const SinkSettings& settings);
};

constinit const std::array<SinkEntry, 2> kSinks = {{
    {"slack", open_slack_sink},
    {"webhook", open_webhook_sink},
}};

}  // namespace

Result<std::unique_ptr<Sink>> open_sink(const SinkSettings& settings) {
  for (const SinkEntry& entry : kSinks) {
    if (entry.kind != settings.kind) continue;
    auto sink = entry.open(settings);
    if (!sink) return with_context("the sink " + settings.name, sink.error());
    return sink;
  }
  return fail(ErrorKind::kInvalid, "the sink " + settings.name + " is of no known kind");
}

}  // namespace gpuward::remediator
