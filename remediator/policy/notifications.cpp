#include "remediator/policy/notifications.h"

#include <algorithm>

namespace gpuward::remediator {

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

void add_environment_sink(NotificationPolicy& policy, const std::string& url) {
  const bool is_named =
      std::ranges::find(policy.sinks, kEnvironmentSink, &SinkSettings::name) != policy.sinks.end();
  if (url.empty() || is_named) return;
  SinkSettings& sink = policy.sinks.emplace_back();
  sink.name = kEnvironmentSink;
  sink.kind = "webhook";
  sink.url = url;
  sink.text = default_text();
}

}  // namespace gpuward::remediator
