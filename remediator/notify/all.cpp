#include <array>
#include <string_view>

#include "remediator/notify/cloudwatch_logs_sink.h"
#include "remediator/notify/cloudwatch_sink.h"
#include "remediator/notify/lambda_sink.h"
#include "remediator/notify/sink.h"
#include "remediator/notify/slack_sink.h"
#include "remediator/notify/sns_sink.h"
#include "remediator/notify/webhook_sink.h"

namespace gpuward::remediator {
namespace {

struct SinkEntry {
  std::string_view kind;
  Result<std::unique_ptr<Sink>> (*open)(const SinkSettings& settings, const SinkServices& services);
};

constinit const std::array<SinkEntry, 6> kSinks = {{
    {"cloudwatch", open_cloudwatch_sink},
    {"cloudwatch_logs", open_cloudwatch_logs_sink},
    {"lambda", open_lambda_sink},
    {"slack", open_slack_sink},
    {"sns", open_sns_sink},
    {"webhook", open_webhook_sink},
}};

}  // namespace

Result<std::unique_ptr<Sink>> open_sink(const SinkSettings& settings,
                                        const SinkServices& services) {
  for (const SinkEntry& entry : kSinks) {
    if (entry.kind != settings.kind) continue;
    auto sink = entry.open(settings, services);
    if (!sink) return with_context("the sink " + settings.name, sink.error());
    return sink;
  }
  return fail(ErrorKind::kInvalid, "the sink " + settings.name + " is of an unknown kind");
}

}  // namespace gpuward::remediator
