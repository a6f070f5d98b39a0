// Which notifications go to which sinks: the section `notifications` of the policy as values, and
// the choice of sinks for a notice. Pure; docs/configuration.md has its keys.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "core/model/severity.h"
#include "core/runtime/yaml.h"
#include "remediator/model/notice.h"

namespace gpuward::remediator {

struct SinkSettings {
  std::string name;
  std::string kind;  // of the table in notify/all.cpp: webhook, slack, ...
  // The target: one of the two. The content of the file is a secret, and read again when it
  // changes.
  std::string url;
  std::filesystem::path url_file;
  std::filesystem::path bearer_token_file, ca_file;
  bool credentials_over_http = false;  // a token or secret URL may use http:// (plain_http.h)
  // On AWS: the topic's ARN, the function, the metric's namespace or the log group, and its region;
  // an empty region: found as AWS's own tools do.
  std::string target, region;
  std::set<Moment> moments = {Moment::kOpened,    Moment::kApproval, Moment::kHeld,
                              Moment::kEscalated, Moment::kPaused,   Moment::kClosed};
  Severity floor = Severity::kMonitor;  // milder remediations are not sent
  std::string text;                     // a template
  std::chrono::milliseconds timeout{10'000};
  std::chrono::milliseconds give_up_after = std::chrono::hours(1);
  std::int64_t per_minute = 60;

  friend bool operator==(const SinkSettings&, const SinkSettings&) = default;
};

struct NotificationPolicy {
  std::string cluster = {};  // cluster_name of every event
  // Base URL of the runbooks of gpuward's alerts, each under its alert's name; empty: events name
  // the command.
  std::string runbook_url = {};
  std::vector<SinkSettings> sinks = {};
};

// The text of a sink without its own.
[[nodiscard]] std::string_view default_text();

// Returns the sinks that want this moment of a Remediation of that severity.
[[nodiscard]] std::vector<std::string> sinks_for(const NotificationPolicy& policy, Moment moment,
                                                 Severity severity);

// The environment variables of the replaced monitor: WEBHOOK_URL, LAMBDA_FUNCTION and
// SNS_TOPIC_ARN.
struct EnvironmentSinks {
  std::string webhook_url, lambda_function, sns_topic_arn;
};
// Adds for each of them a sink named `webhook`, `lambda` or `sns`, unless the policy has one of
// that name.
void add_environment_sinks(NotificationPolicy& policy, const EnvironmentSinks& environment);
[[nodiscard]] bool is_environment_sink(std::string_view name);

// `eu-west-1` of `arn:aws:sns:eu-west-1:123456789012:gpu-alerts`; empty if it is not an SNS ARN.
[[nodiscard]] std::string region_of_topic(std::string_view arn);

// Reads the section `notifications`. `cluster` is the policy's name of its cluster, used in events
// unless the section has another. Faults are reported to the file.
[[nodiscard]] NotificationPolicy read_notifications(const YamlMap& section,
                                                    const std::string& cluster);

}  // namespace gpuward::remediator
