// The taint of konduktor's controller, which the Loki source replaces. gpuward sets it in addition
// to its own taint on nodes with findings from Loki, if the policy enables that
// (loki.konduktor_taint). A taint key has one writer: gpuward leaves a taint of another writer
// alone, and does not start to write one while another writer does. Pure; used by the actions, the
// decision and inbox/sources/loki_source.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/kube/objects.h"
#include "remediator/model/remediation.h"
#include "remediator/policy/policy.h"

namespace gpuward::remediator {

inline constexpr std::string_view kKonduktorTaintKey = "trainy.konduktor.ai/faulty";

[[nodiscard]] kube::Taint konduktor_taint();
[[nodiscard]] bool has_konduktor_taint(const kube::Node& node);

// Returns whether the node should have the taint: an alert from Loki fires and the policy enables
// the taint.
[[nodiscard]] bool wants_konduktor_taint(const Policy& policy, const Remediation& remediation);

// Returns whether gpuward still has to write the taint. False if the node already has it from any
// writer, or if an operator has removed gpuward's.
[[nodiscard]] bool lacks_konduktor_taint(const Policy& policy, const Remediation& remediation,
                                         const kube::Node& node);

// Returns the name of a node that has the taint without gpuward's annotation for it; nullopt if
// there is none.
[[nodiscard]] std::optional<std::string> tainted_by_another_writer(
    std::span<const kube::Node> nodes);

}  // namespace gpuward::remediator
