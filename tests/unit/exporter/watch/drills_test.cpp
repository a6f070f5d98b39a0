#include "exporter/watch/drills.h"

#include <gtest/gtest.h>

#include "tests/fakes/fake_clock.h"
#include "tests/support/temp_dir.h"

namespace gpuward::exporter {
namespace {

using std::chrono::minutes;

Gpu gpu_at(int index, const std::string& pci) {
  Gpu gpu;
  gpu.index = index;
  gpu.pci = *parse_pci_address(pci);
  return gpu;
}

class DrillsTest : public testing::Test {
 protected:
  DrillsTest() {
    store_.set_gpus({gpu_at(0, "0000:4e:00.0"), gpu_at(3, "0000:5e:00.0")}, clock_.wall());
  }
  void ask(DrillRequest request, Drills& drills) {
    ASSERT_TRUE(RequestFolder(drill_folder(state_.path())).leave(to_json(request), clock_.wall()));
    drills.tick();
    clock_.advance(std::chrono::seconds(1));
  }
  std::vector<std::string> codes() const {
    std::vector<std::string> codes;
    for (const Drill& drill : store_.snapshot().drills) codes.push_back(drill.finding.code);
    return codes;
  }

  support::TempDir state_;
  fakes::FakeClock clock_;
  Log log_{LogLevel::kError, LogFormat::kLogfmt};
  Store store_{State{}};
  CurrentPolicy policy_{Settings{}};
};

using Codes = std::vector<std::string>;

TEST_F(DrillsTest, EndByThemselvesAfterTheirTime) {
  Drills drills(state_.path(), store_, policy_, clock_, log_);
  ask({.kind = DrillKind::kXid, .number = 79, .gpu = "3", .lasts = minutes(5)}, drills);
  ASSERT_EQ(codes(), Codes{"79"});

  clock_.advance(minutes(4));
  drills.tick();
  EXPECT_EQ(codes(), Codes{"79"});

  clock_.advance(minutes(1));
  drills.tick();
  EXPECT_EQ(codes(), Codes{});
}

TEST_F(DrillsTest, OfTheSameFaultBeginAnew) {
  Drills drills(state_.path(), store_, policy_, clock_, log_);
  const DrillRequest request{.kind = DrillKind::kXid, .number = 79, .gpu = "3"};
  ask(request, drills);
  clock_.advance(minutes(9));
  ask(request, drills);
  ASSERT_EQ(codes(), Codes{"79"});

  clock_.advance(minutes(9));
  drills.tick();

  EXPECT_EQ(codes(), Codes{"79"});
}

TEST_F(DrillsTest, OfAGpuThatWasResetEnd) {
  Drills drills(state_.path(), store_, policy_, clock_, log_);
  ask({.kind = DrillKind::kEcc, .number = 1, .gpu = "0"}, drills);
  ask({.kind = DrillKind::kEcc, .number = 1, .gpu = "3"}, drills);
  ask({.kind = DrillKind::kXid, .number = 79, .gpu = "3"}, drills);
  ClearRequest reset;
  reset.after_gpu_reset = true;
  reset.pci_bus_id = "0000:5e:00";

  drills.clear(reset);

  EXPECT_EQ(codes(), (Codes{"ecc_uncorrected", "79"}));
}

TEST_F(DrillsTest, AreLimitedInNumber) {
  Drills drills(state_.path(), store_, policy_, clock_, log_);
  for (std::uint64_t code = 61; code <= 80; ++code)
    ask({.kind = DrillKind::kXid, .number = code, .gpu = "0"}, drills);

  EXPECT_EQ(codes().size(), Drills::kMost);
}

TEST_F(DrillsTest, ThatWereAskedForBeforeTheStartAreForgotten) {
  ASSERT_TRUE(
      RequestFolder(drill_folder(state_.path()))
          .leave(to_json({.kind = DrillKind::kXid, .number = 79, .gpu = "0"}), clock_.wall()));

  Drills drills(state_.path(), store_, policy_, clock_, log_);
  drills.tick();

  EXPECT_EQ(codes(), Codes{});
}

TEST(DrillRequest, IsRefusedOutsideItsLimits) {
  const auto is_taken = [](const DrillRequest& request) {
    return parse_drill_request(to_json(request)).has_value();
  };
  const DrillRequest good{.kind = DrillKind::kXid, .number = 79, .gpu = "0"};
  EXPECT_TRUE(is_taken(good));
  DrillRequest longer = good;
  longer.lasts = kLongestDrill + std::chrono::seconds(1);
  EXPECT_FALSE(parse_drill_request(
      R"({"kind":"xid","number":79,"gpu":"0","seconds":4294967896})"));  // 2^32 + 600
  EXPECT_FALSE(is_taken(longer));
  DrillRequest none = good;
  none.number = 0;
  EXPECT_FALSE(is_taken(none));
  EXPECT_FALSE(parse_drill_request("{\"kind\":\"xid\"}"));
  EXPECT_FALSE(parse_drill_request("[]"));
}

}  // namespace
}  // namespace gpuward::exporter
