#include "exporter/commands/findings_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <ostream>
#include <string>
#include <system_error>
#include <tuple>
#include <vector>

#include "core/command_line/examples.h"
#include "core/command_line/table.h"
#include "core/model/pci_address.h"
#include "core/runtime/json.h"
#include "exporter/commands/output_flags.h"
#include "exporter/config/exit_code.h"
#include "exporter/publish/node/condition_text.h"
#include "exporter/store/state_file.h"

namespace gpuward::exporter {
namespace {

constexpr std::array kFindingsExamples = {
    Example{"findings", "gpuward-exporter findings list"},
    Example{"findings list",
            "gpuward-exporter findings list\ngpuward-exporter findings list -o yaml"},
    Example{"findings clear",
            "gpuward-exporter findings clear --check xid --code 64 --pci 0000:4e:00\n"
            "gpuward-exporter findings clear --all-operator"},
};
constexpr int kLeftForLater = 3;
constexpr std::chrono::milliseconds kExporterTakesItWithin{5'000};
constexpr std::chrono::milliseconds kLooksEvery{50};

void print(const Finding& finding, std::ostream& out) {
  out << "  --check " << finding.check;
  if (!finding.code.empty()) out << " --code " << finding.code;
  if (!finding.pci_bus_id.empty()) out << " --pci " << finding.pci_bus_id;
  out << "    " << to_string(finding.severity) << ", evidence: " << to_string(finding.evidence)
      << ", cleared by " << to_string(finding.cleared_by) << "\n";
}

// Prints the matches; if there are none, prints all findings.
bool print_matches(const State& state, const ClearRequest& request, std::ostream& out) {
  std::vector<const Finding*> matches;
  for (const auto& [key, finding] : state.findings) {
    if (request.matches(finding)) matches.push_back(&finding);
  }
  out << (!matches.empty()         ? "To be cleared:\n"
          : state.findings.empty() ? "There are no findings.\n"
                                   : "No finding matches. Existing findings:\n");
  for (const Finding* finding : matches) print(*finding, out);
  if (!matches.empty()) return true;
  for (const auto& [key, finding] : state.findings) print(finding, out);
  return false;
}

bool wait_until_gone(const std::filesystem::path& path, Clock& clock) {
  std::error_code error;
  for (const auto deadline = clock.steady() + kExporterTakesItWithin; clock.steady() < deadline;) {
    if (!std::filesystem::exists(path, error) && !error) return true;
    clock.sleep_for(kLooksEvery, {});
  }
  return false;
}

Result<State> read_state(const std::filesystem::path& folder, std::ostream& out) {
  auto state = StateFile(folder).read();
  if (!state) out << state.error().message << "\nCheck that --state.path is the exporter's.\n";
  return state;
}

std::vector<std::string> row_of(const Finding& finding) {
  const bool is_history = finding.history != Severity::kNone;
  return {is_history ? "history (" + std::string(to_string(finding.history)) + ")"
                     : std::string(to_string(finding.severity)),
          finding.check,
          finding.code,
          finding.pci_bus_id.empty() ? "-" : finding.pci_bus_id,
          std::string(to_string(finding.evidence)),
          finding.witness.empty() ? "-" : finding.witness_text(),
          std::string(to_string(finding.cleared_by)),
          std::to_string(finding.count),
          to_rfc3339(finding.first_seen)};
}

void print_findings(const std::vector<const Finding*>& findings, std::ostream& out) {
  std::vector<std::vector<std::string>> rows{
      {"SEVERITY", "CHECK", "CODE", "GPU", "EVIDENCE", "WITNESS", "CLEARED BY", "TIMES", "SINCE"}};
  for (const Finding* finding : findings) rows.push_back(row_of(*finding));
  print_table(rows, out);
}

std::string to_json(const Finding& finding) {
  return dump_json({{"severity", std::string(to_string(finding.severity))},
                    {"history", std::string(to_string(finding.history))},
                    {"check", finding.check},
                    {"code", finding.code},
                    {"pci_bus_id", finding.pci_bus_id},
                    {"evidence", std::string(to_string(finding.evidence))},
                    {"witness", finding.witness_text()},
                    {"cleared_by", std::string(to_string(finding.cleared_by))},
                    {"count", finding.count},
                    {"first_seen", to_rfc3339(finding.first_seen)},
                    {"last_seen", to_rfc3339(finding.last_seen)},
                    {"line", finding.line},
                    {"why", finding.why},
                    {"workload", finding.workload}});
}

CLI::App* add_list(CLI::App& findings, OutputFormat& format) {
  CLI::App* list = findings.add_subcommand("list", "List findings, the worst first");
  list->fallthrough();
  add_output_flags(*list, format);
  return list;
}

void check_wishes(ClearRequest& request) {
  if (!request.all_operator && !request.after_gpu_reset && request.check.empty())
    throw CLI::ValidationError("findings clear",
                               "give --check, --after-gpu-reset or --all-operator");
  if (const auto pci = parse_pci_address(request.pci_bus_id)) request.pci_bus_id = pci->bus_id();
}

// The fallthrough allows --state.path after the subcommand.
CLI::App* add_clear(CLI::App& findings, ClearRequest& request) {
  CLI::App* clear = findings.add_subcommand(
      "clear", "Mark findings as repaired: they clear within a second; counters are kept");
  clear->fallthrough();
  auto* all = clear->add_flag("--all-operator", request.all_operator,
                              "Clear all findings that only diagnostics or an operator clear");
  auto* reset =
      clear
          ->add_flag(
              "--after-gpu-reset", request.after_gpu_reset,
              "Clear all findings that a GPU reset clears; with --pci, only those of that GPU")
          ->excludes(all);
  clear->add_option("--check", request.check, "Check of the finding, as in gpuward_finding: `xid`")
      ->excludes(all)
      ->excludes(reset);
  clear->add_option("--code", request.code, "Code of the finding: `64`")
      ->excludes(all)
      ->excludes(reset);
  clear->add_option("--pci", request.pci_bus_id, "PCI address of the device: `0000:4e:00`")
      ->excludes(all)
      ->check([](const std::string& text) {
        return parse_pci_address(text) ? std::string() : text + " is not a PCI address";
      });
  clear->require_option(1, 3);
  clear->callback([&request] { check_wishes(request); });
  return clear;
}

}  // namespace

FindingsCommands add_findings(CLI::App& app, FindingsWishes& wishes) {
  CLI::App* findings =
      app.add_subcommand("findings", "List or clear findings of the exporter at --state.path");
  findings->fallthrough();
  findings->require_subcommand(1);
  const FindingsCommands added{add_list(*findings, wishes.format),
                               add_clear(*findings, wishes.request)};
  add_examples(app, kFindingsExamples);
  return added;
}

void add_findings_command(CLI::App& app, Commands& commands) {
  const auto wishes = std::make_shared<FindingsWishes>();
  const auto [list, clear] = add_findings(app, *wishes);
  commands.emplace_back(list, [wishes](const Flags& flags) {
    return run_list_findings(flags.state_path, wishes->format, std::cout);
  });
  commands.emplace_back(clear, [wishes](const Flags& flags) {
    SystemClock clock;
    return run_clear_findings(flags.state_path, wishes->request, clock, std::cout);
  });
}

int run_list_findings(const std::filesystem::path& state_folder, OutputFormat format,
                      std::ostream& out) {
  const auto state = read_state(state_folder, out);
  if (!state) return kFailed;
  std::vector<const Finding*> findings;
  for (const auto& [key, finding] : state->findings) findings.push_back(&finding);
  std::ranges::sort(findings, [](const Finding* left, const Finding* right) {
    return std::tie(right->severity, left->first_seen, left->check, left->code) <
           std::tie(left->severity, right->first_seen, right->check, right->code);
  });
  if (is_for_people(format)) {
    if (findings.empty()) out << "There are no findings.\n";
    if (!findings.empty()) print_findings(findings, out);
    if (unchecked_finding(*state) != nullptr)
      out << "Severity none: the finding is from before this boot, and its check has had no result "
             "since.\n"
             "The exporter keeps the node's taint until the check has a result or you clear the "
             "finding.\n";
    return kDone;
  }
  for (const Finding* finding : findings) out << in_sequence(format, to_json(*finding));
  return kDone;
}

int run_clear_findings(const std::filesystem::path& state_folder, const ClearRequest& request,
                       Clock& clock, std::ostream& out) {
  const auto state = read_state(state_folder, out);
  if (!state) return kFailed;
  // Without any finding there is nothing to clear: success. An unknown finding is a failure.
  if (!print_matches(*state, request, out)) return state->findings.empty() ? kDone : kFailed;
  const auto path = ClearRequests(state_folder).leave(request, clock.wall());
  if (!path) {
    out << path.error().message << "\n";
    return kFailed;
  }
  if (wait_until_gone(*path, clock)) {
    out << "Cleared. Counters are unchanged; a new event creates a new finding.\n";
    return kDone;
  }
  out << "No exporter accepted the request within five seconds. The next exporter that starts with "
         "--state.path "
      << state_folder.string() << " will accept it.\n";
  return kLeftForLater;
}

}  // namespace gpuward::exporter
