#include "remediator/config/notify_command.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "core/aws/client.h"
#include "core/command_line/table.h"
#include "core/http/client/client.h"
#include "remediator/config/load_policy.h"
#include "remediator/notify/sink.h"

namespace gpuward::remediator {
namespace {

// The dependencies of sinks, in a process that only sends tests.
struct Services {
  explicit Services(Clock& clock) : aws(http, aws::read_aws_environment(), clock) {}

  http::CurlClient http;
  aws::AwsClient aws;
};

NotificationEvent test_event(const Policy& policy, Clock& clock) {
  return {
      .id = "test-" + to_rfc3339_ms(clock.wall()),
      .timestamp = to_rfc3339_ms(clock.wall()),
      .error_type = "HEALTHY",
      .node_name = "gpuward-test",
      .cluster_name = policy.notifications.cluster,
      .severity = std::string(to_string(Severity::kNone)),
      .moment = "test",
      .mode = std::string(to_string(policy.mode)),
      .message = "Test notification from `gpuward-remediator notify test`: no action was taken.",
      .dry_run = true};
}

Result<std::vector<SinkSettings>> chosen_sinks(const Policy& policy, const std::string& name) {
  std::vector<SinkSettings> sinks = policy.notifications.sinks;
  if (sinks.empty()) {
    return fail(
        ErrorKind::kInvalid,
        "there is no sink to test: the policy (--config.file) has no notifications.sinks, and no "
        "--notifications flag or environment variable of this command sets one");
  }
  if (name.empty()) return sinks;
  std::erase_if(sinks, [&](const SinkSettings& sink) { return sink.name != name; });
  if (sinks.empty()) return fail(ErrorKind::kNotFound, "there is no sink named " + name);
  return sinks;
}

Status send(const SinkSettings& settings, const NotificationEvent& event,
            const SinkServices& services) {
  const auto sink = open_sink(settings, services);
  if (!sink) return std::unexpected(sink.error());
  return (*sink)->deliver(event, {});
}

}  // namespace

Result<SinkAnswers> run_notify_test(const Flags& flags, Clock& clock) {
  const auto policy = load_policy(flags);
  if (!policy) return std::unexpected(policy.error());
  const auto sinks = chosen_sinks(*policy, flags.sink);
  if (!sinks) return std::unexpected(sinks.error());
  Services services(clock);
  const NotificationEvent event = test_event(*policy, clock);
  SinkAnswers answers;
  std::vector<std::vector<std::string>> rows{{"SINK", "KIND", "RESULT"}};
  for (const SinkSettings& settings : *sinks) {
    const Status sent = send(settings, event, {.aws = services.aws});
    rows.push_back({settings.name, settings.kind, sent ? "taken" : sent.error().message});
    answers.all_taken = answers.all_taken && sent.has_value();
  }
  answers.table = table_text(rows);
  return answers;
}

Status try_sinks(const Policy& policy) {
  SystemClock clock;
  Services services(clock);
  for (const SinkSettings& settings : policy.notifications.sinks) {
    const auto sink = open_sink(settings, {.aws = services.aws});
    if (!sink) return std::unexpected(sink.error());
  }
  return {};
}

}  // namespace gpuward::remediator
