// What gpuward writes on a Node beside taint and cordon: the annotation that says whose they are
// and why. It is part of the same patch, so it is true whenever it is there. Read back before
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
  bool taint = false;                // whether the taint went on with this mark
  bool cordon = false;               // whether the cordon did
  bool pre_existing_cordon = false;  // somebody else had cordoned it before: never undone by us
  std::string since;                 // RFC 3339
  bool konduktor = false;            // whether konduktor's taint went on with it
};

[[nodiscard]] std::string to_annotation(const OwnerAnnotation& mark);

// The mark of ours on the node; nullopt where there is none or it is not readable as ours.
[[nodiscard]] std::optional<OwnerAnnotation> owner_annotation_on(const kube::Node& node);

// The value of our taint on the node; nullopt where it is absent.
[[nodiscard]] std::optional<std::string> our_taint_on(const kube::Node& node);

}  // namespace gpuward::remediator
