#include "exporter/checks/nccl/nccl_check.h"

#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/runtime/child.h"
#include "core/runtime/files.h"
#include "core/runtime/text.h"
#include "exporter/checks/check/evidence.h"
#include "exporter/checks/check/expected_efa.h"
#include "exporter/checks/check/finding_list.h"
#include "exporter/checks/check/gpu_use.h"
#include "exporter/checks/nccl/nccl_launcher.h"
#include "exporter/checks/nccl/nccl_limits.h"
#include "exporter/checks/nccl/nccl_measurements.h"
#include "exporter/checks/nccl/nccl_outcome.h"

namespace gpuward::exporter {
namespace {

using std::chrono::milliseconds;

constexpr int kCheckNumber = 5;

std::optional<std::string> own_variable(std::string_view name) {
  const char* const value =
      std::getenv(std::string(name).c_str());  // NOLINT(concurrency-mt-unsafe): no setenv here
  return value == nullptr || *value == '\0' ? std::nullopt : std::optional<std::string>(value);
}

// Returns the name of this host as NCCL and nccl-tests print it: up to the first dot.
std::string own_host(const HostPaths& host) {
  const auto name = read_file(host.proc / "sys/kernel/hostname");
  if (!name) return {};
  return std::string(trim(name->substr(0, name->find('.'))));
}

// With a launcher, the program is on the nodes or in a container image and is not checked here.
CheckPrograms nccl_programs(const CheckSettings& settings) {
  const auto place = nccl_place(settings, own_variable);
  return {{{std::string(program_of(place.value_or(NcclPlace{})))}}, {}};
}

std::optional<std::string> obstacle(const NcclPlace& place, const CheckContext& context) {
  if (has_no_nvidia_gpu(context.snapshot)) return "no NVIDIA GPU here";
  const bool is_alone = !place.has_several_nodes();
  if (is_alone && nvidia_gpu_count(context.snapshot) < 2)
    return "all_reduce needs at least two GPUs; known on this node: " +
           std::to_string(nvidia_gpu_count(context.snapshot));
  if (!context.is_exclusive) {
    return is_alone
               ? "not in a multi-node allocation; to test this node alone, drain it and run the "
                 "check with --exclusive"
               : "all_reduce loads the GPUs of all nodes: drain the nodes, then run the check with "
                 "--exclusive";
  }
  if (const auto mig = mig_gpu(context.snapshot)) return *mig + ": NCCL needs whole GPUs";
  return gpu_user(context.snapshot);
}

// The optional sub-tests of one transport each. They never do more than warn.
struct SubTest {
  std::string_view name;
  std::map<std::string, std::string> environment;
  double wanted = 0;
};

void run_sub_test(const SubTest& test, const NcclPlace& place, const CheckContext& context,
                  CheckOutcome& outcome) {
  const auto result = run_child(
      nccl_command(
          {{"-b", "256M", "-e", "256M"}, test.environment, context.settings.nccl_isolation_timeout},
          place, context),
      context.clock);
  FindingList found(context.settings);
  const std::string name(test.name);
  if (!result) {
    found.add(Code::kNcclSubTest, "", name + ": " + result.error().message);
  } else if (const auto report = parse_nccl_output(result->output);
             result->exit_code != 0 || !report.is_complete()) {
    found.add(Code::kNcclSubTest, "", name + " " + how_it_ended(*result) + ": " + report.complaint);
  } else {
    outcome.details += "; " + name + " " + gigabytes_per_second(report.best_bus_bandwidth);
    if (report.best_bus_bandwidth < test.wanted) {
      found.add(Code::kNcclSubTest, "",
                name + ": " + gigabytes_per_second(report.best_bus_bandwidth) + ", minimum is " +
                    gigabytes_per_second(test.wanted));
    }
  }
  for (Finding& finding : found.take_findings()) outcome.findings.push_back(std::move(finding));
}

SubTest nvlink_test(const NcclPlace& place, const CheckContext& context) {
  SubTest test{"NVLink only", {{"NCCL_P2P_LEVEL", "NVL"}, {"NCCL_NET", "Socket"}}, 0};
  if (!place.has_several_nodes()) {
    test.wanted = wanted_bus_bandwidth(1, context);
    return test;
  }
  // A different colour for each process keeps the test within each node (README of nccl-tests).
  test.environment.insert({"NCCL_TESTS_SPLIT_MASK", "0xffffffff"});
  test.wanted = nccl_limits(context.instance_type).nvlink;
  return test;
}

SubTest efa_test(const NcclPlace& place, const CheckContext& context) {
  // Within one node only the operator has a number for it.
  return {"EFA only",
          {{"NCCL_P2P_DISABLE", "1"}, {"NCCL_SHM_DISABLE", "1"}, {"NCCL_NET", "AWS Libfabric"}},
          place.has_several_nodes() ? wanted_bus_bandwidth(place.nodes, context)
                                    : context.settings.nccl_min_bus_bandwidth};
}

void run_sub_tests(const NcclPlace& place, const CheckContext& context, CheckOutcome& outcome) {
  run_sub_test(nvlink_test(place, context), place, context, outcome);
  if (expected_efa(context).count() == 0 || context.stop.stop_requested()) return;
  run_sub_test(efa_test(place, context), place, context, outcome);
}

NcclTest whole_test(const CheckSettings& settings) {
  const auto own = settings.timeouts.find(kCheckNumber);
  return {{"-b", "8", "-e", "128M", "-f", "2"},
          {},
          own == settings.timeouts.end() ? settings.nccl_timeout : own->second};
}

NcclRun run_of(const ChildResult& result, const NcclPlace& place, const HostPaths& host) {
  NcclRun run;
  run.nodes = place.nodes;
  run.exit_code = result.exit_code;
  run.ended = how_it_ended(result);
  run.said = to_valid_utf8(trim(result.complaint), 200);
  run.report = parse_nccl_output(result.output + "\n" + result.complaint, own_host(host));
  return run;
}

CheckOutcome test_at(const NcclPlace& place, const ChildCommand& command,
                     const CheckContext& context) {
  const auto result = run_child(command, context.clock);
  if (!result) {
    const bool is_late = result.error().kind == ErrorKind::kTimeout;
    return CheckOutcome::error((is_late ? "all_reduce timed out: " : "") + result.error().message);
  }
  CheckOutcome outcome = nccl_outcome(run_of(*result, place, context.host), context);
  outcome.details += keep_evidence(context.settings, "nccl-allreduce-raw.txt", result->output);
  const bool is_whole = outcome.kind == CheckOutcome::Kind::kDone && result->exit_code == 0;
  if (is_whole && context.settings.nccl_isolation_tests) run_sub_tests(place, context, outcome);
  return outcome;
}

}  // namespace

CheckOutcome NcclCheck::run(const CheckContext& context) {
  const auto place = nccl_place(context.settings, own_variable);
  if (!place) return CheckOutcome::skipped(place.error().message);
  const ChildCommand command = nccl_command(whole_test(context.settings), *place, context);
  const auto programs = find_programs(nccl_programs(context.settings), command.search);
  if (!programs.can_run()) return CheckOutcome::skipped(programs.why_not());
  if (auto why = obstacle(*place, context)) return CheckOutcome::skipped(std::move(*why));
  return test_at(*place, command, context);
}

CheckEntry nccl_entry() {
  CheckEntry entry;
  entry.number = kCheckNumber;
  entry.name = "5-nccl-allreduce";
  entry.short_name = "nccl-allreduce";
  entry.suite = Suite::kIntensive;
  entry.rhythm = CheckEntry::Rhythm::kOnDemand;
  entry.loads_gpus = true;
  // The test and two sub-tests, 600 s each.
  entry.timeout = std::chrono::seconds(1800 + 2 * 600 + 60);
  entry.programs = nccl_programs;
  entry.make = []() -> std::unique_ptr<Check> { return std::make_unique<NcclCheck>(); };
  return entry;
}

}  // namespace gpuward::exporter
