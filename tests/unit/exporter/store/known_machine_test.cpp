// The number of GPUs that the machine has had: how the store remembers it, and when it forgets it.
#include <gtest/gtest.h>

#include <algorithm>

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
  latched.machine().learn_labelled(kFour);
  EXPECT_TRUE(latched.state().machine.most.empty());
  EXPECT_TRUE(latched.state().machine.labelled.empty());
}

TEST(KnownMachine, CountsTheGpusOfEachVendor) {
  LatchedState latched{State()};
  latched.enter_machine(kMachine);
  latched.set_gpus(gpus(8, Vendor::kAmd), kNow);
  EXPECT_EQ(latched.state().machine.most, (GpuCounts{{Vendor::kAmd, 8}}));
}

// An operator has removed a board and reports that.
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

GpuReport with_links(std::initializer_list<std::uint32_t> active,
                     const std::string& uuid = "GPU-1") {
  GpuReport report;
  VendorReading& nvidia = report.vendors.emplace_back();
  GpuReading& reading = nvidia.gpus.emplace_back();
  reading.gpu.uuid = uuid;
  for (std::uint32_t number = 0; number < 18; ++number) {
    Link& link = reading.links.emplace_back();
    link.number = number;
    link.active = std::ranges::find(active, number) != active.end();
  }
  return report;
}

TEST(KnownLinksOfAMachine, AreThoseThatWereActiveInThisBoot) {
  KnownMachine known;
  known.learn_links(with_links({0, 1}), "boot-1");
  known.learn_links(with_links({1, 2}), "boot-1");
  EXPECT_EQ(known.links.at("GPU-1"), (KnownLinks{"boot-1", 0b111}));
  known.learn_links(with_links({3}), "boot-2");
  EXPECT_EQ(known.links.at("GPU-1"), (KnownLinks{"boot-2", 0b1000}));
  known.learn_links(with_links({}), "boot-3");
  EXPECT_EQ(known.links.at("GPU-1").boot_id, "boot-2") << "it has had NVLink";
}

TEST(KnownLinksOfAMachine, AreNotRememberedOfAGpuThatHasNone) {
  KnownMachine known;
  known.learn_links(with_links({}), "boot-1");
  known.learn_links(with_links({1}, ""), "boot-1");
  known.learn_links(with_links({1}), "");
  EXPECT_TRUE(known.links.empty());
  GpuReport in_fabric = with_links({});
  in_fabric.vendors[0].gpus[0].fabric.state = 3;
  known.learn_links(in_fabric, "boot-1");
  EXPECT_EQ(known.links.at("GPU-1"), (KnownLinks{"boot-1", 0}));
}

TEST(KnownLinksOfAMachine, AreBoundedByTheBoardsThatAreHere) {
  KnownMachine known;
  for (std::size_t board = 0; board <= KnownMachine::kMostLinks; ++board)
    known.learn_links(with_links({0}, "GPU-" + std::to_string(board)), "boot-1");
  EXPECT_EQ(known.links.size(), 1U) << "those before it were taken out";
}

TEST(KnownMachine, RemembersLinksAndEfaDevicesOverARestart) {
  LatchedState latched{State()};
  latched.enter_boot("boot-1", kNow);
  latched.enter_machine(kMachine);
  latched.machine().learn_links(with_links({0, 17}), "boot-1");
  latched.machine().learn_efa_devices(32);
  latched.machine().learn_efa_devices(31);
  const auto read = parse_state_json(to_state_json(latched.state()));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->machine, latched.state().machine);
  EXPECT_EQ(read->machine.efa_devices, 32U);
  EXPECT_EQ(read->machine.links.at("GPU-1").active, (1ULL << 17U) | 1U);
}

TEST(KnownMachine, WithAWrongLinkMakesTheWholeFileWrong) {
  State state;
  state.machine.links["GPU-1"] = {"boot-1", 3};
  std::string text = to_state_json(state);
  const std::string right = "\"active\":3";
  const auto begin = text.find(right);
  ASSERT_NE(begin, std::string::npos);
  text.replace(begin, right.size(), "\"active\":\"3\"");
  EXPECT_FALSE(parse_state_json(text));
}

TEST(KnownMachine, OfAnotherTypeHasNoLinksAndNoEfaDevices) {
  KnownMachine known;
  known.enter(kMachine, {});
  known.learn_type("p5.48xlarge", "boot-1", {});
  known.learn_efa_devices(32);
  known.learn_links(with_links({0}), "boot-1");
  known.learn_type("p5.4xlarge", "boot-1", {});
  EXPECT_EQ(known.efa_devices, 0U);
  EXPECT_TRUE(known.links.empty());
}

TEST(KnownMachine, ForgetsWhatAnOperatorClears) {
  KnownMachine known;
  known.enter(kMachine, {});
  known.learn_efa_devices(32);
  known.learn_links(with_links({0}), "boot-1");
  known.forget("ecc_off", {});
  EXPECT_EQ(known.efa_devices, 32U);
  EXPECT_EQ(known.links.size(), 1U);
  known.forget("nvlink_inactive", {});
  EXPECT_TRUE(known.links.empty());
  known.forget("efa_count", {});
  EXPECT_EQ(known.efa_devices, 0U);
}

}  // namespace
}  // namespace gpuward::exporter
