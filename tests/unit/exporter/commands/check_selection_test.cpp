#include "exporter/commands/check_selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpuward::exporter {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<int> numbers_of(const CheckRequest& request) {
  const auto selection = select_checks(request, all_checks());
  std::vector<int> numbers;
  if (!selection) return numbers;
  for (const CheckEntry& entry : selection->checks) numbers.push_back(entry.number);
  return numbers;
}

std::string fault_of(const CheckRequest& request) {
  const auto selection = select_checks(request, all_checks());
  return selection ? std::string() : selection.error().message;
}

// CONTRACTS A: lightweight suite 0-3, intensive 4-6.
TEST(CheckSelection, SuitesAreThoseOfTheReplacedOne) {
  EXPECT_THAT(numbers_of({.suite = "lightweight"}), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(numbers_of({.suite = "intensive", .is_exclusive = true}), ElementsAre(4, 5, 6));
}

TEST(CheckSelection, ThePrologRunsChecks0And2AsItsScriptDoes) {
  EXPECT_THAT(numbers_of({.is_prolog = true}), ElementsAre(0, 2));
}

TEST(CheckSelection, FindsOneCheckByNumberOrEitherName) {
  for (const char* name : {"2", "efa-enumeration", "2-efa-enumeration"}) {
    EXPECT_THAT(numbers_of({.check = name}), ElementsAre(2)) << name;
  }
}

TEST(CheckSelection, FindsAProgramByItsNameAloneAndHasItInNoSuite) {
  CheckSettings settings;
  settings.programs = {{.name = "scratch-disk", .command = {"/bin/true"}}};
  const auto all = with_programs(all_checks(), settings);
  EXPECT_EQ(select_checks({.check = "scratch-disk"}, all)->checks.size(), 1U);
  EXPECT_EQ(select_checks({.suite = "lightweight"}, all)->checks.size(), 4U);
  EXPECT_THAT(select_checks({.check = "-1"}, all).error().message, HasSubstr(", scratch-disk"));
}

TEST(CheckSelection, RefusesWhatIsNoCheckNamingThoseThereAre) {
  EXPECT_THAT(fault_of({.check = "9"}), HasSubstr("0 (nvidia-smi)"));
  EXPECT_THAT(fault_of({.suite = "heavy"}), HasSubstr("lightweight or intensive"));
}

// The replaced suite printed its usage and ended with 0.
TEST(CheckSelection, RefusesNoWishAndTwoWishes) {
  EXPECT_THAT(fault_of({}), HasSubstr("give exactly one of"));
  EXPECT_THAT(fault_of({.suite = "lightweight", .check = "0"}), HasSubstr("give exactly one of"));
}

// Otherwise check 5 would only be skipped, with exit code 0.
TEST(CheckSelection, WhatLoadsTheGpusForLongNeedsExclusive) {
  EXPECT_THAT(fault_of({.suite = "intensive"}), HasSubstr("--exclusive"));
  for (const char* name : {"4", "5", "nccl-allreduce"}) {
    EXPECT_THAT(fault_of({.check = name}), HasSubstr("--exclusive")) << name;
    EXPECT_THAT(numbers_of({.check = name, .is_exclusive = true}), testing::SizeIs(1)) << name;
    EXPECT_THAT(numbers_of({.check = name, .is_dry_run = true}), testing::SizeIs(1)) << name;
  }
  EXPECT_THAT(numbers_of({.check = "6"}), ElementsAre(6));
}

}  // namespace
}  // namespace gpuward::exporter
