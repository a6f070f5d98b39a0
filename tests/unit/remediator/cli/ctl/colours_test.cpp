#include "remediator/cli/ctl/colours.h"

#include <gtest/gtest.h>

#include "core/runtime/text.h"

namespace gpuward::remediator {
namespace {

TEST(Colours, AreOfWholeWordsAlone) {
  EXPECT_EQ(coloured("gpu-01  isolate  Held  1m\n"),
            "gpu-01  \033[31misolate\033[0m  \033[31mHeld\033[0m  1m\n");
  EXPECT_EQ(coloured("Held-1 reboot_x unreset OPENED\n"), "Held-1 reboot_x unreset OPENED\n");
}

TEST(Colours, AreTheOnlyControlsOfWhatMainPrints) {
  EXPECT_EQ(coloured(escaped_lines("job \033]0;x\a\nHeld\n")),
            "job \\u001b]0;x\\u0007\n\033[31mHeld\033[0m\n");
}

TEST(Colours, LeaveTheRestAsItIs) {
  EXPECT_EQ(coloured(""), "");
  EXPECT_EQ(coloured("\n  \xC3\xA4 (reset)"), "\n  \xC3\xA4 (\033[33mreset\033[0m)");
}

}  // namespace
}  // namespace gpuward::remediator
