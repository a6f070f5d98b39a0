// Signs on a Node that another repairer is working on it: those that gpuward knows, with their
// source, and those that the policy adds or ignores. Pure; used by decide/guards/other_repairers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/runtime/yaml.h"

namespace gpuward::remediator {

enum class SignKind : std::uint8_t { kOfTaint, kOfAnnotation, kOfLabel };

[[nodiscard]] std::string_view to_string(SignKind kind);

struct RepairerSign {
  SignKind kind = SignKind::kOfTaint;
  std::string key;
  std::string who;  // A clause, for example "Karpenter is replacing the node".
  // Values that mean that the program does not work on the node, or waits to begin. Any other
  // value, also an empty value, is a sign.
  std::vector<std::string> at_rest = {};
};

// Returns the signs that gpuward knows. No two have the same key.
[[nodiscard]] std::vector<RepairerSign> known_repairer_signs();

// Reads the section `other_repairers`; docs/configuration.md has its keys. Faults are reported to
// the file.
[[nodiscard]] std::vector<RepairerSign> read_repairer_signs(const YamlMap& section);

}  // namespace gpuward::remediator
