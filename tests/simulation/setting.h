// The parameters of one simulation, drawn from its seed before anything happens: the number of
// nodes, the policy, and the rate of faults.
#pragma once

#include "remediator/policy/policy.h"
#include "tests/simulation/chance.h"

namespace gpuward::remediator::simulation {

enum class Size { kAny, kThousands };

// The alerts, conditions and log lines of others, and the policy's rules for them.
inline constexpr const char* kForeignAlert = "DcgmXid";
inline constexpr Severity kForeignSeverity = Severity::kReboot;
inline constexpr const char* kDrillAlert = "GpuDrill";
inline constexpr const char* kProblem = "GPUProblem";

// The sources of a simulation besides the webhook.
struct Places {
  bool polls = false;       // Alertmanager is polled now and then
  bool prometheus = false;  // Prometheus' own alert series are read
  bool foreign = false;     // others' rules, which do not name a remediation
  bool conditions = false;  // that others set on Nodes
  bool logs = false;        // in Loki
  double webhook_loss = 0;  // share of its alerts; 1: there is no webhook

  [[nodiscard]] bool any() const { return polls || prometheus || foreign || conditions || logs; }
};

// The precautions of operators besides their plans: care.h.
struct TakenCare {
  bool excludes = false;  // nodes, for a limited time
  bool windows = false;   // some steps wait for one
  bool pools = false;     // have their own modes and plans
  bool rests = false;     // machines have a cooldown after a restart
  bool notifies = false;  // every event notifies a sink
};

struct Setting {
  int nodes = 1, replicas = 1;
  int events = 100;
  // Probabilities per request to the API server.
  double fault = 0, crash = 0, interrupt = 0;
  bool has_late_races = false;     // others act right before requests in the quiet time
  double stall = 0;                // the process stalls before it, with its lease thread
  bool falls_silent = false;       // nodes fall silent, and the policy has steps for that
  bool is_announced = false;       // clouds announce events, and the policy has steps for them
  bool registers_anew = false;     // Nodes are deleted and come back, on the same or other hardware
  bool keeps_alerts = false;       // a machine's alerts fire on after another machine has its name
  bool has_forgers = false;        // exporters that report other machines' GPUs
  bool tests_pairs = false;        // nodes return after tests of two each
  bool has_jobs = false;           // steps that are Jobs on one node
  bool restarts_by_job = false;    // so are restarts
  bool has_operands = false;       // of a GPU operator, which a reset pauses
  bool tears_jobs = false;         // drains tear jobs, and a step restarts them
  bool has_pods = false;           // on the nodes; the product's own drain evicts them
  bool has_staying_pods = false;   // some do not end when they are evicted
  bool has_held_pods = false;      // some are protected or have budgets
  bool has_tolerant_pods = false;  // some come back to the node
  double dead_watch = 0;         // per turn of a replica: its informers receive nothing for a while
  double watch_fault = 0;        // per request of an informer
  bool watches_differ = false;   // changes of one kind come before older ones of the other
  bool wears_out = false;        // most broken machines need an end, which is allowed
  bool breaks_again = false;     // repaired machines break again at rest
  bool has_alertmanager = true;  // replicas query it before disruptive steps
  bool says_late = false;        // alerts come late and twice, ends are forged or lost
  bool has_edits = false;        // operators edit gpuward's own objects
  bool has_absences = false;     // no replica acts for longer than any limit
  bool has_drills = false;       // operators inject faults, and allow drills on some nodes
  bool has_humans = true, has_clock_jumps = false, has_lies = true;
  Places places;
  TakenCare care;
  EvictionRate evictions;
  // Whether a replica has sources besides the webhook.
  [[nodiscard]] bool asks_others() const { return places.any() || falls_silent || is_announced; }

  Policy policy;  // operators never change its budgets
};

[[nodiscard]] Setting draw_setting(Chance& chance, Size size);
// Drains and resets mostly begin in the quiet time. So in half of the simulations that have them, a
// few pods move and machines restart while a replica is about to act on them.
void let_others_race(Setting& setting, Chance& chance);
// In some simulations drained nodes return through nccl-pairs, several at once. Has its own chance,
// so that the others stay as they are.
void let_pairs_be_tested(Setting& setting, Chance& chance);
// Many of the others have pods, also with their own chance.
void let_pods_be_drained(Setting& setting, Chance& chance);
// In some the connections of watches die silently.
void let_watches_die(Setting& setting, Chance& chance);
// In some the watches fail in every way, or send changes of Nodes and Remediations in another
// order.
void let_watches_fail(Setting& setting, Chance& chance);
// In some the other sources report.
void let_places_speak(Setting& setting, Chance& chance);
// The parts of a policy that operators never change when they change its plans.
void keep_what_stays(Policy& policy, const Setting& setting);
// Draws the policy of a simulation; its mode limits the steps. Its budgets are the defaults.
[[nodiscard]] Policy draw_policy(Chance& chance);

}  // namespace gpuward::remediator::simulation
