#include "exporter/checks/preflight.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/fakes/tools/tool_box.h"
#include "tests/support/environment.h"
#include "tests/support/host_tree.h"
#include "tests/support/temp_dir.h"

namespace gpuward::exporter {
namespace {

using ::testing::ElementsAre;

class PreflightTest : public ::testing::Test {
 protected:
  PreflightTest() { settings_.tool_dirs = {tools_.path()}; }

  // The programs of the check with that number that exist at this moment.
  FoundPrograms of(int number) {
    return preflight(std::vector{check_numbered(number)}, settings_).at(0).programs;
  }

  fakes::ToolBox tools_;
  support::Environment path_{"PATH", "/nowhere"};
  support::Environment slurm_job_{"SLURM_JOB_ID", ""};
  CheckSettings settings_;
};

TEST_F(PreflightTest, NamesWhatEachCheckLacks) {
  std::vector<std::string> missing;
  for (const Preflight& each : preflight(all_checks(), settings_))
    missing.push_back(each.programs.missing);
  EXPECT_THAT(missing, ElementsAre("", "dcgmi", "", "", "dcgmi", "all_reduce_perf",
                                   "fi_pingpong and fi_info, or ib_write_bw"));
}

TEST_F(PreflightTest, NamesWhereAProgramIs) {
  tools_.add("dcgmi", "", {});
  EXPECT_TRUE(of(1).can_run());
  EXPECT_THAT(of(1).found, ElementsAre(tools_.path() / "dcgmi"));
  EXPECT_EQ(of(4).missing_optional, "nv-hostengine (if none runs on the node)");
}

TEST_F(PreflightTest, OneOfTwoSetsOfProgramsIsEnough) {
  tools_.add("fi_pingpong", "", {});
  EXPECT_EQ(of(6).missing, "fi_info, or ib_write_bw");
  EXPECT_EQ(of(6).why_not(),
            "not on PATH or in the folders of checks.tool_dirs: fi_info, or ib_write_bw");
  tools_.add("ib_write_bw", "", {});
  EXPECT_TRUE(of(6).can_run());
}

TEST_F(PreflightTest, OverSeveralNodesCheck5NeedsTheLauncher) {
  tools_.add("all_reduce_perf", "", {});
  EXPECT_TRUE(of(5).can_run());
  settings_.nccl_nodes = 2;
  settings_.nccl_hostfile = "/etc/nodes";
  EXPECT_EQ(of(5).missing, "mpirun");
}

TEST_F(PreflightTest, AProgramOfTheOperatorsIsLookedForToo) {
  ProgramSettings program;
  program.name = "ntp";
  program.command = {"/nowhere/check_ntp.sh"};
  settings_.programs = {program};
  const auto all = preflight(with_programs({}, settings_), settings_);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].check, "ntp");
  EXPECT_EQ(all[0].programs.missing, "/nowhere/check_ntp.sh");
}

// The image of the exporter has no bash.
TEST_F(PreflightTest, TheInterpreterOfAScriptOfTheOperatorsIsLookedForToo) {
  support::TempDir folder;
  const auto missing_for = [&](const std::string& first_line) {
    const auto script = folder.write("check_gpu.sh", first_line + "\nexit 0\n");
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    ProgramSettings program;
    program.name = "GPUProblem";
    program.command = {script.string()};
    settings_.programs = {program};
    return preflight(with_programs({}, settings_), settings_).at(0).programs.missing;
  };
  EXPECT_EQ(missing_for("#!/bin/sh -e"), "");
  EXPECT_EQ(missing_for("#!/nowhere/bash"), "/nowhere/bash");
  EXPECT_EQ(missing_for("#!/usr/bin/env bash"), "bash");
  EXPECT_EQ(missing_for("#!/usr/bin/env -S LANG=C bash -e"), "bash");
  EXPECT_EQ(missing_for("no first line of a script"), "");
}

// On a machine without EFA, the check itself skips for lack of the programs that preflight names.
TEST_F(PreflightTest, EachCheckIsSkippedForWantOfWhatIsMissing) {
  const Snapshot snapshot;
  const support::HostTree node;
  const std::string type;
  const std::optional<InstanceProfile> profile;
  SystemClock clock;
  for (const CheckEntry& entry : all_checks()) {
    const FoundPrograms programs = of(entry.number);
    if (programs.can_run()) continue;
    const CheckOutcome outcome =
        entry.make()->run({snapshot, settings_, node.paths(), type, profile, clock, {}, true});
    EXPECT_EQ(outcome.kind, CheckOutcome::Kind::kSkipped) << entry.name;
    EXPECT_EQ(outcome.details, programs.why_not()) << entry.name;
  }
}

}  // namespace
}  // namespace gpuward::exporter
