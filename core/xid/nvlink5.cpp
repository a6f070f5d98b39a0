#include "core/xid/nvlink5.h"

#include <string_view>

namespace gpuward::xid {
namespace {

constexpr std::uint32_t kNewWords = 575;

enum class Words : std::uint8_t { kBefore575, kFrom575 };

// Whether `unit` is one of `names`, which are separated by slashes, or all of them.
bool names_unit(std::string_view names, std::string_view unit) {
  if (names == unit) return true;
  while (!names.empty()) {
    const auto slash = names.find('/');
    if (names.substr(0, slash) == unit) return true;
    names.remove_prefix(slash == std::string_view::npos ? names.size() : slash + 1);
  }
  return false;
}

bool fits_unit(const Nvlink5Rule& rule, const Event& event, Words words) {
  const auto& pattern = words == Words::kFrom575 ? rule.from_575 : rule.before_575;
  return rule.code == event.code && names_unit(rule.unit, event.unit) &&
         pattern.matches(event.registers[0]);
}

// The word can report several errors at once; a rule for bits has the status of one of them.
bool fits_status(const Nvlink5Rule& rule, std::uint32_t status) {
  switch (rule.match) {
    case StatusMatch::kBit:
      return (status & rule.status) != 0;
    case StatusMatch::kValue:
      return status == rule.status;
    case StatusMatch::kAny:
      return true;
  }
  return false;
}

const Nvlink5Rule* find(const Event& event, Words words) {
  const Nvlink5Rule* worst = nullptr;
  for (const auto& rule : nvlink5_rules()) {
    if (!fits_unit(rule, event, words) || !fits_status(rule, event.registers[1])) continue;
    if (worst == nullptr || rule.severity > worst->severity) worst = &rule;
  }
  return worst;
}

}  // namespace

const Nvlink5Rule* find_nvlink5_rule(const Event& event, std::uint32_t driver_branch) {
  if (event.registers.size() < 2) return nullptr;
  const auto first = driver_branch < kNewWords ? Words::kBefore575 : Words::kFrom575;
  const auto second = driver_branch < kNewWords ? Words::kFrom575 : Words::kBefore575;
  const auto* rule = find(event, first);
  return rule != nullptr ? rule : find(event, second);
}

}  // namespace gpuward::xid
