// docs/configuration.md: the defaults, held against the values of the code.
#include <gmock/gmock.h>

#include <sstream>

#include "core/runtime/yaml_scalars.h"
#include "exporter/config/settings.h"
#include "remediator/policy/policy.h"
#include "tests/reference/keys.h"

namespace gpuward::reference {
namespace {

using remediator::Step;

std::string text(std::chrono::milliseconds time) { return to_duration_text(time); }
std::string text(bool is_so) { return is_so ? "true" : "false"; }
std::string text(const std::string& words) { return words; }
std::string text(std::string_view words) { return std::string(words); }
std::string text(const std::filesystem::path& path) { return path.string(); }
template <typename T>
  requires std::is_arithmetic_v<T>
std::string text(T number) {
  std::ostringstream out;
  out << number;
  return out.str();
}

using Presets = std::map<std::string, std::string>;

void add_share(Presets& presets, const std::string& path, const remediator::Share& share) {
  presets[path + ".nodes"] = text(share.nodes);
  presets[path + ".percent"] = text(share.percent);
}

void add_scope(Presets& presets, const std::string& path, const remediator::ScopeLimit& limit) {
  add_share(presets, path, limit.at_once);
  add_share(presets, path + ".windows[]", {});
}

Presets of_budgets() {
  const remediator::BudgetLimits limits;
  Presets presets = {{"budgets.storm.window", text(limits.storm.window)},
                     {"budgets.breaker.window", text(limits.breaker.window)},
                     {"budgets.orphan_hold", text(limits.orphan_hold)},
                     {"budgets.zone_label", text(limits.keys.zone)}};
  add_scope(presets, "budgets.cluster", limits.cluster);
  add_scope(presets, "budgets.pool", limits.pool);
  add_scope(presets, "budgets.zone", limits.zone);
  add_scope(presets, "budgets.labels[]", {});
  add_share(presets, "budgets.taint", limits.tainted);
  add_share(presets, "budgets.cordon", limits.cordoned);
  add_share(presets, "budgets.terminate[]", {});
  add_share(presets, "budgets.min_healthy", limits.min_healthy);
  add_share(presets, "budgets.storm", limits.storm.share);
  add_share(presets, "budgets.breaker", limits.breaker.share);
  return presets;
}

Presets of_steps() {
  Presets presets;
  for (const Step step :
       {Step::kCollectEvidence, Step::kRestartJob, Step::kGpuReset, Step::kReboot,
        Step::kQuarantineJob, Step::kNcclTest, Step::kNcclPairs, Step::kTerminate, Step::kVerify}) {
    presets["steps." + std::string(to_string(step)) + ".timeout"] =
        text(remediator::planned(step).timeout);
  }
  const remediator::JobSettings job;
  const remediator::JobSettings pairs = remediator::planned(Step::kNcclPairs).job;
  const remediator::VolumeWait volumes;
  const remediator::WaitBefore wait;
  presets.insert({{"steps.verify.soak", text(remediator::planned(Step::kVerify).soak)},
                  {"steps.gpu-reset.on_busy", job.escalates_when_busy ? "escalate" : "hold"},
                  {"steps.quarantine-job.clears_latched", text(job.clears_latched)},
                  {"steps.nccl-test.clears_latched", text(job.clears_latched)},
                  {"steps.nccl-test.min_bus_bandwidth", text(job.min_bus_bandwidth)},
                  {"steps.nccl-pairs.min_bus_bandwidth", text(pairs.min_bus_bandwidth)},
                  {"steps.nccl-pairs.together", text(pairs.together)},
                  {"steps.terminate.volumes.deadline", text(volumes.deadline)},
                  {"steps.terminate.volumes.on_deadline", volumes.proceeds ? "proceed" : "hold"},
                  {"steps.wait.approval", text(wait.approval)},
                  {"steps.wait.delay", text(wait.delay)}});
  return presets;
}

Presets of_drains() {
  const remediator::DrainSettings drain;
  const remediator::EvictionRate rate;
  EXPECT_EQ(drain.pods, remediator::DrainedPods::kAll);
  EXPECT_EQ(drain.on_deadline, remediator::OnDeadline::kHold);
  EXPECT_EQ(drain.unreachable, remediator::UnreachablePods::kWait);
  EXPECT_EQ(remediator::NamespaceRule{}.mode, remediator::NamespaceMode::kEvict);
  return {{"drain.pods", "all"},
          {"drain.deadline", text(drain.deadline)},
          {"drain.on_deadline", "hold"},
          {"drain.empty_dir", drain.evicts_empty_dir ? "evict" : "refuse"},
          {"drain.unmanaged", drain.evicts_unmanaged ? "evict" : "refuse"},
          {"drain.namespaces[].mode", "evict"},
          {"drain.override_do_not_disrupt", text(drain.overrides_do_not_disrupt)},
          {"drain.unreachable", "wait"},
          {"evictions.per_second", text(rate.per_second)},
          {"evictions.burst", text(rate.burst)},
          {"evictions.most_in_flight", text(rate.most_in_flight)}};
}

Presets of_sources() {
  const remediator::LokiRules loki;
  const remediator::TriageRules triage;
  const remediator::ConditionRule condition;
  return {{"foreign_alerts[].node_label", text(remediator::ForeignAlertRule{}.node_label)},
          {"conditions[].status", text(condition.status)},
          {"conditions[].for", text(condition.held_for)},
          {"conditions[].drain", text(condition.drains)},
          {"loki.kernel_selector", text(loki.kernel_selector)},
          {"loki.node_label", text(loki.node_label)},
          {"loki.namespace_label", text(loki.namespace_label)},
          {"loki.pod_lines[].severity", text(to_string(remediator::PodLineRule{}.severity))},
          {"loki.every", text(loki.every)},
          {"loki.overlap", text(loki.overlap)},
          {"loki.quiet_for", text(loki.quiet_for)},
          {"loki.konduktor_taint", text(loki.konduktor_taint)},
          {"triage.max_severity", text(to_string(to_severity(triage.max_severity)))},
          {"triage.min_confidence", text(triage.min_confidence)},
          {"triage.timeout", text(triage.timeout)},
          {"triage.per_hour", text(triage.per_hour)},
          {"triage.characters_per_day", text(triage.characters_per_day)},
          {"triage.line_characters", text(triage.line_characters)}};
}

Presets of_the_rest() {
  const remediator::Policy policy;
  const remediator::SinkSettings sink;
  return {{"mode", text(to_string(policy.mode))},
          {"drain_buffer", text(policy.drain_buffer)},
          {"cooldown", text(policy.cooldown)},
          {"evidence.max_age", text(policy.max_evidence_age)},
          {"remediations.keep_for", text(policy.retention.age)},
          {"remediations.keep_most", text(policy.retention.most)},
          {"return_to_service.enabled", text(policy.return_to_service.enabled)},
          {"return_to_service.max_report_age", text(policy.return_to_service.max_report_age)},
          {"excluded.control_plane", text(policy.excluded.control_plane)},
          {"maintenance_windows[].utc_offset", "+00:00"},
          {"machines.timeout", text(policy.machines.timeout)},
          {"machines.aws.reboot", text(policy.machines.aws.reboot)},
          {"machines.aws.terminate", text(policy.machines.aws.terminate)},
          {"jobs.namespace", text(policy.jobs.ns)},
          {"jobs.service_account", text(policy.jobs.service_account)},
          {"jobs.pair_port", text(policy.jobs.pair_port)},
          {"notifications.runbooks", text(policy.notifications.runbooks)},
          {"notifications.sinks[].severity", text(to_string(sink.floor))},
          {"notifications.sinks[].timeout", text(sink.timeout)},
          {"notifications.sinks[].give_up_after", text(sink.give_up_after)},
          {"notifications.sinks[].per_minute", text(sink.per_minute)},
          {"notifications.sinks[].cloudwatch.namespace", "gpuward"}};
}

TEST(DefaultsReference, OfThePolicyAreThoseOfTheCode) {
  Presets code = of_budgets();
  for (const Presets& more : {of_steps(), of_drains(), of_sources(), of_the_rest()}) {
    code.insert(more.begin(), more.end());
  }

  EXPECT_THAT(plain_presets(documented_keys("The policy file")), testing::ContainerEq(code));
}

TEST(DefaultsReference, OfTheExporterAreThoseOfTheCode) {
  const exporter::Settings settings;
  const exporter::CheckSettings& checks = settings.checks;
  const exporter::NodeSettings& node = settings.node;
  EXPECT_EQ(settings.catalogue.profile, xid::Profile::kDefault);
  EXPECT_EQ(settings.user_space_lines, exporter::UserSpaceLines::kMark);
  const Presets code = {
      {"profile", "default"},
      {"nvlink_default", text(to_string(settings.catalogue.nvlink_default))},
      {"nvlink5_default", text(to_string(settings.catalogue.nvlink5_default))},
      {"driver_branch", text(settings.catalogue.driver_branch)},
      {"kernel_log.path", text(settings.kernel_log_path)},
      {"kernel_log.user_space_lines", "mark"},
      {"findings.age", text(settings.findings_age)},
      {"gpu.interval", text(checks.gpu_interval)},
      {"gpu.timeout", text(checks.gpu_timeout)},
      {"gpu.settling_time", text(checks.settling_time)},
      {"checks.interval", text(checks.check_interval)},
      {"checks.dcgm_l2.enabled", text(checks.is_dcgm_l2_enabled)},
      {"checks.dcgm_l2.interval", text(checks.dcgm_l2_interval)},
      {"checks.max_retired_pages_sbe", text(checks.max_retired_pages_sbe)},
      {"checks.efa_min_gbits", text(checks.efa_min_gbits)},
      {"checks.dcgm_bare_fail", text(to_string(checks.dcgm_bare_fail))},
      {"checks.dcgm_l4_beside_telemetry", text(checks.is_dcgm_l4_beside_telemetry)},
      {"instance.profiles[].gpus", text(exporter::InstanceProfile{}.gpus)},
      {"instance.profiles[].efa", text(exporter::InstanceProfile{}.efa_devices)},
      {"instance.profiles[].nvlink", text(exporter::InstanceProfile{}.expects_nvlink)},
      {"instance.profiles[].provider", text(exporter::InstanceProfile{}.fabric_provider)},
      {"node.preset", text(to_string(node.preset))},
      {"node.labels", text(node.writes_labels)},
      {"node.taint", text(node.writes_taint)},
      {"node.annotation", text(node.writes_annotation)},
      {"node.condition", text(node.writes_condition)},
      {"pods.socket", text(settings.kubelet_socket)},
      {"amd.config", text(settings.amd_config)},
      {"amd.health_service.enabled", text(settings.amd_health.is_enabled)},
      {"amd.health_service.socket", text(settings.amd_health.socket)},
      {"amd.health_service.all_vendors", text(settings.amd_health.has_all_vendors)},
      {"metrics.dcgm_compat", text(settings.metrics.dcgm_compat)},
      {"metrics.efa_compat", text(settings.metrics.efa_compat)},
      {"metrics.per_link", text(settings.metrics.per_link)}};

  EXPECT_THAT(plain_presets(documented_keys("The exporter's file")), testing::ContainerEq(code));
}

}  // namespace
}  // namespace gpuward::reference
