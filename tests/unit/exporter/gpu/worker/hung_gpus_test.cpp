#include "exporter/gpu/worker/hung_gpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpuward::exporter {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr auto kInterval = 15s;

PciAddress address(int index) { return {0, static_cast<std::uint8_t>(0x10 + index), 0, 0}; }

// A worker's report of eight GPUs.
GpuReport eight(Vendor kind = Vendor::kNvidia) {
  GpuReport report;
  VendorReading& vendor = report.vendors.emplace_back();
  vendor.vendor = kind;
  vendor.state = LibraryState::kReady;
  for (int index = 0; index < 8; ++index) {
    Gpu& gpu = vendor.gpus.emplace_back().gpu;
    gpu.vendor = kind;
    gpu.index = index;
    gpu.pci = address(index);
    gpu.uuid = "GPU-" + std::to_string(index);
  }
  return report;
}

// The report of a worker that leaves out that index.
GpuReport without(int index) {
  GpuReport report = eight();
  GpuReading& reading = report.vendors[0].gpus[static_cast<std::size_t>(index)];
  reading = {};
  reading.gpu.index = index;
  reading.is_hung = true;
  return report;
}

class HungGpusTest : public testing::Test {
 protected:
  bool blame(std::string_view progress, const GpuReport* last) {
    return hung.blame(progress, "no answer", last, now);
  }

  Clock::Steady now{1000s};
  const GpuReport known = eight();
  HungGpus hung;
};

TEST_F(HungGpusTest, NameTheGpuByAllThatTheLastReportKnowsOfIt) {
  EXPECT_THAT(hung.flags(), IsEmpty());

  EXPECT_TRUE(blame("0000:13:00 temperature", &known));

  EXPECT_THAT(hung.flags(), ElementsAre("--gpu.leave-out", "3@0000:13:00.0"));
}

TEST_F(HungGpusTest, NameAGpuOfWhichNothingElseIsKnown) {
  EXPECT_TRUE(blame("GPU 3 identity", nullptr));
  EXPECT_TRUE(blame("0000:14:00 ecc", nullptr));

  EXPECT_THAT(hung.flags(), ElementsAre("--gpu.leave-out", "3@", "--gpu.leave-out", "@0000:14:00"));
}

TEST_F(HungGpusTest, NameAGpuOfAmdByItsAddressAlone) {
  const GpuReport amd = eight(Vendor::kAmd);

  EXPECT_TRUE(blame("0000:13:00 ras", &amd));

  EXPECT_THAT(hung.flags(), ElementsAre("--gpu.leave-out", "@0000:13:00.0"));
}

// The GPU hung at the very first reading, so that its vendor was not known yet.
TEST_F(HungGpusTest, OfAmdThatHangAtTheFirstReadingSayWhyInTheNext) {
  EXPECT_TRUE(blame("0000:13:00 ras", nullptr));
  GpuReport report = eight(Vendor::kAmd);
  GpuReading& reading = report.vendors[0].gpus[3];
  reading.is_hung = true;
  reading.fault = "left out";

  EXPECT_TRUE(hung.fill_in(report));

  EXPECT_EQ(report.vendors[0].gpus[3].fault, "no answer");
  EXPECT_EQ(report.vendors[0].gpus[3].gpu.vendor, Vendor::kAmd);
  GpuReport fewer = eight(Vendor::kAmd);
  fewer.vendors[0].gpus.pop_back();
  EXPECT_FALSE(hung.fill_in(fewer)) << "other GPUs than before";
}

TEST_F(HungGpusTest, AreNotBlamedForWhatConcernsTheWholeDriver) {
  for (const char* progress :
       {"", "initialising the library", "counting the GPUs", "GPU x handle",
        "creating the event set", "peers, from 0000:13:00", "opening libamd_smi"}) {
    EXPECT_FALSE(blame(progress, &known)) << progress;
  }
  EXPECT_THAT(hung.flags(), IsEmpty());
}

// One has left the driver's count while another hangs.
TEST_F(HungGpusTest, AreLeftOutAgainIfTheirNumberHasChanged) {
  ASSERT_TRUE(blame("0000:13:00 ecc", &known));
  GpuReport seven = without(3);
  seven.vendors[0].gpus.pop_back();
  ASSERT_FALSE(hung.fill_in(seven)) << "which is it now?";
  ASSERT_THAT(hung.flags(), IsEmpty());

  ASSERT_TRUE(blame("0000:13:00 ecc", &known));
  seven = without(3);
  seven.vendors[0].gpus.pop_back();

  EXPECT_TRUE(hung.fill_in(seven));
  EXPECT_EQ(seven.vendors[0].gpus[3].gpu.uuid, "GPU-3");
}

TEST_F(HungGpusTest, AreAtMostTwoInARow) {
  EXPECT_TRUE(blame("0000:13:00 ecc", &known));
  EXPECT_TRUE(blame("0000:14:00 ecc", &known));
  EXPECT_FALSE(blame("0000:15:00 ecc", &known)) << "the driver as a whole";

  GpuReport report = eight();
  for (const std::size_t index : {3U, 4U}) {
    report.vendors[0].gpus[index].is_hung = true;
  }
  ASSERT_TRUE(hung.fill_in(report));

  EXPECT_TRUE(blame("0000:15:00 ecc", &known));
}

TEST_F(HungGpusTest, KeepTheirIdentityInTheReportsOfTheOthers) {
  ASSERT_TRUE(blame("0000:13:00 ecc", &known));
  GpuReport report = without(3);

  ASSERT_TRUE(hung.fill_in(report));

  const GpuReading& reading = report.vendors[0].gpus[3];
  EXPECT_EQ(reading.gpu.uuid, "GPU-3");
  EXPECT_EQ(reading.gpu.pci, address(3));
  EXPECT_EQ(reading.fault, "no answer");
  EXPECT_TRUE(reading.is_hung);
}

// With one GPU less, that index belongs to another one.
TEST_F(HungGpusTest, AreForgottenWhenAnotherNumberOfGpusIsThere) {
  ASSERT_TRUE(blame("0000:13:00 ecc", &known));
  GpuReport report = without(3);
  report.vendors[0].gpus.pop_back();

  EXPECT_FALSE(hung.fill_in(report));

  EXPECT_THAT(hung.flags(), IsEmpty());
}

TEST_F(HungGpusTest, AreForgottenWhenTheyStandAtAnotherIndex) {
  ASSERT_TRUE(blame("0000:13:00 ecc", &known));
  GpuReport report = without(3);
  report.vendors[0].gpus[2].gpu.pci = address(3);

  EXPECT_FALSE(hung.fill_in(report));
}

TEST_F(HungGpusTest, StayWhileTheLibraryDoesNotWork) {
  ASSERT_TRUE(blame("0000:13:00 ecc", &known));
  GpuReport report = eight();
  report.vendors[0].state = LibraryState::kUnusable;
  report.vendors[0].gpus.clear();

  EXPECT_TRUE(hung.fill_in(report));

  EXPECT_THAT(hung.flags(), ElementsAre("--gpu.leave-out", "3@0000:13:00.0"));
}

TEST_F(HungGpusTest, AreProbedAfterAMinuteAndThenLessAndLessOften) {
  EXPECT_EQ(hung.next_probe(kInterval), Clock::Steady::max());
  ASSERT_TRUE(blame("0000:13:00 ecc", &known));
  EXPECT_FALSE(hung.due(now + 59s, kInterval).has_value());

  std::vector<int> pauses;
  for (int probe = 0; probe < 7; ++probe) {
    const auto next = hung.next_probe(kInterval);
    pauses.push_back(static_cast<int>((next - now) / 1min));
    now = next;
    ASSERT_TRUE(hung.due(now, kInterval).has_value());
    hung.probed(*hung.due(now, kInterval), false, now);
  }

  EXPECT_THAT(pauses, ElementsAre(1, 2, 4, 8, 16, 16, 16));
}

TEST_F(HungGpusTest, AreAskedAgainByTheWorkerOnceAProbeWasAnswered) {
  ASSERT_TRUE(blame("0000:13:00 ecc", &known));
  now += 1min;

  hung.probed(*hung.due(now, kInterval), true, now);

  EXPECT_THAT(hung.flags(), IsEmpty());
  EXPECT_EQ(hung.next_probe(kInterval), Clock::Steady::max());
}

TEST_F(HungGpusTest, ThatHangAgainSoonAreProbedLessOften) {
  ASSERT_TRUE(blame("0000:13:00 ecc", &known));
  hung.probed(*hung.due(now + 1min, kInterval), true, now);
  GpuReport report = eight();
  ASSERT_TRUE(hung.fill_in(report));

  now += 1min;
  ASSERT_TRUE(blame("0000:13:00 ecc", &known));
  EXPECT_EQ(hung.next_probe(kInterval), now + 2min);
  hung.probed(*hung.due(now + 2min, kInterval), true, now);
  ASSERT_TRUE(hung.fill_in(report));

  now += 1h;
  ASSERT_TRUE(blame("0000:13:00 ecc", &known));
  EXPECT_EQ(hung.next_probe(kInterval), now + 1min) << "it was well for long";
}

TEST(GpuNames, ComeBackFromTheCommandLine) {
  for (const char* text : {"3@", "3@0000:4e:00.0", "@0000:4e:00.0", "@0000:4e:00"}) {
    const auto name = parse_gpu_name(text);
    ASSERT_TRUE(name.has_value()) << text;
    EXPECT_EQ(to_text(*name), text);
  }
  for (const char* text : {"", "@", "3", "x@", "-1@", "3@x"}) {
    EXPECT_FALSE(parse_gpu_name(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace gpuward::exporter
