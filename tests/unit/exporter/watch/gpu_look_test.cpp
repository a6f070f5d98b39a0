#include <gtest/gtest.h>

#include "exporter/watch/gpu_inventory.h"
#include "tests/fakes/fake_clock.h"

namespace gpuward::exporter {
namespace {

using namespace std::chrono_literals;

// A source whose first answer comes after that long. Waiting takes time only on the fake clock.
class LateSource final : public GpuSource {
 public:
  LateSource(fakes::FakeClock& clock, std::chrono::milliseconds late)
      : clock_(clock), answers_at_(clock.steady() + late) {}
  bool wait(std::chrono::milliseconds limit, const std::stop_token&) override {
    clock_.advance(limit);
    return false;
  }
  [[nodiscard]] GpuTelemetry telemetry() const override {
    GpuTelemetry telemetry;
    if (clock_.steady() >= answers_at_) telemetry.state = WorkerState::kAnswering;
    return telemetry;
  }
  [[nodiscard]] std::vector<GpuXid> take_xids() override { return {}; }
  void hurry() override {}
  void set_released(bool /*is_released*/) override {}
  [[nodiscard]] bool has_let_go() const override { return false; }
  [[nodiscard]] std::string describe() const override { return "late"; }

 private:
  fakes::FakeClock& clock_;
  Clock::Steady answers_at_;
};

// Eight GPUs that sleep without the persistence daemon take seconds each.
TEST(GpuLook, WaitsAsLongForTheFirstReadingAsTheExporterDoes) {
  fakes::FakeClock clock;
  LateSource slow(clock, 55s);
  EXPECT_EQ(look_at_gpus(slow, 20s, clock, {}).state, WorkerState::kAnswering);
  LateSource silent(clock, 1h);
  const auto begin = clock.steady();
  EXPECT_EQ(look_at_gpus(silent, 20s, clock, {}).state, WorkerState::kStarting);
  EXPECT_LE(clock.steady() - begin, 66s);
}

}  // namespace
}  // namespace gpuward::exporter
