// One machine behind a node: what is really wrong with it, what its exporter says of it, and the
// alert that follows from that. Plain values; changed by the fleet.
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

// How the exporter on it speaks.
enum class Voice {
  kHonest,
  kStale,     // what it said minutes ago
  kOldBoot,   // of the boot before
  kSilent,    // no series at all
  kBlind,     // without the kernel's log
  kInvented,  // of faults that only lines of the kernel log tell
};

// What its exporter knows of its fault beyond that it was once seen.
enum class Proof {
  kMeasured,   // a check measures it all the time
  kLatched,    // none has for long
  kDiagnosed,  // a diagnostic has failed in this boot
};

// The machine itself, whatever there is of its Node.
enum class Life { kRuns, kEnding, kGone };

struct Alert {
  Clock::Wall starts_at, ends_at;
  bool is_firing = false;
  // As the webhook last took it in the quiet time, of which birth of its machine.
  Clock::Wall said_start;
  bool said_firing = false;
  int said_birth = 0;
};

// What others say of it by a condition of its Node.
struct Problem {
  std::string status = "False";
  Clock::Wall since;               // its last transition
  Clock::Wall last_false = since;  // when it last said that all is well, or now
};

// A firing alert as its rule makes it.
struct FiringAlert {
  std::map<std::string, std::string> labels;
  std::string fingerprint;
  Severity severity = Severity::kNone;
  Clock::Wall starts_at;
  bool foreign = false;
  bool drill = false;
};

// Who hears nothing of it, and why.
struct SilentState {
  bool is_cut_off = false;   // its kubelet does not reach the API server, or is down
  bool is_unread = false;    // Prometheus reads nothing of it
  bool is_down = false;      // the machine does not run
  bool is_impaired = false;  // and its cloud says so
  bool has_power = true;
  bool is_seen_on = true;                        // what controls its power answers
  std::optional<kube::WallTime> renewed = {};    // its Lease, for the last time
  std::optional<Clock::Steady> unknown_at = {};  // when Kubernetes says so
  std::optional<Clock::Steady> cut_since = {};   // with others, from all at once
  std::optional<Clock::Steady> down_until = {};  // it was down, or cut off, a moment ago
  bool is_by_cloud = false;                      // its cloud is at work on it
};

// What is injected into its exporter; one at a time.
struct InjectedDrill {
  Severity severity = Severity::kNone;
  std::string boot;
  std::optional<Clock::Steady> ends;    // null: none runs
  std::optional<Clock::Steady> breaks;  // really, in the middle of it
  std::map<Severity, Alert> alerts;
};

// What its cloud has announced of it.
struct CloudEvent {
  std::string id;
  AnnouncementKind kind = AnnouncementKind::kFreeze;
  Clock::Wall start = {}, first_seen = {};  // as it is announced
  Clock::Steady begins = {};                // which is at the start or later
  std::optional<Clock::Steady> over = {};  // once it has begun: when the cloud says that it is over
  bool takes_down = false;                 // the machine does not run meanwhile

  [[nodiscard]] bool is_begun() const { return over.has_value(); }
};

// When its last fault ended, and how long that had lasted.
struct Cured {
  Clock::Steady at;
  Clock::Steady::duration lasted;
};

struct MachineCloud {
  std::vector<CloudEvent> events;
  // What its exporter writes beside them: of another machine or boot, of which each is.
  std::vector<std::pair<CloudEvent, std::string>> foreign;
  std::optional<Clock::Steady> foreign_until = {};  // in the quiet time
  std::string old_boot;                      // that its exporter names; empty: the one that runs
  bool is_mute = false;                      // it does not answer: what is known is stale
  std::optional<Clock::Steady> writes = {};  // when its exporter does
};

struct Machine {
  std::string name;
  int births = 1, boots = 1;
  std::optional<Clock::Steady> booted_at = {};  // since its first boot
  int boards = 1;  // a cloud may start the same instance on other hardware
  bool exists = true, is_ready = true;
  Severity fault = Severity::kNone;
  bool heals_by_reboot = true;
  Proof proof = Proof::kMeasured;
  std::optional<Clock::Steady> sick_since = {};  // with severity reset or worse
  std::optional<Cured> cured = {};
  Voice voice = Voice::kHonest;
  bool forges_serials = false;  // it reports GPUs of other machines as well
  std::map<Severity, Alert> alerts;
  // What other rules and programs say of it, where there are any.
  Alert foreign = {};
  SilentState silence = {};
  MachineCloud cloud = {};
  InjectedDrill drill = {};
  // As its condition Ready has it.
  std::string ready_said = {};
  Clock::Wall ready_since = {};
  Problem problem = {};
  // A restart that the cloud has accepted: when the machine is back; null: it never comes back.
  bool is_restarting = false;
  std::optional<Clock::Steady> back_at;
  // One that it has accepted and nobody was told of: when it begins.
  std::optional<Clock::Steady> restarts_at = {};
  Life life = Life::kRuns;
  // The next turn of one that ends: it is gone, its Node goes, another comes in its place; null:
  // there is none.
  std::optional<Clock::Steady> turns_at;

  [[nodiscard]] bool is_about_to_restart() const {
    return restarts_at || (is_restarting && back_at);
  }
  [[nodiscard]] bool works() const { return exists && life == Life::kRuns; }
  [[nodiscard]] std::string boot_id(int boot) const {
    return "boot-" + name + "-" + std::to_string(births) + "-" + std::to_string(boot);
  }
  // Of our own rules.
  [[nodiscard]] std::map<std::string, std::string> labels_of(Severity severity) const;
  // As Alertmanager makes it of them.
  [[nodiscard]] std::string fingerprint(Severity severity) const;
  [[nodiscard]] std::map<std::string, std::string> foreign_labels() const;
  [[nodiscard]] std::map<std::string, std::string> drill_labels(Severity severity) const;
  // Those of other rules and of drills too.
  [[nodiscard]] std::vector<FiringAlert> firing() const;
  // The worst that an alert fires for.
  [[nodiscard]] Severity alerted() const {
    Severity worst = Severity::kNone;
    for (const auto& [severity, alert] : alerts) {
      if (alert.is_firing) worst = std::max(worst, severity);
    }
    return worst;
  }
  [[nodiscard]] std::string instance() const { return "i-" + name + "-" + std::to_string(births); }
  [[nodiscard]] std::string serial() const { return instance() + "-" + std::to_string(boards); }
  // Of the firmware, so of the hardware.
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
