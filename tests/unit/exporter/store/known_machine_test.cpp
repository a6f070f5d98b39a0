// How many GPUs the machine has had: what is remembered, and what makes it be forgotten.
#include <gtest/gtest.h>

#include "exporter/store/latched_state.h"
#include "exporter/store/state.h"
#include "exporter/store/state_file.h"

namespace gpuward::exporter {
namespace {

const Machine kMachine{"4c4c4544-0057-3410-8053-c4c04f465433", "PowerEdge R760xa"};
const WallTime kNow{std::chrono::seconds(1'800'000'000)};
const GpuCounts kFour{{Vendor::kNvidia, 4}};
const GpuCounts kThree{{Vendor::kNvidia, 3}};

std::vector<Gpu> gpus(unsigned count, Vendor vendor = Vendor::kNvidia) {
  std::vector<Gpu> all;
  for (unsigned index = 0; index < count; ++index) {
    Gpu& gpu = all.emplace_back();
    gpu.vendor = vendor;
    gpu.pci = *parse_pci_address("0000:" + std::to_string(10 + index) + ":00.0");
  }
  return all;
}

// Four GPUs, and then three.
LatchedState with_a_lost_gpu() {
  LatchedState latched{State()};
  latched.enter_machine(kMachine);
  latched.set_gpus(gpus(4), kNow);
  latched.set_gpus(gpus(3), kNow);
  return latched;
}

TEST(KnownMachine, HasTheMostGpusThatItEverHad) {
  EXPECT_EQ(with_a_lost_gpu().state().machine.most, kFour);
}

TEST(KnownMachine, IsRememberedOverARestart) {
  const auto read = parse_state_json(to_state_json(with_a_lost_gpu().state()));
  ASSERT_TRUE(read) << read.error().message;
  LatchedState latched(*read);
  latched.enter_machine(kMachine);
  latched.set_gpus(gpus(3), kNow);
  EXPECT_EQ(latched.state().machine.most, kFour);
}

TEST(KnownMachine, OfAStateFileBeforeItIsNotKnown) {
  std::string text = to_state_json(State());
  const auto begin = text.find("\"machine\":");
  ASSERT_NE(begin, std::string::npos);
  text.replace(begin, std::string("\"machine\"").size(), "\"unheard\"");
  const auto read = parse_state_json(text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->machine, KnownMachine());
}

TEST(KnownMachine, BeginsAnewIfTheFirmwareIsOfAnotherOne) {
  for (const Machine& other : {Machine{"another", kMachine.product_name},
                               Machine{kMachine.system_uuid, "PowerEdge R750"}}) {
    LatchedState latched = with_a_lost_gpu();
    latched.enter_machine(other);
    EXPECT_EQ(latched.state().machine.most, kThree);
  }
}

TEST(KnownMachine, BeginsAnewWithAnotherInstanceTypeAndNotWithTheFirst) {
  LatchedState latched = with_a_lost_gpu();
  latched.learn_instance_type("");
  latched.learn_instance_type("x9.large");
  latched.learn_instance_type("");
  EXPECT_EQ(latched.state().machine.most, kFour);
  latched.learn_instance_type("x9.small");
  EXPECT_EQ(latched.state().machine.most, kThree);
}

TEST(KnownMachine, OfWhichNobodyKnowsWhichItIsHasNothing) {
  LatchedState latched{State()};
  latched.enter_machine({"", "PowerEdge R760xa"});
  latched.set_gpus(gpus(4), kNow);
  latched.learn_labelled_gpus(kFour);
  EXPECT_TRUE(latched.state().machine.most.empty());
  EXPECT_TRUE(latched.state().machine.labelled.empty());
}

TEST(KnownMachine, CountsTheGpusOfEachVendor) {
  LatchedState latched{State()};
  latched.enter_machine(kMachine);
  latched.set_gpus(gpus(8, Vendor::kAmd), kNow);
  EXPECT_EQ(latched.state().machine.most, (GpuCounts{{Vendor::kAmd, 8}}));
}

// Somebody has taken a board out and says so.
TEST(KnownMachine, ForgetsAGpuWhenSomebodyClearsThatItIsMissing) {
  LatchedState latched = with_a_lost_gpu();
  CheckResult result;
  result.check = "gpu";
  result.status = CheckStatus::kWarn;
  Finding& missing = result.findings.emplace_back();
  missing.check = "gpu";
  missing.code = "gpu_missing_unconfirmed";
  missing.severity = Severity::kMonitor;
  missing.evidence = Evidence::kMeasured;
  latched.apply_check(result, false);
  EXPECT_EQ(latched.clear({.after_gpu_reset = true}, kNow).size(), 0U);
  EXPECT_EQ(latched.state().machine.most, kFour);
  EXPECT_EQ(latched.clear({.check = "gpu", .code = "gpu_missing_unconfirmed"}, kNow).size(), 1U);
  EXPECT_EQ(latched.state().machine.most, kThree);
}

}  // namespace
}  // namespace gpuward::exporter
