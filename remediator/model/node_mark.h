// The annotation that gpuward writes on a Node together with its taint and cordon. It names the
// owner and the reason. One patch writes all three, so the annotation is true whenever it is
// present. gpuward reads it back before it undoes anything.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/kube/objects.h"
#include "core/model/severity.h"

namespace gpuward::remediator {

inline constexpr std::string_view kTaintKey = "gpuward.dev/remediation";
inline constexpr std::string_view kTaintEffect = "NoSchedule";
inline constexpr std::string_view kAnnotation = "gpuward.dev/remediation";
inline constexpr std::string_view kOwner = "gpuward-remediator";

struct OwnerAnnotation {
  std::string name;  // Name of the Remediation.
  std::string owner{kOwner};
  std::string why;
  Severity severity = Severity::kNone;
  bool taint = false;   // gpuward set its taint in the same patch.
  bool cordon = false;  // gpuward cordoned the node in the same patch.
  // The node was cordoned before gpuward acted; gpuward never removes that cordon.
  bool pre_existing_cordon = false;
  std::string since;       // RFC 3339.
  bool konduktor = false;  // gpuward set konduktor's taint in the same patch.
};

[[nodiscard]] std::string to_annotation(const OwnerAnnotation& mark);

// Returns gpuward's annotation on the node; nullopt if there is no annotation or its text is
// invalid.
[[nodiscard]] std::optional<OwnerAnnotation> owner_annotation_on(const kube::Node& node);

// Returns the value of gpuward's taint on the node; nullopt if the node has no such taint.
[[nodiscard]] std::optional<std::string> our_taint_on(const kube::Node& node);

}  // namespace gpuward::remediator
