// The taint of konduktor's controller, whose place the Loki source takes: it stands beside ours on
// nodes that the logs speak of, where the policy wants it (loki.konduktor_taint). A taint key has
// one writer: what another hand has put on is left alone, and no second writer is begun beside it.
// Pure; used by the actions, the decision and sources/loki_source.
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

// Whether it belongs on the node of this Remediation: a line that was read from Loki stands for it.
[[nodiscard]] bool wants_konduktor_taint(const Policy& policy, const Remediation& remediation);

// Whether it is still to be written. Not where it stands by anybody's hand, nor where an operator
// has taken ours off.
[[nodiscard]] bool lacks_konduktor_taint(const Policy& policy, const Remediation& remediation,
                                         const kube::Node& node);

// The name of a node that has it without a mark of ours that says so; nullopt where there is none.
[[nodiscard]] std::optional<std::string> tainted_by_another_writer(
    std::span<const kube::Node> nodes);

}  // namespace gpuward::remediator
