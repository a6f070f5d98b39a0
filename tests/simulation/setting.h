// What one simulation is about, drawn from its seed before anything happens: how many nodes, which
// policy, how much goes wrong.
#pragma once

#include "remediator/policy/policy.h"
#include "tests/simulation/chance.h"

namespace gpuward::remediator::simulation {

enum class Size { kAny, kThousands };

// The alerts, conditions and log lines of others, and what the policy makes of them.
inline constexpr const char* kForeignAlert = "DcgmXid";
inline constexpr Severity kForeignSeverity = Severity::kReboot;
inline constexpr const char* kDrillAlert = "GpuDrill";
inline constexpr const char* kProblem = "GPUProblem";

// What a simulation has besides the webhook.
struct Places {
  bool polls = false;       // Alertmanager is read now and then
  bool prometheus = false;  // its own series of alerts is read
  bool foreign = false;     // rules of others, which do not say what is to be done
  bool conditions = false;  // that others set on Nodes
  bool logs = false;        // in Loki
  double webhook_loss = 0;  // of what it is told; 1: there is none

  [[nodiscard]] bool any() const { return polls || prometheus || foreign || conditions || logs; }
};

// What people have set beside their plans: care.h.
struct TakenCare {
  bool excludes = false;  // nodes, for a while
  bool windows = false;   // some steps wait for one
  bool pools = false;     // have modes and plans of their own
  bool rests = false;     // a machine, after a restart
  bool notifies = false;  // somebody, of everything
};

struct Setting {
  int nodes = 1, replicas = 1;
  int events = 100;
  // Probabilities per request to the API server.
  double fault = 0, crash = 0, interrupt = 0;
  bool has_late_races = false;  // others act right before requests of the quiet time
  double stall = 0;             // the whole process stands still before it, its lease thread too
  bool falls_silent = false;    // nodes do, and the policy says what is done about it
  bool is_announced = false;    // what clouds do to machines, and the policy says what is done then
  bool registers_anew = false;  // Nodes are deleted and come back, on the same hardware or other
  bool keeps_alerts = false;    // of a machine, over the registration of the next one of that name
  bool has_forgers = false;     // exporters that report the GPUs of other machines
  bool tests_pairs = false;     // nodes come back by tests of two each
  bool has_jobs = false;        // steps that are Jobs on one node
  bool restarts_by_job = false;    // and so are restarts
  bool has_operands = false;       // of a GPU operator, which a reset has to pause
  bool tears_jobs = false;         // drains do, and a step restarts them
  bool has_pods = false;           // on the nodes, and the product's own drain takes them away
  bool has_staying_pods = false;   // and some do not go when they are evicted
  bool has_held_pods = false;      // and something holds some of these
  bool has_tolerant_pods = false;  // and some come back to the node
  double dead_watch = 0;           // per turn of a replica: its informers hear nothing for a while
  double watch_fault = 0;          // per request of an informer
  bool watches_differ = false;     // news of one kind come before older news of the other
  bool wears_out = false;          // most of what breaks is to be ended, and may be
  bool breaks_again = false;       // what was repaired, once all is at rest
  bool has_alertmanager = true;    // replicas ask it before disruptive steps
  bool says_late = false;          // alerts come late and twice, ends are forged or lost
  bool has_edits = false;          // people edit gpuward's own objects
  bool has_absences = false;       // nothing can act for longer than any limit
  bool has_drills = false;         // people inject faults, and allow that on some nodes
  bool has_humans = true, has_clock_jumps = false, has_lies = true;
  Places places;
  TakenCare care;
  EvictionRate evictions;
  // Whether a replica has sources besides the webhook.
  [[nodiscard]] bool asks_others() const { return places.any() || falls_silent || is_announced; }

  Policy policy;  // its budgets stay as they are, whatever people change
};

[[nodiscard]] Setting draw_setting(Chance& chance, Size size);
// Drains and resets mostly begin when all is quiet: in half of the simulations that have them a few
// pods move, and machines restart, while a replica is about to act on them.
void let_others_race(Setting& setting, Chance& chance);
// In some simulations nodes that are drained come back by nccl-pairs, several at once; with chance
// of their own, so that the others stay as they are.
void let_pairs_be_tested(Setting& setting, Chance& chance);
// In many others there are pods, with chance of their own too.
void let_pods_be_drained(Setting& setting, Chance& chance);
// In some the connections of watches die without a word.
void let_watches_die(Setting& setting, Chance& chance);
// In some they fail in every way, or tell of Nodes and Remediations in another order.
void let_watches_fail(Setting& setting, Chance& chance);
// In some the other sources speak.
void let_places_speak(Setting& setting, Chance& chance);
// People change the plans of a policy, never these.
void keep_what_stays(Policy& policy, const Setting& setting);
// What the policy of a simulation says; the mode is what goes on at most. Its budgets are the
// defaults.
[[nodiscard]] Policy draw_policy(Chance& chance);

}  // namespace gpuward::remediator::simulation
