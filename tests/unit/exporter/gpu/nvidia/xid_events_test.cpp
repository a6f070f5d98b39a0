#include "exporter/gpu/nvidia/xid_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "exporter/gpu/nvidia/event_slot.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/nvml/fake_nvml.h"
#include "tests/support/wait.h"
#include "tests/unit/exporter/gpu/nvidia/fake_library.h"

namespace gpuward::exporter {
namespace {

using fake_nvml::FakeNvml;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr milliseconds kLong = support::kGenerous;  // no test waits this long

class XidEvents : public ::testing::Test {
 protected:
  XidEvents() : library_(make_library()) {}

  void SetUp() override { ASSERT_EQ(library_->read(ignore_progress).state, LibraryState::kReady); }

  FakeNvml fake_{"healthy_8x_h100"};
  std::unique_ptr<GpuLibrary> library_;
};

TEST_F(XidEvents, ArriveWithTheAddressOfTheirGpu) {
  fake_.raise_xid(3, 79);

  const auto xids = library_->wait_for_xids(kLong);

  ASSERT_THAT(xids, SizeIs(1));
  EXPECT_EQ(xids[0].pci_bus_id, "0000:4e:00");
  EXPECT_EQ(xids[0].code, 79U);
  EXPECT_EQ(xids[0].gpu_instance, std::nullopt);
  EXPECT_GT(xids[0].seen.time_since_epoch().count(), 0);
}

TEST_F(XidEvents, NameTheMigInstanceThatWasHit) {
  fake_.raise_xid(0, 31, "2 0");

  const auto xids = library_->wait_for_xids(kLong);

  ASSERT_THAT(xids, SizeIs(1));
  EXPECT_EQ(xids[0].gpu_instance, 2U);
  EXPECT_EQ(xids[0].compute_instance, 0U);
}

TEST_F(XidEvents, OfABurstArriveTogether) {
  for (const unsigned code : {48U, 63U, 94U}) fake_.raise_xid(3, code);
  fake_.raise_xid(4, 31);

  const auto xids = library_->wait_for_xids(kLong);

  ASSERT_THAT(xids, SizeIs(4));
  EXPECT_EQ(xids[2].code, 94U);
  EXPECT_EQ(xids[3].pci_bus_id, "0000:9a:00");
}

TEST_F(XidEvents, OfWhichTheDriverKnowsNoNumberAreLeftToTheKernelLog) {
  fake_.raise_xid(3, 999);
  fake_.raise_xid(3, 0);

  EXPECT_THAT(library_->wait_for_xids(milliseconds(50)), IsEmpty());
}

TEST_F(XidEvents, AreWaitedForNoLongerThanTheLimit) {
  const auto start = steady_clock::now();

  EXPECT_THAT(library_->wait_for_xids(milliseconds(30)), IsEmpty());

  EXPECT_GE(steady_clock::now() - start, milliseconds(30));
  EXPECT_LT(steady_clock::now() - start, kLong);
}

TEST_F(XidEvents, OfTheOthersArriveAfterAGpuWasLost) {
  fake_.play("lost_gpu");
  ASSERT_TRUE(library_->read(ignore_progress).gpus.at(3).is_lost);

  fake_.raise_xid(5, 48);

  EXPECT_THAT(library_->wait_for_xids(kLong), SizeIs(1));
}

TEST_F(XidEvents, AreHeardAgainAfterTheSetHasBroken) {
  fake_.set("fault.nvmlEventSetWait_v2.*", "15");
  const auto start = steady_clock::now();
  EXPECT_THAT(library_->wait_for_xids(milliseconds(30)), IsEmpty());
  EXPECT_GE(steady_clock::now() - start, milliseconds(30));  // and no busy loop
  EXPECT_EQ(fake_.count_calls("nvmlEventSetWait_v2"), 1U);

  fake_.play("lost_gpu");
  ASSERT_EQ(library_->read(ignore_progress).state, LibraryState::kReady);
  fake_.raise_xid(5, 48);

  EXPECT_THAT(library_->wait_for_xids(kLong), SizeIs(1));
  EXPECT_EQ(fake_.count_calls("nvmlEventSetFree"), 1U);
}

TEST_F(XidEvents, AreWatchedOnAGpuThatComesBack) {
  fake_.set("fault.nvmlEventSetWait_v2.*", "15");
  (void)library_->wait_for_xids(milliseconds(1));
  fake_.play("lost_gpu");
  ASSERT_TRUE(library_->read(ignore_progress).gpus.at(3).is_lost);
  fake_.play("healthy_8x_h100");
  ASSERT_FALSE(library_->read(ignore_progress).gpus.at(3).is_lost);

  fake_.raise_xid(3, 79);

  EXPECT_THAT(library_->wait_for_xids(kLong), SizeIs(1));
}

TEST_F(XidEvents, DoNotHoldUpAReopeningOfTheLibrary) {
  std::atomic<bool> stop = false;
  std::jthread waiter([&] {
    while (!stop) (void)library_->wait_for_xids(milliseconds(20));
  });

  for (int again = 0; again < 5; ++again) {
    fake_.set("fault.nvmlDeviceGetCount_v2.*", "1");
    EXPECT_EQ(library_->read(ignore_progress).state, LibraryState::kUnusable);
    fake_.set("fault.nvmlDeviceGetCount_v2.*", "delay 0");
    EXPECT_EQ(library_->read(ignore_progress).state, LibraryState::kReady);
  }
  stop = true;
  waiter.join();

  EXPECT_EQ(fake_.count_calls("nvmlEventSetCreate"), 6U);
  EXPECT_EQ(fake_.count_calls("nvmlEventSetFree"), 5U);
}

// The reader reports the hang before it closes the library, which has to wait for its end.
TEST(EventSlot, NamesTheCallThatKeepsTheLibraryOpen) {
  FakeNvml fake("healthy_8x_h100");
  fake.set("fault.nvmlEventSetWait_v2.*", "hang");
  fakes::FakeClock clock;
  const auto session = nvml::Session::open(FakeNvml::library(), ignore_progress);
  ASSERT_TRUE(session) << session.error().message;
  nvml::EventSlot slot(clock);
  slot.keep(*session, {}, ignore_progress);
  std::jthread waiter([&] { (void)slot.wait(milliseconds(1)); });
  ASSERT_TRUE(support::wait_until([&] { return fake.count_calls("nvmlEventSetWait_v2") == 1; },
                                  "the event thread is in the driver"));
  clock.advance(nvml::EventSlot::kSlice + nvml::EventSlot::kPatience + milliseconds(1));
  ASSERT_TRUE(slot.is_stuck());
  std::vector<std::string> told;

  slot.empty([&](std::string_view text) {
    told.emplace_back(text);
    fake.set("fault.nvmlEventSetWait_v2.*", "delay 0");  // ends the hang
  });

  EXPECT_THAT(told, ElementsAre(HasSubstr("waiting for the event call")));
  EXPECT_FALSE(slot.is_stuck());
}

TEST(XidEventsWithoutADriver, AreWaitedForAllTheSame) {
  const auto library = make_library("/nowhere/libnvidia-ml.so.1");
  (void)library->read(ignore_progress);
  const auto start = steady_clock::now();

  EXPECT_THAT(library->wait_for_xids(milliseconds(30)), IsEmpty());

  EXPECT_GE(steady_clock::now() - start, milliseconds(30));
}

}  // namespace
}  // namespace gpuward::exporter
