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
  std::string kind;  // A kind in the table of notify/all.cpp: webhook, slack, ...
  // The target: either `url` or `url_file`. The content of the file is a secret, and the sink reads
  // it again when it changes.
  std::string url;
  std::filesystem::path url_file;
  std::filesystem::path bearer_token_file, ca_file;
  // True: a token or secret URL may be sent over http:// (plain_http.h).
  bool credentials_over_http = false;
  // On AWS: the topic's ARN, the function, the metric's namespace or the log group, and its region.
  // With an empty region, gpuward finds the region as AWS's own tools do.
  std::string target, region;
  std::set<Moment> moments = {Moment::kOpened,    Moment::kApproval, Moment::kHeld,
                              Moment::kEscalated, Moment::kPaused,   Moment::kClosed};
  // The sink gets no notices about remediations below this severity.
  Severity floor = Severity::kMonitor;
  std::string text;  // a template
  std::chrono::milliseconds timeout{10'000};
  std::chrono::milliseconds give_up_after = std::chrono::hours(1);
  std::int64_t per_minute = 60;

  friend bool operator==(const SinkSettings&, const SinkSettings&) = default;
};

struct NotificationPolicy {
  std::string cluster = {};  // cluster_name of every event.
  // Base URL of the runbooks of gpuward's alerts; each runbook is under its alert's name. If empty,
  // events contain the command that prints the runbook.
  std::string runbook_url = {};
  std::vector<SinkSettings> sinks = {};
};

// Returns the text for a sink without its own text.
[[nodiscard]] std::string_view default_text();

// Returns the sinks that want notices of this moment and severity.
[[nodiscard]] std::vector<std::string> sinks_for(const NotificationPolicy& policy, Moment moment,
                                                 Severity severity);

// The environment variables of the replaced monitor: WEBHOOK_URL, LAMBDA_FUNCTION and
// SNS_TOPIC_ARN.
struct EnvironmentSinks {
  std::string webhook_url, lambda_function, sns_topic_arn;
};
// Adds a sink named `webhook`, `lambda` or `sns` for each variable that is set, unless the policy
// already has a sink of that name.
void add_environment_sinks(NotificationPolicy& policy, const EnvironmentSinks& environment);
[[nodiscard]] bool is_environment_sink(std::string_view name);

// Returns `eu-west-1` for `arn:aws:sns:eu-west-1:123456789012:gpu-alerts`; empty if the text is not
// an SNS ARN.
[[nodiscard]] std::string region_of_topic(std::string_view arn);

// Reads the section `notifications`. `cluster` is the policy's name of its cluster, used in events
// unless the section has another. Faults are reported to the file.
[[nodiscard]] NotificationPolicy read_notifications(const YamlMap& section,
                                                    const std::string& cluster);

}  // namespace gpuward::remediator
