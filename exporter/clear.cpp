#include "exporter/clear.h"

#include <ostream>
#include <string>
#include <system_error>

#include "exporter/store/state_file.h"

namespace gpuward::exporter {
namespace {

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kLeftForLater = 3;
constexpr std::chrono::milliseconds kLongestWait{5'000};
constexpr std::chrono::milliseconds kLookInterval{50};

void print(const Finding& finding, std::ostream& out) {
  out << "  --check " << finding.check;
  if (!finding.code.empty()) out << " --code " << finding.code;
  if (!finding.pci_bus_id.empty()) out << " --pci " << finding.pci_bus_id;
  out << "    " << to_string(finding.severity) << ", by " << to_string(finding.evidence)
      << ", cleared by " << to_string(finding.cleared_by) << "\n";
}

// Prints those that match, or else all there are.
bool print_matches(const State& state, const ClearRequest& request, std::ostream& out) {
  std::vector<const Finding*> matches;
  for (const auto& [key, finding] : state.findings) {
    if (request.matches(finding)) matches.push_back(&finding);
  }
  out << (!matches.empty()         ? "To be cleared:\n"
          : state.findings.empty() ? "There is no finding.\n"
                                   : "There is no such finding. There are:\n");
  for (const Finding* finding : matches) print(*finding, out);
  if (!matches.empty()) return true;
  for (const auto& [key, finding] : state.findings) print(finding, out);
  return false;
}

bool wait_until_gone(const std::filesystem::path& path, Clock& clock) {
  std::error_code error;
  for (const auto deadline = clock.steady() + kLongestWait; clock.steady() < deadline;) {
    if (!std::filesystem::exists(path, error) && !error) return true;
    clock.sleep_for(kLookInterval, {});
  }
  return false;
}

}  // namespace

int run_clear(const std::filesystem::path& state_folder, const ClearRequest& request, Clock& clock,
              std::ostream& out) {
  const auto state = StateFile(state_folder).read();
  if (!state) {
    out << state.error().message << "\nIs --state.path that of the exporter?\n";
    return kFailed;
  }
  if (!print_matches(*state, request, out)) return kFailed;
  const auto path = ClearRequests(state_folder).leave(request, clock.wall());
  if (!path) {
    out << path.error().message << "\n";
    return kFailed;
  }
  if (wait_until_gone(*path, clock)) {
    out << "Cleared. Counters stay as they are; a new event makes a new finding.\n";
    return kDone;
  }
  out << "No exporter has taken the request in five seconds: the next start on "
      << state_folder.string() << " will.\n";
  return kLeftForLater;
}

}  // namespace gpuward::exporter
