#include <algorithm>
#include <array>
#include <string>

#include "core/http/syntax/plain_http.h"
#include "remediator/policy/message_template.h"
#include "remediator/policy/notifications.h"
#include "remediator/policy/policy_sections.h"

namespace gpuward::remediator {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::size_t kLongestSinkName = 63;  // it is a label of metrics

// One kind of sink: its key in the file, and the reader of its settings.
struct SinkKind {
  std::string_view word, about;
  void (*read)(const YamlMap& map, SinkSettings& sink);
};

void read_url_file(const YamlMap& map, SinkSettings& sink, std::string_view about) {
  map.read_absolute("url_file", sink.url_file, about);
  map.read(
      "credentials_over_http", sink.credentials_over_http,
      "send a token, a password or a URL of `url_file` to another machine over plain HTTP too");
  map.read_absolute("ca_file", sink.ca_file,
                    "absolute path of a PEM file with the CA certificates to trust");
}

// A URL in a file is checked when the file is read.
void check_credentials(const YamlMap& map, std::string_view key, const SinkSettings& sink) {
  const auto plain =
      sink.credentials_over_http ? http::PlainHttp::kAllowed : http::PlainHttp::kRefused;
  const auto checked = http::check_credentials_for(sink.url, plain, "credentials_over_http");
  if (!checked) map.reject(key, checked.error().message);
}

void read_slack(const YamlMap& map, SinkSettings& sink) {
  read_url_file(map, sink, "absolute path of the file with the URL, which is a secret; required");
  if (sink.url_file.empty())
    map.reject("url_file", "must be the path of the file with the URL, which is a secret");
}

void read_webhook(const YamlMap& map, SinkSettings& sink) {
  map.read("url", sink.url, "the URL; set this or `url_file`");
  read_url_file(map, sink, "absolute path of the file with the URL");
  map.read_absolute("bearer_token_file", sink.bearer_token_file,
                    "absolute path of the file with the token to send");
  if (sink.url.empty() == sink.url_file.empty()) {
    map.reject("url", "set exactly one of url and url_file");
  } else if (!sink.url.empty() && !sink.url.starts_with("http://") &&
             !sink.url.starts_with("https://")) {
    map.reject("url", "must begin with http:// or https://");
  }
  const bool has_token = !sink.bearer_token_file.empty();
  if (has_token || http::has_user(sink.url))
    check_credentials(map, has_token ? "bearer_token_file" : "url", sink);
}

void read_region(const YamlMap& map, SinkSettings& sink) {
  map.read("region", sink.region, "AWS region; default: found as the AWS CLI finds it");
}

void read_sns(const YamlMap& map, SinkSettings& sink) {
  map.require("topic_arn", sink.target, "the ARN of the topic");
  sink.region = region_of_topic(sink.target);
  if (!sink.target.empty() && sink.region.empty()) {
    map.reject("topic_arn", "must be the ARN of a topic: arn:aws:sns:REGION:ACCOUNT:NAME");
  }
}

void read_lambda(const YamlMap& map, SinkSettings& sink) {
  map.require("function", sink.target, "the name or the ARN of the function");
  read_region(map, sink);
}

void read_cloudwatch(const YamlMap& map, SinkSettings& sink) {
  sink.target = "gpuward";
  map.read("namespace", sink.target,
           "namespace of the metric GPUErrorByType; must not begin with `AWS/`");
  if (sink.target.empty() || sink.target.starts_with("AWS/")) {
    map.reject("namespace", "must be a namespace of your own, such as gpuward");
  }
  read_region(map, sink);
  sink.moments = {Moment::kOpened};
}

void read_cloudwatch_logs(const YamlMap& map, SinkSettings& sink) {
  map.require("group", sink.target, "the log group; it must exist");
  read_region(map, sink);
}

constexpr std::array<SinkKind, 6> kSinkKinds{
    {{"cloudwatch", "a CloudWatch metric that counts errors by type", read_cloudwatch},
     {"cloudwatch_logs", "the log stream `gpuward-remediator` in CloudWatch Logs",
      read_cloudwatch_logs},
     {"lambda", "an AWS Lambda function", read_lambda},
     {"slack", "a Slack incoming webhook", read_slack},
     {"sns", "an Amazon SNS topic", read_sns},
     {"webhook", "any URL that accepts JSON", read_webhook}}};

void read_kind(const YamlMap& map, SinkSettings& sink) {
  std::size_t found = 0;
  for (const SinkKind& kind : kSinkKinds) {
    if (!map.has(kind.word)) continue;
    ++found;
    sink.kind = kind.word;
    kind.read(map.map(kind.word, kind.about), sink);
  }
  if (found == 1) return;
  std::string words;
  for (const SinkKind& kind : kSinkKinds)
    words += (words.empty() ? "" : ", ") + std::string(kind.word);
  map.reject("name", "the sink needs exactly one of " + words);
}

void read_moments(const YamlMap& map, SinkSettings& sink) {
  if (!map.has("moments")) return;
  std::vector<std::string> words;
  map.read("moments", words,
           "events to send: any of `opened`, `step`, `approval`, `escalated`, `held`, `paused`, "
           "`closed`; default: all except `step`, or only `opened` for `cloudwatch`");
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

SinkSettings read_sink(const YamlMap& map) {
  SinkSettings sink;
  map.require("name", sink.name, "name of the sink, at most 63 characters");
  if (sink.name.size() > kLongestSinkName) map.reject("name", "is longer than 63 characters");
  read_kind(map, sink);
  read_moments(map, sink);
  map.read_word("severity", sink.floor, kSeverityWords, "the lowest severity that is sent");
  sink.text = default_text();
  map.read("text", sink.text,
           "template of the message; its placeholders are in docs/notifications.md");
  if (const auto good = check_template(sink.text); !good) map.reject("text", good.error().message);
  map.read("timeout", sink.timeout, seconds(1), minutes(1), "time limit of one try");
  map.read("give_up_after", sink.give_up_after, seconds(1), hours(24),
           "time limit of one notification, from its first try");
  map.read("per_minute", sink.per_minute, 1, 6000, "maximum number of notifications a minute");
  return sink;
}

}  // namespace

NotificationPolicy read_notifications(const YamlMap& section, const std::string& cluster) {
  NotificationPolicy policy;
  policy.cluster = cluster;
  section.read("cluster", policy.cluster,
               "name of this cluster, sent as `cluster_name` in every event; default: the policy's "
               "`cluster`");
  section.read(
      "runbook_url", policy.runbook_url,
      "base URL of the runbooks, with one page per alert, as the remediator serves them under "
      "`/runbooks`; default: none, and an event's `runbook` is the command that prints "
      "the runbook");
  const std::string& url = policy.runbook_url;
  if (!url.empty() && !url.starts_with("http://") && !url.starts_with("https://"))
    section.reject("runbook_url", "must begin with http:// or https://");
  std::set<std::string> names;
  for (const YamlMap& map :
       section.maps("sinks",
                    "receivers, each with a name and one of `cloudwatch`, `cloudwatch_logs`, "
                    "`lambda`, `slack`, `sns`, `webhook`")) {
    policy.sinks.push_back(read_sink(map));
    if (!names.insert(policy.sinks.back().name).second) {
      map.reject("name", "is the name of two sinks");
    }
  }
  return policy;
}

}  // namespace gpuward::remediator
