#include "exporter/checks/efa/efa_enumeration_check.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "core/runtime/child.h"
#include "core/runtime/text.h"
#include "exporter/checks/check/check.h"
#include "exporter/checks/check/expected_efa.h"
#include "exporter/checks/check/finding_list.h"
#include "exporter/checks/check/gpu_use.h"
#include "exporter/checks/check/standing.h"
#include "exporter/host/modules.h"
#include "exporter/host/pci.h"
#include "exporter/host/processes.h"
#include "exporter/host/rdma.h"

namespace gpuward::exporter {
namespace {

// Two optional programs that know more about EFA than sysfs: libfabric's fi_info and GDRCopy's own
// test. Used by check 2.

constexpr std::chrono::seconds kLongest{30};
constexpr std::chrono::seconds kGrace{2};

ChildCommand command_of(const CheckContext& context, std::string program) {
  ChildCommand command;
  command.program = std::move(program);
  command.search = context.settings.tool_dirs;
  command.timeout = kLongest;
  command.grace = kGrace;
  command.stop = context.stop;
  return command;
}

std::string first_line(const std::string& text) {
  return to_valid_utf8(text.substr(0, text.find('\n')), 200);
}

// Returns what could not be queried, for people; empty if all was.
std::string judge_provider(const CheckContext& context, FindingList& found) {
  const std::string provider = context.profile ? context.profile->fabric_provider : "efa";
  ChildCommand command = command_of(context, "fi_info");
  command.arguments = {"-p", provider};
  const auto result = run_child(command, context.clock);
  if (!result) {
    found.cannot_tell(Code::kEfaProviderMissing, "");
    return result.error().kind == ErrorKind::kNotFound ? "fi_info is not installed"
                                                       : result.error().message;
  }
  // fi_info exits with 61 (no data) if the provider has nothing to offer.
  if (!result->output.contains("provider: " + provider)) {
    found.add(Code::kEfaProviderMissing, "",
              "fi_info -p " + provider + " (exit code " + std::to_string(result->exit_code) +
                  ") does not list the provider" +
                  (result->complaint.empty() ? "" : ": " + first_line(result->complaint)));
  }
  return {};
}

std::string judge_gdrcopy(const CheckContext& context, FindingList& found) {
  const std::filesystem::path program = context.settings.gdrcopy_dir / "bin" / "sanity";
  std::error_code error;
  if (!std::filesystem::exists(program, error)) return {};
  // The test takes GPU memory, so it must not run beside a workload.
  if (const auto user = gpu_user(context.snapshot)) {
    found.cannot_tell(Code::kGdrcopyFailed, "");
    return "GDRCopy was not tested: " + *user;
  }
  ChildCommand command = command_of(context, program.string());
  command.arguments = {"-v"};
  const auto result = run_child(command, context.clock);
  if (!result) {
    found.cannot_tell(Code::kGdrcopyFailed, "");
    return "GDRCopy was not tested: " + result.error().message;
  }
  if (result->exit_code != 0) {
    found.add(Code::kGdrcopyFailed, "",
              program.string() + " ended with " + std::to_string(result->exit_code) + " " +
                  first_line(result->complaint));
  }
  return {};
}

// Instance types whose EFA devices come up late. The replaced suite counts again on these.
constexpr std::string_view kLateType = "p5en";
constexpr int kMoreLooks = 3;
constexpr std::chrono::seconds kBetweenLooks{5};
constexpr std::uint64_t kLeastLockedBytes = 16ULL << 30U;

Result<std::size_t> count_patiently(const CheckContext& context, std::size_t expected) {
  Result<std::size_t> count = count_efa(context.host);
  if (!context.profile || !context.profile->type.starts_with(kLateType)) return count;
  for (int look = 0; look < kMoreLooks && count && *count < expected; ++look) {
    if (!context.clock.sleep_for(kBetweenLooks, context.stop)) break;
    count = count_efa(context.host);
  }
  return count;
}

// The finding is above monitor only if the profile and the machine's history both expect more
// devices.
void judge_count(std::size_t count, const ExpectedEfa& expected, const CheckContext& context,
                 FindingList& found) {
  std::string line = std::to_string(count) + " EFA devices on the PCI bus";
  if (expected.by_profile > 0)
    line += "; " + context.profile->type + " has " + std::to_string(expected.by_profile);
  if (expected.had > 0) line += "; most seen on this machine: " + std::to_string(expected.had);
  if (expected.by_profile > 0 && count > expected.by_profile)
    return found.add(Code::kEfaExtra, "", line);
  if (count >= expected.count()) return;
  const bool has_had_more = expected.had > count;
  // A confirmed finding stays while devices are missing, even if the history that confirmed it is
  // lost.
  const bool has_stood = count > 0 && stands_above_monitor(context.snapshot.state, Code::kEfaCount);
  if (context.settings.is_seed_profile || has_stood ||
      (has_had_more && expected.by_profile > count))
    return found.add(Code::kEfaCount, "", line);
  found.add_as(Code::kEfaCount, Severity::kMonitor, "", line,
               has_had_more ? "no profile states the expected number"
                            : "the instance may have been launched with fewer EFA devices");
}

void judge_devices(const HostPaths& host, std::size_t on_bus, FindingList& found) {
  const auto rdma = read_rdma(host);
  const auto with_rdma = static_cast<std::size_t>(
      std::ranges::count_if(rdma, [](const RdmaReading& reading) { return reading.is_efa; }));
  if (with_rdma < on_bus) {
    found.add(Code::kEfaRdmaMissing, "",
              std::to_string(with_rdma) + " of " + std::to_string(on_bus) +
                  " EFA devices are RDMA devices");
  }
  const auto verbs = list_user_verbs(host);
  const auto without_file = std::ranges::count_if(rdma, [&](const RdmaReading& reading) {
    return reading.is_efa && std::ranges::none_of(verbs, [&](const UserVerbs& each) {
             return each.device == reading.device && each.has_node;
           });
  });
  if (without_file > 0) {
    found.add(Code::kEfaUverbsMissing, "",
              std::to_string(without_file) + " RDMA devices have no uverbs file");
  }
}

void judge_modules(const CheckContext& context, FindingList& found) {
  std::vector<std::string> needed{"efa", "ib_uverbs", "ib_core"};
  std::error_code error;
  if (std::filesystem::exists(context.settings.gdrcopy_dir, error)) needed.emplace_back("gdrdrv");
  for (const std::string& name : needed) {
    if (!read_module(context.host, name)) found.add(Code::kEfaModuleMissing, "", name);
  }
}

// Judges the limit of the workloads, not that of this process.
std::string judge_memlock(const HostPaths& host, FindingList& found) {
  const auto limit = workload_memory_lock(host, list_processes(host));
  if (!limit) {
    found.cannot_tell(Code::kMemlockLow, "");
    return "cannot tell how much memory a workload may lock: " + limit.error().message;
  }
  if (limit->bytes && *limit->bytes < kLeastLockedBytes) {
    found.add(Code::kMemlockLow, "",
              std::to_string(*limit->bytes) + " bytes is the locked-memory limit of " +
                  limit->process.name);
  }
  return {};
}

void append(std::string& text, const std::string& more) {
  if (!more.empty()) text += "; " + more;
}

class EfaEnumerationCheck final : public Check {
 public:
  CheckOutcome run(const CheckContext& context) override {
    const ExpectedEfa expected = expected_efa(context);
    const auto count = count_patiently(context, expected.by_profile);
    if (!count) return CheckOutcome::error(count.error().message);
    if (*count == 0 && expected.count() == 0) {
      if (expected.by_profile == 0)
        return CheckOutcome::skipped("no EFA device here, and none is expected");
      // Done instead of skipped: a skip would keep a finding of a release that relied on the
      // profile alone.
      if (expected.is_history_known)
        return CheckOutcome::done(
            "this machine has no EFA device, and gpuward has seen none on it before", {});
      FindingList found(context.settings);
      found.add_as(Code::kEfaCount, Severity::kMonitor, "", "no EFA device on the PCI bus",
                   "it is unknown whether this machine had EFA devices before");
      return CheckOutcome::done("no EFA device here", found.take_findings());
    }
    FindingList found(context.settings);
    judge_count(*count, expected, context, found);
    if (*count > 0) judge_devices(context.host, *count, found);
    judge_modules(context, found);
    std::string details = std::to_string(*count) + " EFA devices";
    if (!context.profile) details += ", and the expected number is unknown";
    append(details, judge_provider(context, found));
    append(details, judge_gdrcopy(context, found));
    append(details, judge_memlock(context.host, found));
    append(details, describe_findings(found.findings()));
    CheckOutcome outcome = CheckOutcome::done(std::move(details), found.take_findings());
    outcome.untold = found.take_untold();
    return outcome;
  }
};

}  // namespace

CheckEntry efa_enumeration_entry() {
  return {
      .number = 2,
      .name = "2-efa-enumeration",
      .short_name = "efa-enumeration",
      .suite = Suite::kLightweight,
      .rhythm = CheckEntry::Rhythm::kEachCycle,
      .timeout = std::chrono::seconds(120),
      .programs =
          [](const CheckSettings&) {
            return CheckPrograms{{}, {{"fi_info", "to see whether libfabric offers the provider"}}};
          },
      .make = []() -> std::unique_ptr<Check> { return std::make_unique<EfaEnumerationCheck>(); }};
}

}  // namespace gpuward::exporter
