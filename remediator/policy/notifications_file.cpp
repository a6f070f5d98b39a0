// The YAML of the notifications:
//
//   notifications:
//     cluster: prod-eu-1               # cluster_name of every event
//     runbooks: https://wiki/gpuward/  # where the pages of alerts/runbooks are; default: GitHub
//     sinks:
//       - name: oncall
//         slack: {url_file: /etc/gpuward-slack/url}   # the URL is a secret
//         moments: [held, paused, approval]  # default: opened, approval, escalated, held, paused,
//                                            # closed; there is also step
//         severity: reset              # and worse; default: monitor
//         text: "{{severity}} on {{node_name}}: {{message}}"  # message_template.cpp has the names
//         timeout: 10s                 # of one try
//         give_up_after: 1h            # of one notification, from its first try on
//         per_minute: 60
//       - name: tickets
//         webhook:
//           url: https://tickets/api   # or url_file
//           bearer_token_file: /etc/gpuward-tickets/token
//           ca_file: /etc/gpuward-tickets/ca.pem
//       - {name: topic, sns: {topic_arn: "arn:aws:sns:eu-west-1:123456789012:gpu-alerts"}}
//       - {name: function, lambda: {function: gpu-alerts, region: eu-west-1}}  # region: as AWS's
//                                      # own tools find it
//       - {name: metric, cloudwatch: {namespace: gpuward}}  # GPUErrorByType; default moments:
//                                      # opened, so that each error counts once
#include <algorithm>
#include <array>
#include <string>

#include "remediator/policy/message_template.h"
#include "remediator/policy/notifications.h"

namespace gpuward::remediator {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::size_t kLongestSinkName = 63;  // it is a label of metrics

// One kind of sink: its word in the file, and how what stands under it is read.
struct SinkKind {
  std::string_view word;
  void (*read)(const YamlMap& map, SinkSettings& sink);
};

std::filesystem::path read_path(const YamlMap& map, std::string_view key) {
  std::string path;
  map.read(key, path);
  if (!path.empty() && path.front() != '/') map.reject(key, "must be an absolute path");
  return path;
}

void read_url_file(const YamlMap& map, SinkSettings& sink) {
  sink.url_file = read_path(map, "url_file");
  sink.ca_file = read_path(map, "ca_file");
}

void read_slack(const YamlMap& map, SinkSettings& sink) {
  read_url_file(map, sink);
  if (sink.url_file.empty()) map.reject("url_file", "must name the file with the URL, a secret");
}

void read_webhook(const YamlMap& map, SinkSettings& sink) {
  read_url_file(map, sink);
  map.read("url", sink.url);
  sink.bearer_token_file = read_path(map, "bearer_token_file");
  if (sink.url.empty() == sink.url_file.empty()) {
    map.reject("url", "must be given, or url_file, and not both");
  } else if (!sink.url.empty() && !sink.url.starts_with("http://") &&
             !sink.url.starts_with("https://")) {
    map.reject("url", "must begin with http:// or https://");
  }
}

void read_region(const YamlMap& map, SinkSettings& sink) { map.read("region", sink.region); }

void read_sns(const YamlMap& map, SinkSettings& sink) {
  map.require("topic_arn", sink.target);
  sink.region = region_of_topic(sink.target);
  if (!sink.target.empty() && sink.region.empty()) {
    map.reject("topic_arn", "must be the ARN of a topic: arn:aws:sns:REGION:ACCOUNT:NAME");
  }
}

void read_lambda(const YamlMap& map, SinkSettings& sink) {
  map.require("function", sink.target);
  read_region(map, sink);
}

void read_cloudwatch(const YamlMap& map, SinkSettings& sink) {
  sink.target = "gpuward";
  map.read("namespace", sink.target);
  if (sink.target.empty() || sink.target.starts_with("AWS/")) {
    map.reject("namespace", "must be a namespace of your own, such as gpuward");
  }
  read_region(map, sink);
  sink.moments = {Moment::kOpened};
}

constexpr std::array<SinkKind, 5> kSinkKinds{{{"cloudwatch", read_cloudwatch},
                                              {"lambda", read_lambda},
                                              {"slack", read_slack},
                                              {"sns", read_sns},
                                              {"webhook", read_webhook}}};

void read_kind(const YamlMap& map, SinkSettings& sink) {
  std::size_t found = 0;
  for (const SinkKind& kind : kSinkKinds) {
    if (!map.has(kind.word)) continue;
    ++found;
    sink.kind = kind.word;
    kind.read(map.map(kind.word), sink);
  }
  if (found != 1)
    map.reject("name", "needs exactly one of cloudwatch, lambda, slack, sns, webhook beside it");
}

void read_moments(const YamlMap& map, SinkSettings& sink) {
  if (!map.has("moments")) return;
  std::vector<std::string> words;
  map.read("moments", words);
  sink.moments.clear();
  for (const std::string& word : words) {
    const auto moment = parse_moment(word);
    if (!moment || *moment == Moment::kNotify) {
      map.reject("moments",
                 "each must be one of opened, step, approval, escalated, held, paused, closed");
      return;
    }
    sink.moments.insert(*moment);
  }
}

void read_floor(const YamlMap& map, SinkSettings& sink) {
  std::string word(to_string(sink.floor));
  map.read("severity", word);
  const auto severity = parse_severity(word);
  if (!severity || *severity == Severity::kNone) {
    map.reject("severity", "must be one of isolate, reboot, reset, monitor");
    return;
  }
  sink.floor = *severity;
}

SinkSettings read_sink(const YamlMap& map) {
  SinkSettings sink;
  map.require("name", sink.name);
  if (sink.name.size() > kLongestSinkName) map.reject("name", "is longer than 63 characters");
  read_kind(map, sink);
  read_moments(map, sink);
  read_floor(map, sink);
  sink.text = default_text();
  map.read("text", sink.text);
  if (const auto good = check_template(sink.text); !good) map.reject("text", good.error().message);
  map.read("timeout", sink.timeout, seconds(1), minutes(1));
  map.read("give_up_after", sink.give_up_after, seconds(1), hours(24));
  map.read("per_minute", sink.per_minute, 1, 6000);
  return sink;
}

}  // namespace

NotificationPolicy read_notifications(const YamlMap& section) {
  NotificationPolicy policy;
  section.read("cluster", policy.cluster);
  section.read("runbooks", policy.runbooks);
  std::set<std::string> names;
  for (const YamlMap& map : section.maps("sinks")) {
    policy.sinks.push_back(read_sink(map));
    if (!names.insert(policy.sinks.back().name).second) {
      map.reject("name", "is the name of two sinks");
    }
  }
  return policy;
}

}  // namespace gpuward::remediator
