#include "exporter/commands/preflight_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <ostream>
#include <utility>

#include "core/command_line/examples.h"
#include "core/command_line/table.h"
#include "core/runtime/json.h"
#include "exporter/checks/preflight.h"
#include "exporter/commands/check_selection.h"
#include "exporter/commands/output_flags.h"
#include "exporter/config/exit_code.h"
#include "exporter/config/identity.h"

namespace gpuward::exporter {
namespace {

constexpr std::array kPreflightExamples = {
    Example{"preflight",
            "gpuward-exporter preflight\n"
            "gpuward-exporter preflight --check 1,4,6 -o json"}};

Result<std::vector<CheckEntry>> chosen(const PreflightWishes& wishes,
                                       const CheckSettings& settings) {
  auto all = with_programs(all_checks(), settings);
  if (wishes.checks.empty()) return all;
  std::vector<CheckEntry> entries;
  for (const std::string& name : wishes.checks) {
    const auto selection = select_checks({.check = name, .is_dry_run = true}, all);
    if (!selection) return std::unexpected(selection.error());
    entries.push_back(selection->checks.front());
  }
  return entries;
}

std::string found_in(const FoundPrograms& programs) {
  std::string text;
  for (const auto& path : programs.found) text += (text.empty() ? "" : ", ") + path.string();
  return text.empty() ? "-" : text;
}

std::string missing_of(const FoundPrograms& programs) {
  std::string text = programs.missing;
  if (!programs.missing_optional.empty())
    text += (text.empty() ? "optional: " : "; optional: ") + programs.missing_optional;
  return text.empty() ? "-" : text;
}

void print_for_people(const std::vector<Preflight>& all, std::ostream& out) {
  std::vector<std::vector<std::string>> rows{{"CHECK", "CAN RUN", "FOUND", "MISSING"}};
  for (const Preflight& each : all) {
    rows.push_back({each.check, each.programs.can_run() ? "yes" : "no", found_in(each.programs),
                    missing_of(each.programs)});
  }
  print_table(rows, out);
}

std::string to_json(const std::vector<Preflight>& all) {
  Json checks = Json::array();
  for (const Preflight& each : all) {
    Json found = Json::array();
    for (const auto& path : each.programs.found) found.push_back(path.string());
    checks.push_back({{"check", each.check},
                      {"can_run", each.programs.can_run()},
                      {"found", std::move(found)},
                      {"missing", each.programs.missing},
                      {"missing_optional", each.programs.missing_optional}});
  }
  return dump_json({{"checks", std::move(checks)}});
}

}  // namespace

int run_preflight(const PreflightWishes& wishes, const CheckSettings& settings, std::ostream& out,
                  std::ostream& err) {
  const auto entries = chosen(wishes, settings);
  if (!entries) {
    err << "gpuward-exporter: preflight: " << entries.error().message << "\n";
    return kWrongUsage;
  }
  const auto all = preflight(*entries, settings);
  if (wishes.output == OutputFormat::kTable) {
    print_for_people(all, out);
  } else {
    out << in_format(wishes.output, to_json(all)).value_or("");
  }
  const bool can_run_all =
      std::ranges::all_of(all, [](const Preflight& each) { return each.programs.can_run(); });
  return can_run_all ? kDone : kFailed;
}

void add_preflight_command(CLI::App& app, Commands& commands) {
  const auto wishes = std::make_shared<PreflightWishes>();
  CLI::App* command = app.add_subcommand(
      "preflight", "Print which checks can run here and which programs the others lack, and exit");
  command->fallthrough();
  command
      ->add_option("--check", wishes->checks,
                   "Checks to show, by number or name: `1,4,6`; default: all")
      ->delimiter(',')
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_output_flags(*command, wishes->output);
  add_examples(app, kPreflightExamples);
  commands.emplace_back(command, [wishes](const Flags& flags) {
    auto settings = read_settings(flags);
    if (!settings) return static_cast<int>(complain(settings.error()));
    return run_preflight(*wishes, settings->checks, std::cout, std::cerr);
  });
}

}  // namespace gpuward::exporter
