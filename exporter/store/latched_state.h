// The rules of the store, pure: how events change counters and findings, and what a new boot and
// time clear. Time is a parameter. Wrapped by Store, which adds the lock.
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
  bool is_driver_event = false;  // from the event set; usually the kernel log has it too
  bool is_of_text_log = false;   // it may be the kernel's, but the log does not record who wrote it
  bool is_history = false;       // LogRecord::is_history
  bool is_of_earlier_boot = false;  // LogRecord::is_of_earlier_boot
  std::string workload;             // the user of the GPU: `namespace/pod`
};

struct LatchLimits {
  // Limits for distinct series. User space has a quarter of each, so that forged lines cannot
  // displace the kernel's. Known codes on GPUs of the inventory are always accepted.
  std::size_t counters = 4096;
  std::size_t findings = 1024;
  std::size_t uuids = 256;
};

class LatchedState {
 public:
  explicit LatchedState(State state, LatchLimits limits = LatchLimits())
      : state_(std::move(state)), limits_(limits) {}

  [[nodiscard]] const State& state() const { return state_; }

  // Forgets the old board of each slot that has another one now, and returns the bus ids. Keeps
  // findings from the kernel's own log in this boot before the first inventory, because they belong
  // to the new board.
  std::vector<std::string> set_gpus(const std::vector<Gpu>& gpus, WallTime now);
  // Enters the machine. For another machine, or one without a system UUID, nothing is known.
  void enter_machine(const Machine& machine) { state_.machine.enter(machine, present_); }
  // A configured type is not kept for the time when its source has no answer; a detected one is.
  void learn_instance_type(const std::string& type, bool is_found = true) {
    state_.machine.learn_type(type, is_found ? state_.boot_id : std::string(), present_);
  }
  // For the other facts about the machine.
  [[nodiscard]] KnownMachine& machine() { return state_.machine; }
  void set_position(const LogPosition& position) { state_.position = position; }

  // Counts the event and latches its finding. It never lowers one, but Xid 162 ends Xid 163.
  void observe(const Observation& observation);
  // Replaces the findings of the check that its next run clears, and keeps the rest. An error or a
  // skip removes nothing, unless the check is withdrawn, and findings that a run could not examine
  // stay; but of two suspected codes only one remains. A finding of the kernel log is lowered only
  // if the operator's thresholds allow its errors, and ends if a reset by the driver cleared it.
  // `is_diagnostic`: a pass also removes findings that diagnostics clear.
  void apply_check(const CheckResult& result, bool is_diagnostic);
  // Returns true if that address did not have this UUID before.
  bool learn_uuid(const xid::UuidLine& line);
  // A boot resets every GPU, so findings that a reboot or a GPU reset clears are removed. Findings
  // that a check clears stay at severity none until the check has run again. All others stay. The
  // same boot id, or an empty one, changes nothing.
  void enter_boot(const std::string& boot_id, WallTime now);
  // Drops findings that age clears and that were not seen for `age`. Returns whether there were
  // any.
  bool expire(WallTime now, std::chrono::milliseconds age);
  // Drops and returns the findings that the request matches; one with an event returns only with
  // another event. An operator who clears a missing GPU, link or EFA device says that the machine
  // has no more of them, so that memory is cleared too. Counters stay.
  std::vector<Finding> clear(const ClearRequest& request, WallTime now);

 private:
  [[nodiscard]] bool count(const Observation& observation, const CounterKey& key);
  void latch_check(const CheckResult& result, const Finding& found);
  // Whether it is a new event, and its severity by the other source if both kernel log and driver
  // have reported it.
  struct Told {
    bool is_new = false;
    std::optional<Severity> twin;
  };
  void latch(const Observation& observation, const CounterKey& key, Told told);

  State state_;
  LatchLimits limits_;
  std::set<std::string> known_gpus_;  // bus ids of the inventory
  GpuCounts present_;                 // GPUs of the inventory, by vendor
  TwinXids twins_;
};

}  // namespace gpuward::exporter
