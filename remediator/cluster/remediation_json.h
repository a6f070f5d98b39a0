// The Remediation resource as JSON: parses objects from the API server, and makes the bodies of
// writes. Tolerant when reading (an operator may have edited it), exact when writing.
#pragma once

#include <string>
#include <string_view>

#include "core/kube/objects.h"
#include "core/model/result.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

inline constexpr std::string_view kNodeLabel = "gpuward.dev/node";
inline constexpr std::string_view kNodeUidLabel = "gpuward.dev/node-uid";

// Operators' requests on a Remediation: `kubectl annotate remediation NAME gpuward.dev/pause=true`.
inline constexpr std::string_view kCancelAnnotation = "gpuward.dev/cancel";
inline constexpr std::string_view kPauseAnnotation = "gpuward.dev/pause";
inline constexpr std::string_view kMachineReplacedAnnotation = "gpuward.dev/machine-replaced";
inline constexpr std::string_view kApproveAnnotation = "gpuward.dev/approve";
inline constexpr std::string_view kApprovedByAnnotation = "gpuward.dev/approved-by";
// The annotation of tell/texts/last_command.h, only for people; gpuward does not use it.
inline constexpr std::string_view kLastCommandAnnotation = "gpuward.dev/last-command";

[[nodiscard]] const kube::ResourceType& remediation_type();
[[nodiscard]] std::string remediation_collection();  // Returns the path for lists and watches.

// Parses a Remediation. Returns kInvalid if it names no node.
[[nodiscard]] Result<Remediation> parse_remediation(std::string_view json);
// Reads a Remediation. Replaces an old name in `status.rule` by its present name.
[[nodiscard]] Result<Remediation> read_remediation(const Json& object);
[[nodiscard]] std::string_view current_rule(std::string_view rule);
// Converts an object that the client has already parsed.
[[nodiscard]] Result<Remediation> to_remediation(const kube::CustomObject& object);

// Returns the body that creates the Remediation. The status is left out, because the API server
// would drop it.
[[nodiscard]] std::string create_body(const Remediation& remediation);
// Return merge-patches that apply only to remediation.resource_version.
[[nodiscard]] std::string evidence_patch(const Remediation& remediation);
[[nodiscard]] std::string release_patch(const Remediation& remediation);  // without gpuward's
                                                                          // finalizer
// Replaces its status, with the same guard; changes nothing else.
struct StatusWrite {
  std::string body;
  RemediationStatus kept;  // The status as it is read back: with times cut to milliseconds.
};
[[nodiscard]] StatusWrite status_write(const Remediation& remediation);

}  // namespace gpuward::remediator
