#include "exporter/commands/check_selection.h"

#include <algorithm>
#include <array>

namespace gpuward::exporter {
namespace {

// The Slurm prolog of the replaced suite: quick enough for the start of each job.
constexpr std::array kProlog{0, 2};
// DCGM level 4 and NCCL may load the GPUs for hours, and no schedule starts them.
constexpr std::array kLoadsGpus{4, 5};

std::string names_of(std::span<const CheckEntry> all) {
  std::string names;
  for (const CheckEntry& entry : all) {
    names += names.empty() ? "" : ", ";
    names += entry.number == kProgramNumber
                 ? entry.name
                 : std::to_string(entry.number) + " (" + entry.short_name + ")";
  }
  return names;
}

Result<CheckSelection> select_suite(const std::string& suite, std::span<const CheckEntry> all) {
  if (suite != "lightweight" && suite != "intensive") {
    return fail(ErrorKind::kInvalid,
                "--suite: " + suite + " is not a suite; use lightweight or intensive");
  }
  const bool is_quick = suite == "lightweight";
  CheckSelection selection{suite, {}, is_quick};
  const Suite wanted = is_quick ? Suite::kLightweight : Suite::kIntensive;
  std::ranges::copy_if(all, std::back_inserter(selection.checks),
                       [&](const CheckEntry& entry) { return entry.suite == wanted; });
  return selection;
}

Result<CheckSelection> select_one(const std::string& name, std::span<const CheckEntry> all) {
  const auto found = std::ranges::find_if(all, [&](const CheckEntry& entry) {
    return name == entry.name || name == entry.short_name ||
           (entry.number != kProgramNumber && name == std::to_string(entry.number));
  });
  if (found == all.end()) {
    return fail(ErrorKind::kInvalid,
                "--check: unknown check " + name + "; available: " + names_of(all));
  }
  return CheckSelection{"single", {*found}, false};
}

CheckSelection select_prolog(std::span<const CheckEntry> all) {
  CheckSelection selection{"prolog", {}, true, true};
  std::ranges::copy_if(all, std::back_inserter(selection.checks), [](const CheckEntry& entry) {
    return std::ranges::find(kProlog, entry.number) != kProlog.end();
  });
  return selection;
}

bool needs_exclusive(const CheckSelection& selection) {
  return selection.suite == "intensive" ||
         std::ranges::any_of(selection.checks, [](const CheckEntry& entry) {
           return std::ranges::find(kLoadsGpus, entry.number) != kLoadsGpus.end();
         });
}

}  // namespace

Result<CheckSelection> select_checks(const CheckRequest& request, std::span<const CheckEntry> all) {
  const int wishes = (request.suite.empty() ? 0 : 1) + (request.check.empty() ? 0 : 1) +
                     (request.is_prolog ? 1 : 0);
  if (wishes != 1) {
    return fail(ErrorKind::kInvalid,
                "give exactly one of --suite lightweight|intensive, --check N|NAME or --prolog");
  }
  Result<CheckSelection> selection = request.is_prolog       ? select_prolog(all)
                                     : request.check.empty() ? select_suite(request.suite, all)
                                                             : select_one(request.check, all);
  if (selection && needs_exclusive(*selection) && !request.is_exclusive && !request.is_dry_run) {
    return fail(ErrorKind::kInvalid,
                "these checks load the GPUs for minutes or hours: add --exclusive once the node is "
                "cordoned and idle");
  }
  return selection;
}

}  // namespace gpuward::exporter
