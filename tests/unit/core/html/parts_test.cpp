#include "core/html/parts.h"

#include <gmock/gmock.h>

namespace gpuward::html {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Parts, TellSeveritiesApartByShapeWordAndColour) {
  EXPECT_THAT(severity_mark("reset").html(),
              AllOf(HasSubstr("◆ reset"), HasSubstr("severity reset")));
  EXPECT_THAT(severity_mark("reboot").html(), HasSubstr("▲ reboot"));
  EXPECT_THAT(severity_mark("isolate").html(), HasSubstr("■ isolate"));
  EXPECT_THAT(severity_mark("monitor").html(), HasSubstr("● monitor"));
}

// On a phone the page shows the heads beside each value.
TEST(Parts, ATableNamesItsColumnsInEachCell) {
  EXPECT_THAT(table({{"Node"}, {"Since", true}}, {{"gpu-1", "3 h"}}).html(),
              AllOf(HasSubstr("<td data-head=\"Node\">gpu-1</td>"),
                    HasSubstr("<td class=\"number\" data-head=\"Since\">3 h</td>")));
}

TEST(Parts, AnEmptyCellHasNoHead) {
  EXPECT_THAT(
      table({{"Node"}, {"Serial"}}, {{"gpu-1", ""}, {"gpu-2", "165"}}).html(),
      AllOf(HasSubstr("gpu-1</td><td></td>"), HasSubstr("<td data-head=\"Serial\">165</td>")));
}

TEST(Parts, ATableLeavesOutAColumnThatNobodyHasAnythingIn) {
  EXPECT_THAT(table({{"Node"}, {"Serial"}}, {{"gpu-1", ""}, {"gpu-2", ""}}).html(),
              Not(HasSubstr("Serial")));
}

TEST(Parts, FactsWithoutAValueAreLeftOut) {
  EXPECT_EQ(facts({{"Phase", "Held"}, {"Rule", ""}}).html(),
            "<dl class=\"facts\"><dt>Phase</dt><dd>Held</dd></dl>");
}

}  // namespace
}  // namespace gpuward::html
