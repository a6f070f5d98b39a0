// One machine behind a node: its real state, the reports of its exporter, and the alert that
// follows from them. Plain values; the fleet changes them.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/kube/objects.h"
#include "core/model/announcement.h"
#include "core/model/severity.h"
#include "core/runtime/clock.h"

namespace gpuward::remediator::simulation {

// How its exporter reports.
enum class Voice {
  kHonest,
  kStale,     // reports the state of minutes ago
  kOldBoot,   // reports the boot before
  kSilent,    // no series at all
  kBlind,     // does not read the kernel's log
  kInvented,  // reports faults that only lines of the kernel log show
};

// What its exporter knows about its fault, besides having seen it once.
enum class Proof {
  kMeasured,   // a check measures it all the time
  kLatched,    // no check has measured it for long
  kDiagnosed,  // a diagnostic has failed in this boot
};

// The life of the machine itself, whether it has a Node or not.
enum class Life { kRuns, kEnding, kGone };

struct Alert {
  Clock::Wall starts_at, ends_at;
  bool is_firing = false;
  // What the webhook last accepted in the quiet time, and for which birth of its machine.
  Clock::Wall said_start;
  bool said_firing = false;
  int said_birth = 0;
};

// What others report by a condition of its Node.
struct Problem {
  std::string status = "False";
  Clock::Wall since;               // its last transition
  Clock::Wall last_false = since;  // when it last turned from False
};

// A firing alert with the labels of its rule.
struct FiringAlert {
  std::map<std::string, std::string> labels;
  std::string fingerprint;
  Severity severity = Severity::kNone;
  Clock::Wall starts_at;
  bool foreign = false;
  bool drill = false;
};

// The parts that do not hear it, and why.
struct SilentState {
  bool is_cut_off = false;   // its kubelet does not reach the API server, or is down
  bool is_unread = false;    // Prometheus reads nothing of it
  bool is_down = false;      // the machine does not run
  bool is_impaired = false;  // its cloud reports that
  bool has_power = true;
  bool is_seen_on = true;                        // the controller of its power answers
  std::optional<kube::WallTime> renewed = {};    // the last renewal of its Lease
  std::optional<Clock::Steady> unknown_at = {};  // when Kubernetes sets Ready to Unknown
  std::optional<Clock::Steady> cut_since = {};   // cut off from everything, together with others
  std::optional<Clock::Steady> down_until = {};  // it was down or cut off until then
  bool is_by_cloud = false;                      // its cloud is at work on it
};

// The fault that is injected into its exporter; at most one at a time.
struct InjectedDrill {
  Severity severity = Severity::kNone;
  std::string boot;
  std::optional<Clock::Steady> ends;    // null: no drill runs
  std::optional<Clock::Steady> breaks;  // when the machine really breaks during it
  std::map<Severity, Alert> alerts;
};

// An event that its cloud has announced.
struct CloudEvent {
  std::string id;
  AnnouncementKind kind = AnnouncementKind::kFreeze;
  Clock::Wall start = {}, first_seen = {};  // as announced
  Clock::Steady begins = {};                // when it really begins: at the start or later
  std::optional<Clock::Steady> over = {};   // when the cloud reports its end; set once it has begun
  bool takes_down = false;                  // the machine does not run meanwhile

  [[nodiscard]] bool is_begun() const { return over.has_value(); }
};

// When its last fault ended, and how long it had lasted.
struct Cured {
  Clock::Steady at;
  Clock::Steady::duration lasted;
};

struct MachineCloud {
  std::vector<CloudEvent> events;
  // Events of other machines or boots that its exporter writes too, each with its boot ID.
  std::vector<std::pair<CloudEvent, std::string>> foreign;
  std::optional<Clock::Steady> foreign_until = {};  // in the quiet time
  std::string old_boot;  // the boot ID that its exporter writes; empty: the current one
  bool is_mute = false;  // the cloud does not answer: the known events are stale
  std::optional<Clock::Steady> writes = {};  // when its exporter writes next
};

struct Machine {
  std::string name;
  int births = 1, boots = 1;
  std::optional<Clock::Steady> booted_at = {};  // of the last boot; null in its first
  int boards = 1;  // a cloud may start the same instance on other hardware
  bool exists = true, is_ready = true;
  Severity fault = Severity::kNone;
  bool heals_by_reboot = true;
  Proof proof = Proof::kMeasured;
  std::optional<Clock::Steady> sick_since = {};  // broken with severity reset or worse
  std::optional<Cured> cured = {};
  Voice voice = Voice::kHonest;
  bool forges_serials = false;  // it also reports GPUs of other machines
  std::map<Severity, Alert> alerts;
  // What other rules and programs report about it, in simulations that have some.
  Alert foreign = {};
  SilentState silence = {};
  MachineCloud cloud = {};
  InjectedDrill drill = {};
  // The status of its condition Ready.
  std::string ready_said = {};
  Clock::Wall ready_since = {};
  Problem problem = {};
  // The cloud has accepted a restart. `back_at` is when the machine is back; null: never.
  bool is_restarting = false;
  std::optional<Clock::Steady> back_at;
  // When a restart begins that the cloud accepted without an answer.
  std::optional<Clock::Steady> restarts_at = {};
  Life life = Life::kRuns;
  // When a machine that ends reaches the next phase: it is gone, its Node is deleted, another
  // machine replaces it; null: never.
  std::optional<Clock::Steady> turns_at;

  [[nodiscard]] bool is_about_to_restart() const {
    return restarts_at || (is_restarting && back_at);
  }
  [[nodiscard]] bool works() const { return exists && life == Life::kRuns; }
  [[nodiscard]] std::string boot_id(int boot) const {
    return "boot-" + name + "-" + std::to_string(births) + "-" + std::to_string(boot);
  }
  // The labels of an alert of the exporter's own rules.
  [[nodiscard]] std::map<std::string, std::string> labels_of(Severity severity) const;
  // The fingerprint that Alertmanager computes from them.
  [[nodiscard]] std::string fingerprint(Severity severity) const;
  [[nodiscard]] std::map<std::string, std::string> foreign_labels() const;
  [[nodiscard]] std::map<std::string, std::string> drill_labels(Severity severity) const;
  // Includes the alerts of other rules and of drills.
  [[nodiscard]] std::vector<FiringAlert> firing() const;
  // The worst severity of its firing alerts.
  [[nodiscard]] Severity alerted() const {
    Severity worst = Severity::kNone;
    for (const auto& [severity, alert] : alerts) {
      if (alert.is_firing) worst = std::max(worst, severity);
    }
    return worst;
  }
  [[nodiscard]] std::string instance() const { return "i-" + name + "-" + std::to_string(births); }
  [[nodiscard]] std::string serial() const { return instance() + "-" + std::to_string(boards); }
  // From the firmware, so it belongs to the hardware.
  [[nodiscard]] std::string system_uuid() const {
    const auto digits = [](int number, std::size_t width) {
      const std::string text = std::to_string(number);
      return std::string(width - text.size(), '0') + text;
    };
    return "ec2" + digits(std::stoi(name.substr(name.find('-') + 1)), 5) + "-0000-4000-8000-" +
           digits(births, 6) + digits(boards, 6);
  }
  [[nodiscard]] std::string provider_id() const { return "aws:///eu-west-1a/" + instance(); }
};

}  // namespace gpuward::remediator::simulation
