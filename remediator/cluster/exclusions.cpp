#include "remediator/cluster/exclusions.h"

#include <algorithm>
#include <utility>

#include "core/runtime/clock.h"

namespace gpuward::remediator {
namespace {

constexpr std::size_t kLongestSubject = 253;

bool may_be_in_a_key(char letter) {
  const bool is_word = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                       (letter >= '0' && letter <= '9');
  return is_word || letter == '-' || letter == '_' || letter == '.';
}

}  // namespace

std::optional<ExclusionHit> exclusion_for(const ExclusionList& list, const kube::Node& node,
                                          std::chrono::system_clock::time_point now) {
  std::optional<ExclusionHit> longest;
  const std::string instance = node.provider_id.substr(node.provider_id.rfind('/') + 1);
  for (const std::string& subject : {node.meta.name, instance}) {
    const auto found = list.find(subject);
    if (found == list.end() || found->second.until <= now) continue;
    if (longest && longest->until >= found->second.until) continue;
    longest = {.subject = subject,
               .why = exclusion_text(subject, found->second),
               .until = found->second.until};
  }
  return longest;
}

std::string exclusion_text(const std::string& subject, const Exclusion& exclusion) {
  const bool has_end = exclusion.until != std::chrono::system_clock::time_point::max();
  return subject + " is excluded" + (has_end ? " until " + to_rfc3339(exclusion.until) : "") +
         (exclusion.by.empty() ? "" : " by " + exclusion.by) +
         (exclusion.reason.empty() ? "" : ": " + exclusion.reason);
}

ExclusionList without_expired(ExclusionList list, std::chrono::system_clock::time_point now) {
  std::erase_if(list, [now](const auto& entry) { return entry.second.until <= now; });
  return list;
}

bool is_exclusion_subject(std::string_view text) {
  return !text.empty() && text.size() <= kLongestSubject && text != "." &&
         !text.starts_with("..") && std::ranges::all_of(text, may_be_in_a_key);
}

}  // namespace gpuward::remediator
