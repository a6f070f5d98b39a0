// The fake API server, on which all simulations rest, ends with the same objects as a real one: the
// test sends the writes of fifty simulations to both.
#include "tests/simulation/real_server.h"

#include <gtest/gtest.h>

#include "tests/places.inc"
#include "tests/simulation/world.h"
#include "tests/support/require.h"

namespace gpuward::remediator::simulation {
namespace {

constexpr std::uint64_t kSeeds = 50;

class RealServerTest : public ::testing::Test {
 protected:
  // Nodes here are created Ready: no controller would remove the taint.
  static void SetUpTestSuite() {
    if (!support::ControlPlane::why_unavailable().empty()) return;
    support::ControlPlaneOptions options;
    options.apiserver_flags = {"--disable-admission-plugins=TaintNodesByCondition"};
    auto plane = support::ControlPlane::start(options);
    ASSERT_TRUE(plane) << plane.error().message;
    plane_ = std::move(*plane);
    ASSERT_TRUE(plane_->apply(GPUWARD_SOURCE_DIR "/manifests/crd.yaml"));
    ASSERT_TRUE(plane_->kubectl({"create", "namespace", kStateNamespace}));
  }
  static void TearDownTestSuite() { plane_.reset(); }
  void SetUp() override {
    GPUWARD_REQUIRE_IN(kLanding, support::ControlPlane::why_unavailable());
    ASSERT_TRUE(plane_);
  }
  static inline std::unique_ptr<support::ControlPlane> plane_;
};

TEST_F(RealServerTest, IsLeftWithTheSameObjectsAsTheFakeOne) {
  RealServer real(*plane_);
  std::size_t told = 0;

  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    World world(seed, Size::kAny, Sabotage::kNone, Keeps::kWrites);
    world.run();
    told += world.writes().size();

    ASSERT_EQ(real.deliver(world.writes()), "") << "seed " << seed;
    ASSERT_EQ(real.compare(world.kube()), "") << "seed " << seed;
    real.clear();
  }
  EXPECT_GT(told, kSeeds * 50);
}

TEST_F(RealServerTest, DiffersIfAWriteIsMissing) {
  World world(0, Size::kAny, Sabotage::kNone, Keeps::kWrites);
  world.run();
  std::vector<Written> writes = world.writes();
  writes.pop_back();
  RealServer real(*plane_);

  ASSERT_EQ(real.deliver(writes), "");
  EXPECT_NE(real.compare(world.kube()), "");
  real.clear();
}

}  // namespace
}  // namespace gpuward::remediator::simulation
