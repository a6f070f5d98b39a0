#include "exporter/checks/nccl/nccl_outcome.h"

#include <array>
#include <cstdio>
#include <utility>

#include "exporter/checks/check/expected_efa.h"
#include "exporter/checks/check/finding_list.h"
#include "exporter/checks/check/gpu_use.h"
#include "exporter/checks/nccl/nccl_limits.h"

namespace gpuward::exporter {
namespace {

// "8 GPUs", "8 GPUs on each of 2 nodes".
std::string gpus_of_run(const NcclRun& run, const CheckContext& context) {
  const std::string gpus = std::to_string(nvidia_gpu_count(context.snapshot)) + " GPUs";
  return run.nodes == 1 ? gpus : gpus + " on each of " + std::to_string(run.nodes) + " nodes";
}

// The replaced suite attributes each result to this node.
bool speaks_of_this_node(const NcclRun& run, const CheckContext& context) {
  return run.nodes == 1 || context.settings.is_seed_profile;
}

bool is_hardware_of_this_node(const NcclRun& run, const CheckContext& context) {
  return speaks_of_this_node(run, context) ? run.report.is_hardware_complaint
                                           : !run.report.own_hardware_complaint.empty();
}

bool is_over_efa(const std::string& network) {
  return network.starts_with("efa") || network == "AWS Libfabric";
}

void judge_network(const NcclMeasurements& report, const CheckContext& context,
                   FindingList& found) {
  if (expected_efa(context).count() == 0 || is_over_efa(report.network)) return;
  found.add(Code::kNcclNoEfa, "",
            report.network.empty() ? "NCCL did not report which network it uses"
                                   : "NCCL has chosen the network " + report.network);
}

CheckOutcome wrong_run(const NcclRun& run, const CheckContext& context) {
  const std::string what = std::to_string(*run.report.wrong_values) +
                           " results of all_reduce over " + gpus_of_run(run, context) +
                           " are wrong";
  FindingList found(context.settings);
  if (run.nodes == 1) {
    found.add(Code::kNcclWrongValues, "", what);
  } else {
    found.add(Code::kNcclWrongValuesUnattributed, "", what);
    found.cannot_tell_anything("");  // this run clears no finding
  }
  CheckOutcome outcome = CheckOutcome::done(what, found.take_findings());
  outcome.untold = found.take_untold();
  return outcome;
}

std::string words_of_failure(const NcclRun& run) {
  std::string words = "all_reduce_perf";
  if (run.nodes != 1) words += " on " + std::to_string(run.nodes) + " nodes";
  words += " " + run.ended;
  const NcclMeasurements& report = run.report;
  if (!report.own_hardware_complaint.empty()) return words + ": " + report.own_hardware_complaint;
  if (!report.complaint.empty()) return words + ": " + report.complaint;
  words += " and returned no complete result";
  return run.said.empty() ? words : words + "; output: " + run.said;
}

CheckOutcome failed_run(const NcclRun& run, const CheckContext& context) {
  const std::string what = words_of_failure(run);
  FindingList found(context.settings);
  if (is_hardware_of_this_node(run, context)) {
    found.add(Code::kNcclHardwareError, "", what);
  } else if (context.settings.is_seed_profile) {
    found.add_as(Code::kNcclFailed,
                 run.report.complaint.empty() ? Severity::kReset : Severity::kIsolate, "", what,
                 {});
  } else {
    return CheckOutcome::error(what);
  }
  return CheckOutcome::done(what, found.take_findings());
}

CheckOutcome measured_run(const NcclRun& run, const CheckContext& context) {
  const NcclMeasurements& report = run.report;
  const double wanted = wanted_bus_bandwidth(run.nodes, context);
  std::string details = "all_reduce over " + gpus_of_run(run, context) + ": best bus bandwidth " +
                        gigabytes_per_second(report.best_bus_bandwidth);
  if (wanted <= 0) details += "; no threshold is known for this instance type";
  FindingList found(context.settings);
  if (report.best_bus_bandwidth < wanted) {
    found.add(Code::kNcclSlow, "",
              "bus bandwidth " + gigabytes_per_second(report.best_bus_bandwidth) + " at " +
                  std::to_string(report.best_size) + " bytes over " + gpus_of_run(run, context) +
                  ", minimum is " + gigabytes_per_second(wanted));
  }
  judge_network(report, context, found);
  return CheckOutcome::done(std::move(details), found.take_findings());
}

}  // namespace

std::string gigabytes_per_second(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f GB/s", value);
  return text.data();
}

double wanted_bus_bandwidth(unsigned nodes, const CheckContext& context) {
  if (context.settings.nccl_min_bus_bandwidth > 0) return context.settings.nccl_min_bus_bandwidth;
  const NcclLimits limits = nccl_limits(context.instance_type);
  return nodes == 1 ? limits.nvlink : limits.all;
}

CheckOutcome nccl_outcome(const NcclRun& run, const CheckContext& context) {
  const NcclMeasurements& report = run.report;
  if (report.wrong_values.value_or(0) != 0 && !is_hardware_of_this_node(run, context))
    return wrong_run(run, context);
  if (run.exit_code != 0 || !report.is_complete() || report.is_hardware_complaint)
    return failed_run(run, context);
  if (run.nodes != 1 && report.summaries > 1) {
    return CheckOutcome::error(
        "each node tested only itself: all_reduce_perf was built without MPI, or for a different "
        "MPI than the launcher's");
  }
  return measured_run(run, context);
}

}  // namespace gpuward::exporter
