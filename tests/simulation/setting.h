// What one simulation is about, drawn from its seed before anything happens: how many nodes, which
// policy, how much goes wrong.
#pragma once

#include "remediator/policy/policy.h"
#include "tests/simulation/chance.h"

namespace gpuward::remediator::simulation {

// The most at once: what an operator would configure as budgets.
struct Caps {
  int disrupted = 1;  // nodes that are drained, restarted or verified
  int cordoned = 2;   // nodes that gpuward has cordoned
};

enum class Size { kAny, kThousands };

struct Setting {
  int nodes = 1, replicas = 1;
  int events = 100;
  // Probabilities per request to the API server.
  double fault = 0, crash = 0, interrupt = 0;
  bool has_humans = true, has_clock_jumps = false, has_lies = true;
  Caps caps;
  Policy policy;
};

[[nodiscard]] Setting draw_setting(Chance& chance, Size size);
// What the policy of a simulation says; the mode is what goes on at most.
[[nodiscard]] Policy draw_policy(Chance& chance);

}  // namespace gpuward::remediator::simulation
