// The annotation that gpuward writes on a Node with its taint and cordon: it says who owns them and
// why. It is part of the same patch, so it is true whenever it is present. It is read back before
// anything is undone.
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
  std::string name;  // of the Remediation
  std::string owner{kOwner};
  std::string why;
  Severity severity = Severity::kNone;
  bool taint = false;                // gpuward set its taint in the same patch
  bool cordon = false;               // gpuward cordoned the node in the same patch
  bool pre_existing_cordon = false;  // the node was cordoned before; gpuward never undoes that
                                     // cordon
  std::string since;                 // RFC 3339
  bool konduktor = false;            // gpuward set konduktor's taint in the same patch
};

[[nodiscard]] std::string to_annotation(const OwnerAnnotation& mark);

// Returns gpuward's annotation on the node; nullopt if it has none or it cannot be read.
[[nodiscard]] std::optional<OwnerAnnotation> owner_annotation_on(const kube::Node& node);

// Returns the value of gpuward's taint on the node; nullopt if it has none.
[[nodiscard]] std::optional<std::string> our_taint_on(const kube::Node& node);

}  // namespace gpuward::remediator
