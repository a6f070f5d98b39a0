#include "remediator/policy/notifications.h"

#include <algorithm>

namespace gpuward::remediator {
namespace {

// A sink whose name is its kind.
void add_named(NotificationPolicy& policy, const std::string& kind, const std::string& value,
               std::string SinkSettings::* where) {
  const bool is_named =
      std::ranges::find(policy.sinks, kind, &SinkSettings::name) != policy.sinks.end();
  if (value.empty() || is_named) return;
  SinkSettings& sink = policy.sinks.emplace_back();
  sink.name = kind;
  sink.kind = kind;
  sink.*where = value;
  sink.text = default_text();
  if (kind == "sns") sink.region = region_of_topic(value);
}

}  // namespace

std::string_view default_text() {
  return "gpuward {{cluster_name}}: {{moment}}, severity {{severity}}, node {{node_name}} "
         "({{error_type}}), mode {{mode}}: {{message}} {{runbook}}";
}

std::vector<std::string> sinks_for(const NotificationPolicy& policy, Moment moment,
                                   Severity severity) {
  std::vector<std::string> names;
  for (const SinkSettings& sink : policy.sinks) {
    if (severity >= sink.floor && sink.moments.contains(moment)) names.push_back(sink.name);
  }
  return names;
}

void add_environment_sinks(NotificationPolicy& policy, const EnvironmentSinks& environment) {
  add_named(policy, "webhook", environment.webhook_url, &SinkSettings::url);
  add_named(policy, "lambda", environment.lambda_function, &SinkSettings::target);
  add_named(policy, "sns", environment.sns_topic_arn, &SinkSettings::target);
}

bool is_environment_sink(std::string_view name) {
  return name == "webhook" || name == "lambda" || name == "sns";
}

std::string region_of_topic(std::string_view arn) {
  constexpr std::size_t kParts = 6;  // arn:partition:sns:region:account:name
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= arn.size();) {
    const std::size_t end = std::min(arn.find(':', begin), arn.size());
    parts.emplace_back(arn.substr(begin, end - begin));
    begin = end + 1;
  }
  const bool is_topic = parts.size() == kParts && parts[0] == "arn" && parts[2] == "sns" &&
                        !parts[4].empty() && !parts[5].empty();
  return is_topic ? parts[3] : std::string();
}

}  // namespace gpuward::remediator
