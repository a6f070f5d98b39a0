// Every problem of a node has an alert: each code of docs/checks.md and each kind of line of the
// kernel log has one alert of the group gpuward-gpu, and no code has two.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "core/runtime/files.h"
#include "core/xid/catalogue.h"
#include "tests/alerts/alert_rules.h"
#include "tests/places.inc"

namespace gpuward::alerts {
namespace {

struct Code {
  std::string code, check;
};

std::vector<std::smatch> all_matches(const std::string& text, const std::regex& regex) {
  return {std::sregex_iterator(text.begin(), text.end(), regex), std::sregex_iterator()};
}

std::vector<Code> codes_of_checks() {
  static const std::regex kRow(R"(\n\| `([a-z0-9_]+)` \| (gpu|[0-9]-[a-z0-9-]+) \|)");
  const std::string page = *read_file(GPUWARD_SOURCE_DIR "/docs/checks.md");
  std::vector<Code> out;
  for (const std::smatch& row : all_matches(page, kRow)) out.push_back({row[1], row[2]});
  return out;
}

// Whether a selector such as `check="gpu",code=~"a|b"` matches the code; it ignores other labels.
bool selects(const std::string& selector, const Code& code) {
  static const std::regex kMatcher(R"re((check|code)(=~|!~|!=|=)"([^"]*)")re");
  const auto matchers = all_matches(selector, kMatcher);
  return !matchers.empty() && std::ranges::all_of(matchers, [&](const std::smatch& matcher) {
    const std::string& value = matcher[1] == "check" ? code.check : code.code;
    const bool is_equal = matcher[2].str().ends_with('~')
                              ? std::regex_match(value, std::regex(matcher[3].str()))
                              : value == matcher[3];
    return is_equal == (matcher[2].str().front() == '=');
  });
}

std::vector<std::string> alerts_of(const Code& code) {
  static const std::regex kSelector(R"(\{([^}]*)\})");
  std::vector<std::string> names;
  for (const AlertRule& rule : load_alert_rules()) {
    if (rule.group != "gpuward-gpu") continue;
    const auto selectors = all_matches(rule.expr, kSelector);
    if (std::ranges::any_of(selectors,
                            [&](const std::smatch& one) { return selects(one[1], code); })) {
      names.push_back(rule.name);
    }
  }
  return names;
}

TEST(GpuAlerts, TellEachCodeOfTheChecksOnce) {
  const auto codes = codes_of_checks();
  ASSERT_GT(codes.size(), 60U);
  for (const Code& code : codes) {
    EXPECT_THAT(alerts_of(code), ::testing::SizeIs(1)) << code.check << " " << code.code;
  }
}

TEST(GpuAlerts, TellEachKindOfLineOfTheKernelLog) {
  for (const char* kind : {"xid", "sxid", "rm_init", "nvrm", "peermem", "amd_ras", "amd_reset",
                           "amd_hang", "amd_lost", "aer", "edac", "mce", "kernel_rule"}) {
    EXPECT_THAT(alerts_of({.code = "1", .check = kind}), ::testing::Not(::testing::IsEmpty()))
        << kind;
  }
}

// Three rules list the catalogue's codes of program errors, because a join would read every code of
// every node.
TEST(GpuAlerts, CallAnXidAProgramsIfTheVendorSaysToRestartTheProgramOrItsErrorIsAPrograms) {
  std::string codes;
  for (const xid::Row& row : xid::xid_rows()) {
    if (row.default_severity != Severity::kMonitor) continue;
    if (row.action != "RESTART_APP" && !row.application_error) continue;
    codes += (codes.empty() ? "" : "|") + std::to_string(row.code);
  }
  const std::string rules = *read_file(alerts_folder() / "gpuward.rules.yaml");
  for (const std::string before : {"code=~\"", "code!~\"", "xid=~\""}) {
    EXPECT_THAT(rules, ::testing::HasSubstr(before + codes + "\"")) << before;
  }
}

}  // namespace
}  // namespace gpuward::alerts
