// docs/integrations.md: the program must accept each setting that the page tells readers to write,
// and the setting must switch on what the page names.
#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <sstream>

#include "core/runtime/files.h"
#include "remediator/config/flags.h"
#include "remediator/policy/policy.h"
#include "tests/places.inc"

namespace gpuward::remediator {
namespace {

struct Integration {
  std::string with, in, yaml;
};

// Returns the cells of a row, without the backticks of code.
std::vector<std::string> cells_of(const std::string& row) {
  std::vector<std::string> cells;
  std::istringstream parts(row.substr(1));
  for (std::string cell; std::getline(parts, cell, '|');) {
    const auto first = cell.find_first_not_of(" `"), last = cell.find_last_not_of(" `");
    cells.push_back(first == std::string::npos ? "" : cell.substr(first, last - first + 1));
  }
  return cells;
}

std::vector<Integration> integrations() {
  std::istringstream page(read_file(GPUWARD_SOURCE_DIR "/docs/integrations.md").value_or(""));
  std::vector<Integration> all;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| ") || line.starts_with("| with")) continue;
    const auto cells = cells_of(line);
    if (cells.size() == 3) all.push_back({cells[0], cells[1], cells[2]});
  }
  return all;
}

Policy policy_of(const Integration& row) {
  const auto file = YamlFile::parse(row.yaml, "docs/integrations.md");
  EXPECT_TRUE(file) << row.yaml;
  if (!file) return {};
  auto policy = read_policy(*file);
  EXPECT_TRUE(policy) << row.with << ": " << policy.error().message;
  return policy.value_or(Policy{});
}

Flags flags_of(const Integration& row) {
  const auto file = YamlFile::parse(row.yaml, "docs/integrations.md");
  EXPECT_TRUE(file) << row.yaml;
  if (!file) return {};
  std::vector<std::string> words;
  file->root().read("args", words);
  EXPECT_TRUE(file->finish()) << row.yaml;
  std::vector<const char*> argv = {"gpuward-remediator"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  const auto flags = parse_flags(static_cast<int>(argv.size()), argv.data());
  EXPECT_TRUE(std::holds_alternative<Flags>(flags)) << row.yaml;
  return std::holds_alternative<Flags>(flags) ? std::get<Flags>(flags) : Flags{};
}

bool any_flags(const std::function<bool(const Flags&)>& is_on) {
  return std::ranges::any_of(integrations(), [&](const Integration& row) {
    return row.in == "container" && is_on(flags_of(row));
  });
}

bool any_policy(const std::function<bool(const Policy&)>& is_on) {
  return std::ranges::any_of(integrations(), [&](const Integration& row) {
    return row.in == "policy" && is_on(policy_of(row));
  });
}

TEST(Integrations, AreTakenByTheProgramAsTheyStand) {
  const auto all = integrations();
  ASSERT_GE(all.size(), 15U);
  for (const Integration& row : all) {
    ASSERT_TRUE(row.in == "policy" || row.in == "container") << row.with;
    if (row.in == "policy") {
      (void)policy_of(row);
    } else {
      (void)flags_of(row);
    }
  }
}

TEST(Integrations, SwitchOnEachSource) {
  EXPECT_TRUE(any_flags([](const Flags& flags) { return !flags.alertmanager_url.empty(); }));
  EXPECT_TRUE(any_flags([](const Flags& flags) { return flags.prometheus_alerts; }));
  EXPECT_TRUE(any_flags([](const Flags& flags) { return !flags.loki_url.empty(); }));
  EXPECT_TRUE(any_policy([](const Policy& policy) { return !policy.foreign_alerts.empty(); }));
  EXPECT_TRUE(any_policy([](const Policy& policy) { return !policy.conditions.empty(); }));
  for (const char* kind : {"openai", "bedrock"}) {
    EXPECT_TRUE(any_policy([&](const Policy& policy) { return policy.triage.kind == kind; }));
  }
}

TEST(Integrations, SwitchOnEachCloudAndSink) {
  EXPECT_TRUE(any_policy([](const Policy& policy) {
    return policy.machines.aws.reboot && policy.machines.aws.terminate;
  }));
  EXPECT_TRUE(any_policy([](const Policy& policy) { return !policy.machines.reboot.empty(); }));
  for (const char* kind : {"cloudwatch", "lambda", "slack", "sns", "webhook"}) {
    EXPECT_TRUE(any_policy([&](const Policy& policy) {
      const auto& sinks = policy.notifications.sinks;
      return sinks.size() == 1 && sinks[0].kind == kind;
    })) << kind;
  }
}

}  // namespace
}  // namespace gpuward::remediator
