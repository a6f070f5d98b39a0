#include "remediator/decide/budgets/ledger.h"

#include <algorithm>
#include <array>

#include "core/runtime/text.h"

namespace gpuward::remediator {
namespace {

constexpr std::array<std::string_view, 4> kImpacts{"taint", "cordon", "disrupt", "terminate"};
constexpr std::array<std::string_view, 3> kTreatments{"reset", "reboot", "terminate"};

// Machines are the same if they share the instance ID or a GPU; unknown values are never shared.
bool same_hardware(const Hardware& a, const Hardware& b) {
  if (!a.instance_id.empty() && a.instance_id == b.instance_id) return true;
  return std::ranges::any_of(a.serials, [&](const std::string& serial) {
    return !serial.empty() && std::ranges::find(b.serials, serial) != b.serials.end();
  });
}

void add_start(Ledger& ledger, const Slot& slot) {
  if (slot.impact <= Impact::kCordon) return;
  const bool is_known = std::ranges::any_of(ledger.starts, [&](const Start& start) {
    return start.remediation == slot.remediation && start.impact == slot.impact;
  });
  if (!is_known) ledger.starts.push_back({slot.remediation, slot.impact, slot.place, slot.since});
}

void forget_taint(Ledger& ledger, std::string_view remediation) {
  std::erase_if(ledger.taints, [&](const Slot& slot) { return slot.remediation == remediation; });
}

void forget_old(Ledger& ledger, WallTime now) {
  std::erase_if(ledger.starts, [&](const Start& start) { return now - start.at > kStartsKept; });
  std::erase_if(ledger.attempts,
                [&](const Attempt& attempt) { return now - attempt.at > kAttemptsKept; });
}

}  // namespace

std::string_view to_string(Impact impact) { return kImpacts[static_cast<std::size_t>(impact)]; }
std::optional<Impact> parse_impact(std::string_view text) {
  return enumerator_of<Impact>(kImpacts, text);
}

std::string_view to_string(Treatment treatment) {
  return kTreatments[static_cast<std::size_t>(treatment)];
}
std::optional<Treatment> parse_treatment(std::string_view text) {
  return enumerator_of<Treatment>(kTreatments, text);
}

const Slot* Ledger::find(std::string_view remediation) const {
  for (const auto* held : {&slots, &taints}) {
    const auto found = std::ranges::find(*held, remediation, &Slot::remediation);
    if (found != held->end()) return &*found;
  }
  return nullptr;
}

Ledger with_slot(Ledger ledger, const Slot& slot) {
  forget_old(ledger, slot.since);
  if (slot.impact == Impact::kTaint) {
    if (ledger.find(slot.remediation) == nullptr) ledger.taints.push_back(slot);
    return ledger;
  }
  forget_taint(ledger, slot.remediation);
  const auto held = std::ranges::find(ledger.slots, slot.remediation, &Slot::remediation);
  if (held == ledger.slots.end()) {
    ledger.slots.push_back(slot);
  } else if (held->impact < slot.impact) {
    *held = slot;
  } else {
    return ledger;
  }
  add_start(ledger, slot);
  return ledger;
}

Ledger without_slot(Ledger ledger, std::string_view remediation) {
  forget_taint(ledger, remediation);
  std::erase_if(ledger.slots, [&](const Slot& slot) { return slot.remediation == remediation; });
  return ledger;
}

Ledger with_attempt(Ledger ledger, const Attempt& attempt) {
  forget_old(ledger, attempt.at);
  const bool is_known = std::ranges::any_of(ledger.attempts, [&](const Attempt& known) {
    return known.remediation == attempt.remediation && known.treatment == attempt.treatment;
  });
  if (is_known) return ledger;
  ledger.attempts.push_back(attempt);
  auto& serials = ledger.attempts.back().hardware.serials;
  if (serials.size() > kMaxSerials) serials.resize(kMaxSerials);
  return ledger;
}

std::set<std::string> attempted_by(const Ledger& ledger, const Hardware& hardware,
                                   Treatment treatment, WallTime since) {
  std::set<std::string> names;
  for (const Attempt& attempt : ledger.attempts) {
    const bool is_meant = attempt.treatment == treatment && attempt.at >= since &&
                          same_hardware(attempt.hardware, hardware);
    if (is_meant) names.insert(attempt.remediation);
  }
  return names;
}

int attempts_on(const Ledger& ledger, const Hardware& hardware, Treatment treatment,
                WallTime since) {
  return static_cast<int>(attempted_by(ledger, hardware, treatment, since).size());
}

std::optional<WallTime> last_treated_for_others(const Ledger& ledger, const Attempt& attempt) {
  std::optional<WallTime> last;
  for (const Attempt& known : ledger.attempts) {
    if (known.remediation == attempt.remediation) continue;
    if (!same_hardware(known.hardware, attempt.hardware)) continue;
    last = std::max(last.value_or(known.at), known.at);
  }
  return last;
}

}  // namespace gpuward::remediator
