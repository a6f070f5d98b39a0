#include "remediator/inbox/sources/prometheus_reports.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/kube/names.h"
#include "core/runtime/json.h"
#include "remediator/model/error_class.h"
#include "remediator/policy/cluster_name.h"

namespace gpuward::remediator {
namespace {

constexpr std::string_view kAbout = "asking Prometheus for the node's report";
constexpr std::string_view kClaimsKept =
    "7d";  // as long as restarts count (decide/budgets/slot_claim)
constexpr std::size_t kLongestSerial = 128;  // the resource's limit; real ones have 13 digits

struct Parts {
  std::optional<double> measured_at, severity, confirmed_severity, kernel_log_up;
  std::optional<double> diagnostics, drill, unsettled;
  std::map<Severity, double> observed_at;
  std::optional<std::string> boot_id;
  std::string error_class;
  std::set<std::string> gpus;
};

void add_finding(const Json& labels, Parts& parts) {
  const auto severity = parse_severity(string_at(labels, "severity"));
  std::string found =
      error_class_of({{"check", string_at(labels, "check")}, {"code", string_at(labels, "code")}},
                     severity.value_or(Severity::kMonitor));
  if (is_milder_class(parts.error_class, found)) parts.error_class = std::move(found);
}

// Boards without a number of their own report 0. As one serial number, they would all be the same
// GPU, and an attempt on one would count for every other.
std::string gpu_of(const Json& labels) {
  const std::string serial = string_at(labels, "serial");
  const bool has_number = serial.find_first_not_of('0') != std::string::npos;
  return has_number ? serial : string_at(labels, "uuid");
}

// The text becomes part of a query.
bool is_plain(std::string_view serial) {
  return !serial.empty() && serial.size() <= kLongestSerial &&
         std::ranges::all_of(serial, [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
         });
}

void add_gpu(const Json& labels, Parts& parts) {
  std::string gpu = gpu_of(labels);
  if (is_plain(gpu)) parts.gpus.insert(std::move(gpu));
}

Status add_sample(const Json& sample, Parts& parts) {
  const Json& labels = member_at(sample, "metric");
  const std::string what = string_at(labels, "what");
  const auto value = sample_value(sample);
  if (!value) return std::unexpected(value.error());
  if (what == "measured_at") {
    parts.measured_at = std::min(parts.measured_at.value_or(*value), *value);
  } else if (what == "severity") {
    parts.severity = std::max(parts.severity.value_or(*value), *value);
  } else if (what == "confirmed_severity") {
    parts.confirmed_severity = std::min(parts.confirmed_severity.value_or(*value), *value);
  } else if (what == "kernel_log_up") {
    parts.kernel_log_up = std::min(parts.kernel_log_up.value_or(*value), *value);
  } else if (what == "diagnostics") {
    parts.diagnostics = std::min(parts.diagnostics.value_or(*value), *value);
  } else if (what == "unsettled") {
    parts.unsettled = std::max(parts.unsettled.value_or(*value), *value);
  } else if (what == "drill") {
    parts.drill = std::max(parts.drill.value_or(*value), *value);
  } else if (what == "observed") {
    const auto severity = parse_severity(string_at(labels, "severity"));
    if (!severity) return fail(ErrorKind::kInvalid, "an observation has an unknown severity");
    const auto known = parts.observed_at.try_emplace(*severity, *value).first;
    known->second = std::min(known->second, *value);
  } else if (what == "finding") {
    add_finding(labels, parts);
  } else if (what == "gpu") {
    add_gpu(labels, parts);
  } else if (what == "boot") {
    std::string boot_id = string_at(labels, "boot_id");
    if (parts.boot_id && *parts.boot_id != boot_id) {
      return fail(ErrorKind::kInvalid, "two boot IDs are reported for the node at once");
    }
    parts.boot_id = std::move(boot_id);
  }
  return {};
}

Result<Severity> to_severity(double value) {
  if (value < 0 || value > 4 || value != std::floor(value)) {
    return fail(ErrorKind::kInvalid, "the node's severity is not a whole number from 0 to 4");
  }
  return static_cast<Severity>(value);
}

Result<HealthReport> to_report(const Parts& parts) {
  if (!parts.measured_at || !parts.severity || !parts.boot_id || parts.boot_id->empty()) {
    return fail(ErrorKind::kNotFound, "Prometheus has no health report for the node");
  }
  const auto severity = to_severity(*parts.severity);
  if (!severity) return std::unexpected(severity.error());
  // Absent counts as none: this severity allows steps, while the whole severity forbids them.
  const auto kernel = to_severity(parts.confirmed_severity.value_or(0));
  if (!kernel) return std::unexpected(kernel.error());
  const auto diagnostics = to_severity(parts.diagnostics.value_or(0));
  if (!diagnostics) return std::unexpected(diagnostics.error());
  const auto drill = to_severity(parts.drill.value_or(0));
  if (!drill) return std::unexpected(drill.error());
  HealthReport report;
  report.drill_severity = *drill;
  report.measured_at = time_of_sample(*parts.measured_at);
  report.diagnostics_severity = *diagnostics;
  for (const auto& [observed, seconds] : parts.observed_at) {
    if (seconds > 0) report.observed_at[observed] = time_of_sample(seconds);
  }
  report.severity = *severity;
  report.confirmed_severity = *kernel;
  report.boot_id = *parts.boot_id;
  report.error_class = parts.error_class;
  report.gpus.assign(parts.gpus.begin(), parts.gpus.end());
  report.is_settled = parts.unsettled.value_or(0) < 1;
  report.sees_kernel_log = parts.kernel_log_up.value_or(0) >= 1;
  return report;
}

}  // namespace

std::string report_query(std::string_view node, std::string_view cluster) {
  // As in the alert rules: a label `node` in any other job's series may mean anything.
  const std::string matchers =
      "{job=\"gpuward-exporter\",node=\"" + std::string(node) + "\"" + cluster_matcher(cluster);
  const std::string selector = matchers + "}";
  return query_part("timestamp(gpuward_node_severity" + selector + ")", "measured_at") + " or " +
         query_part("gpuward_node_severity" + selector, "severity") + " or " +
         query_part("gpuward_node_confirmed_severity" + selector, "confirmed_severity") + " or " +
         query_part("gpuward_drill_severity" + selector, "drill") + " or " +
         query_part("gpuward_node_unsettled" + selector, "unsettled") + " or " +
         query_part("gpuward_kernel_log_up" + selector, "kernel_log_up") + " or " +
         query_part("gpuward_node_severity_observed_timestamp_seconds" + selector, "observed") +
         " or " + query_part("gpuward_node_diagnostics_severity" + selector, "diagnostics") +
         " or " +
         query_part("max by (check,code,severity) (gpuward_finding" + selector + ")", "finding") +
         " or " +
         query_part("max by (serial,uuid) (gpuward_gpu_info" + selector +
                        " and on(pci_bus_id) gpuward_finding" + matchers +
                        ",severity=~\"reset|reboot|isolate\"})",
                    "gpu") +
         " or " + query_part("gpuward_boot_info" + selector, "boot");
}

std::string claims_query(std::string_view node, std::span<const std::string> gpus,
                         std::string_view cluster) {
  std::string any;
  for (const std::string& gpu : gpus) any += (any.empty() ? "" : "|") + gpu;
  std::string query;
  const auto add = [&](const std::string& expression, std::string_view what) {
    query += (query.empty() ? "" : " or ") + query_part(expression, what);
  };
  const std::string own = cluster_matcher(cluster);
  for (const std::string label : {"serial", "uuid"}) {
    const auto times = [&](std::string_view is, const std::string& where) {
      return "timestamp(gpuward_gpu_info{job=\"gpuward-exporter\",node" + std::string(is) + "\"" +
             std::string(node) + "\"," + label + "=~\"" + any + "\"" + where + "})";
    };
    // The query covers the time for which attempts count; only the instant part shows values
    // younger than a step. If two series have the same labels, `or` takes the first.
    const std::string kept = "[" + std::string(kClaimsKept) + ":5m])";
    const std::string by = " by (serial,uuid) (";
    add("min" + by + "min_over_time(" + times("=", own) + kept + ")", "own");
    add("min" + by + times("=", own) + ")", "own");
    // The last time counts: the instant part, if there is one, is later than any step.
    const auto others = [&](std::string_view is, const std::string& where) {
      add("max" + by + times(is, where) + ")", "other");
      add("max" + by + "max_over_time(" + times(is, where) + kept + ")", "other");
    };
    others("!=", "");
    // A node of the same name in another cluster is another node.
    if (!cluster.empty()) others("=", other_clusters_matcher(cluster));
  }
  return query;
}

Result<std::map<std::string, GpuClaims>> decode_claims(std::string_view body) {
  const auto root = parse_json(body, {.max_bytes = 1U << 20U, .max_depth = 12});
  const auto samples = samples_of(root);
  if (!samples) return std::unexpected(samples.error());
  std::map<std::string, GpuClaims> claims;
  for (const Json& sample : **samples) {
    const Json& labels = member_at(sample, "metric");
    const auto at = sample_value(sample);
    if (!at) return std::unexpected(at.error());
    GpuClaims& known = claims[gpu_of(labels)];
    if (string_at(labels, "what") == "own") {
      known.own_since =
          std::min(known.own_since.value_or(time_of_sample(*at)), time_of_sample(*at));
    } else {
      known.others_until =
          std::max(known.others_until.value_or(time_of_sample(*at)), time_of_sample(*at));
    }
  }
  return claims;
}

Result<HealthReport> decode_report(std::string_view body) {
  const auto root = parse_json(body, {.max_bytes = 1U << 20U, .max_depth = 12});
  const auto samples = samples_of(root);
  if (!samples) return std::unexpected(samples.error());
  Parts parts;
  for (const Json& sample : **samples) {
    if (auto status = add_sample(sample, parts); !status) return std::unexpected(status.error());
  }
  return to_report(parts);
}

PrometheusReports::PrometheusReports(std::string url, http::Client& http,
                                     const CurrentPolicy& policy, Clock& clock,
                                     std::chrono::milliseconds timeout)
    : query_(std::move(url), http, clock, timeout), policy_(policy) {}

// Separates GPUs that other nodes may have claimed before any decision uses the report.
Result<HealthReport> PrometheusReports::latest(std::string_view node) {
  if (auto status = kube::validate_node_name(node); !status) return std::unexpected(status.error());
  const std::string cluster = policy_.get()->cluster;
  const auto body = query_.ask(report_query(node, cluster), kAbout);
  if (!body) return std::unexpected(body.error());
  auto report = decode_report(*body);
  if (!report || report->gpus.empty()) return report;
  const auto answer = query_.ask(claims_query(node, report->gpus, cluster), kAbout);
  if (!answer) return std::unexpected(answer.error());
  const auto claims = decode_claims(*answer);
  if (!claims) return std::unexpected(claims.error());
  WeighedGpus weighed = weigh_gpus(std::move(report->gpus), *claims);
  report->gpus = std::move(weighed.speaking);
  report->contested_gpus = std::move(weighed.contested);
  return report;
}

}  // namespace gpuward::remediator
