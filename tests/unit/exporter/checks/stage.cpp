#include "tests/unit/exporter/checks/stage.h"

#include <chrono>
#include <list>
#include <utility>

#include "tests/support/wait.h"

namespace gpuward::exporter {
namespace {

fakes::FakeClock& fake_lasting_clock() {
  static auto* const kClocks = new std::list<fakes::FakeClock>;
  return kClocks->emplace_back();
}

class ScriptedCheck final : public Check {
 public:
  CheckOutcome run(const CheckContext& context) override {
    Script& play = script();
    std::function<CheckOutcome(const CheckContext&)> part;
    {
      std::unique_lock lock(play.mutex);
      ++play.runs;
      part = play.run;
      play.changed.notify_all();
      play.changed.wait(lock, [&] { return !play.is_held; });
    }
    return part ? part(context) : CheckOutcome::done("well");
  }
};

}  // namespace

Script& script() {
  static Script the_script;
  return the_script;
}

void reset_script() {
  const std::lock_guard lock(script().mutex);
  script().run = nullptr;
  script().runs = 0;
  script().is_held = false;
}

void Script::hold() {
  const std::lock_guard lock(mutex);
  is_held = true;
}

void Script::release() {
  const std::lock_guard lock(mutex);
  is_held = false;
  changed.notify_all();
}

CheckEntry scripted_entry() {
  return {.number = 0,
          .name = "0-scripted",
          .short_name = "scripted",
          .timeout = std::chrono::seconds(30),
          .make = []() -> std::unique_ptr<Check> { return std::make_unique<ScriptedCheck>(); }};
}

Stage::Stage(std::vector<CheckEntry> all, LogLevel level, State known)
    : clock(fake_lasting_clock()),
      store(std::move(known)),
      entries(std::move(all)),
      log_(level, LogFormat::kLogfmt) {
  reset_script();
  RunnerOptions options;
  options.node_name = "gpu-node-1";
  options.checks = entries;
  options.state_folder = state_folder.path();
  options.settings = [this] { return std::make_shared<const CheckSettings>(settings); };
  options.objection = [this] { return objection; };
  runner_ = std::make_unique<CheckRunner>(options, store, clock, log_);
}

Stage::~Stage() { script().release(); }

void Stage::gpus_answer() {
  GpuTelemetry telemetry;
  telemetry.state = WorkerState::kAnswering;
  store.set_telemetry(telemetry);
  InstanceFacts facts;
  facts.source = "unknown";
  store.set_instance(std::move(facts));
}

void Stage::pass(std::chrono::milliseconds time) {
  clock.advance(time);
  runner_->tick();
  if (runner_->running() == 0 || script().is_held) return;
  EXPECT_TRUE(support::wait_until(
      [&] {
        runner_->tick();
        return runner_->running() == 0;
      },
      "the end of the checks"));
}

CheckResult Stage::result() const {
  const State state = store.state();
  const auto known = state.checks.find(std::string(entries[0].name));
  return known == state.checks.end() ? CheckResult{} : known->second;
}

bool Stage::has_result() const {
  return store.state().checks.contains(std::string(entries[0].name));
}

}  // namespace gpuward::exporter
