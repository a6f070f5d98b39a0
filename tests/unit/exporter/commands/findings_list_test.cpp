// The output of `gpuward-exporter findings list` for a saved state. The rest of the command is
// tested beside a running exporter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "exporter/commands/findings_command.h"
#include "exporter/store/latched_state.h"
#include "exporter/store/state_file.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/exporter/store/observations.h"

namespace gpuward::exporter {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// The check may be gone from the configuration. Then only an operator can clear it.
TEST(FindingsList, ShowsThoseOfABootBeforeAsLongAsTheirCheckHasNotLookedAgain) {
  LatchedState latched({});
  latched.enter_boot("boot-1", at_second(0));
  CheckResult result;
  result.check = "my-check";
  result.status = CheckStatus::kFail;
  Finding& finding = result.findings.emplace_back();
  finding.code = "broken";
  finding.severity = Severity::kReset;
  finding.cleared_by = ClearedBy::kCheck;
  latched.apply_check(result, false);
  latched.enter_boot("boot-2", at_second(1));
  const support::TempDir folder;
  ASSERT_TRUE(StateFile(folder.path()).save(to_state_json(latched.state())));
  std::ostringstream out;

  EXPECT_EQ(run_list_findings(folder.path(), OutputFormat::kTable, out), 0);

  EXPECT_THAT(out.str(), AllOf(HasSubstr("none      my-check  broken"),
                               HasSubstr("its check has had no result since")));
}

}  // namespace
}  // namespace gpuward::exporter
