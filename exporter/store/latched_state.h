// The rules of the store, pure: what an event does to counters and findings, what a new boot and
// the passing of time clear. Time comes in as a parameter. Wrapped by Store, which adds the lock.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/model/gpu.h"
#include "core/xid/catalogue.h"
#include "core/xid/parser.h"
#include "exporter/store/clear_request.h"
#include "exporter/store/state.h"
#include "exporter/store/twin_xids.h"

namespace gpuward::exporter {

// One judged event of the kernel log, or an Xid of the driver's event set.
struct Observation {
  xid::Event event;
  xid::Assessment verdict;
  std::string line;
  WallTime seen;
  Evidence evidence = Evidence::kKernel;
  bool is_driver_event = false;     // from the event set: the kernel log mostly has it too
  bool is_of_text_log = false;      // it may be the kernel's: the log does not say who wrote it
  bool is_history = false;          // LogRecord::is_history
  bool is_of_earlier_boot = false;  // LogRecord::is_of_earlier_boot
  std::string workload;             // who used the GPU: `namespace/pod`
};

struct LatchLimits {
  // Distinct series. User space gets a quarter of each, so that a forger cannot crowd out the
  // kernel; known codes on GPUs of the inventory are always taken.
  std::size_t counters = 4096;
  std::size_t findings = 1024;
  std::size_t uuids = 256;
};

class LatchedState {
 public:
  explicit LatchedState(State state, LatchLimits limits = LatchLimits())
      : state_(std::move(state)), limits_(limits) {}

  [[nodiscard]] const State& state() const { return state_; }

  // Where another board is in a slot now, what was known of the one before goes; its bus ids. A
  // finding stays that the kernel's own log has told in this boot before the first inventory: it is
  // of the new one.
  std::vector<std::string> set_gpus(const std::vector<Gpu>& gpus, WallTime now);
  // Which machine this is: of another one nothing is known, nor of one without a system UUID.
  void enter_machine(const Machine& machine) { state_.machine.enter(machine, present_); }
  // One that was not found out but configured is not remembered for a source that falls silent.
  void learn_instance_type(const std::string& type, bool is_found = true) {
    state_.machine.learn_type(type, is_found ? state_.boot_id : std::string(), present_);
  }
  // To learn what else it has.
  [[nodiscard]] KnownMachine& machine() { return state_.machine; }
  void set_position(const LogPosition& position) { state_.position = position; }

  // Counts it and latches what follows from it. Nothing ever lowers a finding here.
  void observe(const Observation& observation);
  // Replaces what the check has found before and its next run clears, and keeps the rest. An error
  // or a skip takes nothing away, unless the check is withdrawn, and what a run could not look at
  // stays; but of what is suspected only one code ever stands. It lowers a finding of the kernel
  // log only if the operator's thresholds allow its errors. `is_diagnostic`: a pass also removes
  // what diagnostics clear.
  void apply_check(const CheckResult& result, bool is_diagnostic);
  // True when that address was not known by this UUID.
  bool learn_uuid(const xid::UuidLine& line);
  // A boot resets every GPU: what a reboot or a GPU reset clears is gone. What a check clears is
  // only remembered, at severity none, until the check has looked again. All else stays. The same
  // boot id, or none, changes nothing.
  void enter_boot(const std::string& boot_id, WallTime now);
  // Drops findings that age clears and that have not come again for `age`; true if there were any.
  bool expire(WallTime now, std::chrono::milliseconds age);
  // Drops what the request matches and returns it; a finding of one event comes back with another
  // only. An operator who clears that a GPU, a link or an EFA device is missing says that the
  // machine has no more of them: the memory of them goes. Counters stay.
  std::vector<Finding> clear(const ClearRequest& request, WallTime now);

 private:
  [[nodiscard]] bool count(const Observation& observation, const CounterKey& key);
  void latch_check(const CheckResult& result, const Finding& found);
  // Whether it counts as one more event, and how severe the other source has called it, if both
  // kernel log and driver have told of it.
  struct Told {
    bool is_new = false;
    std::optional<Severity> twin;
  };
  void latch(const Observation& observation, const CounterKey& key, Told told);

  State state_;
  LatchLimits limits_;
  std::set<std::string> known_gpus_;  // bus ids of the inventory
  GpuCounts present_;                 // likewise, by vendor
  TwinXids twins_;
};

}  // namespace gpuward::exporter
