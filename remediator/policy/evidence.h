// How what a source says about a node changes what is remembered of it. Pure: an Alertmanager
// repeats itself, its peers say the same again and in another order; none of that may change
// anything.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/model/severity.h"
#include "remediator/policy/remediation.h"

namespace gpuward::remediator {

// One alert that names a node and a remediation. `node` has passed kube::validate_node_name.
struct Order {
  std::string node;
  Severity severity = Severity::kNone;
  std::string alertname;
  std::string fingerprint;
  bool firing = true;
  WallTime starts_at;
  WallTime ends_at;      // of a resolved one
  bool foreign = false;  // node and severity are the policy's words for it (foreign_alerts)
  std::string error_class = {};
};

enum class Change : std::uint8_t {
  kNone,  // known already: nothing is written
  kSome,  // the Remediation has changed: it must be written
};

// What the fingerprints of alerts read from Prometheus' own series begin with. The rest is what an
// Alertmanager calls the same alert: what comes by both ways is one.
inline constexpr std::string_view kPrometheusOrigin = "prometheus.";
[[nodiscard]] std::string_view without_origin(std::string_view fingerprint);

// Evidence a Remediation keeps at most; the oldest that ended give way.
inline constexpr std::size_t kMaxEvidence = 64;

// Folds `order` into `remediation`: new alerts are added, a resolved one gets its end, severity
// rises and never falls. A repeat changes nothing, whatever its times.
Change fold(Remediation& remediation, const Order& order, WallTime now);

// How long after an alert's end an Alertmanager's peer may still say that it fires.
inline constexpr std::chrono::minutes kLateRepeats{5};

// Whether a firing `order` is only a late repeat of an alert that one of the `closed` Remediations
// has just seen end: same fingerprint, not started anew. Only just: of two Prometheus servers one
// may end an alert that the other goes on with, and Alertmanager keeps the start of such an alert.
// Of a Remediation that a human has cancelled, every alert that has not started anew is one.
[[nodiscard]] bool is_late_repeat(const Order& order, std::span<const Remediation> closed,
                                  WallTime now);

}  // namespace gpuward::remediator
