#include "remediator/inbox/sources/prometheus_scrapes.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "core/kube/names.h"
#include "core/runtime/json.h"
#include "remediator/policy/cluster_name.h"

namespace gpuward::remediator {
namespace {

constexpr std::chrono::seconds kTimeout{2};

bool is_address(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return std::isxdigit(static_cast<unsigned char>(c)) != 0 || c == '.' || c == ':';
  });
}

// RE2 within a PromQL string; an IPv6 address is in brackets if a port follows.
std::string instance_matcher(std::string_view address) {
  std::string escaped;
  for (const char c : address) escaped += c == '.' ? "\\\\." : std::string(1, c);
  return "instance=~\"\\\\[?" + escaped + "\\\\]?(:[0-9]+)?\"";
}

void add_scrape(std::string_view what, double value, NodeScrapes& scrapes) {
  const int count = static_cast<int>(std::clamp(value, 0.0, 1e6));
  if (what == "exporter") {
    scrapes.exporter = scrapes.exporter.value_or(false) || value >= 1;
  } else if (what == "at") {
    scrapes.at = std::min(scrapes.at.value_or(time_of_sample(value)), time_of_sample(value));
  } else if (what == "others_up") {
    scrapes.others_up = count;
  } else if (what == "others_down") {
    scrapes.others_down = count;
  } else if (what == "fleet_up") {
    scrapes.fleet_up = count;
  } else if (what == "fleet_down") {
    scrapes.fleet_down = count;
  } else if (what == "seen_at") {
    scrapes.seen_at = time_of_sample(value);
  } else if (what == "severity" && value >= 0 && value <= 4) {
    scrapes.severity = static_cast<Severity>(value);
  }
}

}  // namespace

std::string scrapes_query(std::string_view node, std::string_view address,
                          std::string_view cluster) {
  const std::string of_cluster = cluster_matcher(cluster);
  const std::string named = "node=\"" + std::string(node) + "\"" + of_cluster;
  const std::string exporter = "{job=\"gpuward-exporter\"," + named + "}";
  std::string others = "up{job!=\"gpuward-exporter\"," + named + "}";
  if (is_address(address))
    others = "(" + others + " or up{job!=\"gpuward-exporter\"," + instance_matcher(address) +
             of_cluster + "})";
  const std::string fleet = "up{job=\"gpuward-exporter\"" + of_cluster + "}";
  return query_part("max(up" + exporter + ")", "exporter") + " or " +
         query_part("min(timestamp(up" + exporter + "))", "at") + " or " +
         query_part("count(" + others + "==1)", "others_up") + " or " +
         query_part("count(" + others + "==0)", "others_down") + " or " +
         query_part("count(" + fleet + "==1)", "fleet_up") + " or " +
         query_part("count(" + fleet + "==0)", "fleet_down") + " or " +
         query_part("(max(timestamp(up" + exporter + "==1)) or max(max_over_time(timestamp(up" +
                        exporter + "==1)[1d:1m])))",
                    "seen_at") +
         " or " +
         query_part("max(last_over_time(gpuward_node_severity" + exporter + "[1d]))", "severity");
}

Result<NodeScrapes> decode_scrapes(std::string_view body) {
  const auto root = parse_json(body, {.max_bytes = 1U << 20U, .max_depth = 12});
  if (!root) return std::unexpected(root.error());
  // An answer with warnings may be incomplete.
  if (root->contains("warnings"))
    return fail(ErrorKind::kInternal, "Prometheus returned a partial result");
  const auto samples = samples_of(root);
  if (!samples) return std::unexpected(samples.error());
  NodeScrapes scrapes;
  for (const Json& sample : **samples) {
    const auto value = sample_value(sample);
    if (!value) return std::unexpected(value.error());
    add_scrape(string_at(member_at(sample, "metric"), "what"), *value, scrapes);
  }
  return scrapes;
}

PrometheusScrapes::PrometheusScrapes(std::string url, http::Client& http,
                                     const CurrentPolicy& policy, Clock& clock)
    : query_(std::move(url), http, clock, kTimeout), policy_(policy) {}

Result<NodeScrapes> PrometheusScrapes::of(std::string_view node, std::string_view address) {
  if (auto status = kube::validate_node_name(node); !status) return std::unexpected(status.error());
  const auto body = query_.ask(scrapes_query(node, address, policy_.get()->cluster),
                               "asking Prometheus for the scrapes of a node");
  if (!body) return std::unexpected(body.error());
  return decode_scrapes(*body);
}

}  // namespace gpuward::remediator
