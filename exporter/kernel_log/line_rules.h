// The operator's patterns for lines of the kernel log (kernel_log.rules). All of them are matched
// at once, in time that is linear in the length of the line, so that a line without a match costs
// little with any number of rules. Read by the settings, used by the watcher.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/finding.h"
#include "core/model/result.h"
#include "core/model/severity.h"
#include "core/xid/catalogue.h"

namespace gpuward::exporter {

struct LineRule {
  std::string code;                        // of the finding
  std::string pattern;                     // of RE2; may match anywhere in the message
  Severity severity = Severity::kMonitor;  // kNone: counted, no finding
  ClearedBy cleared_by = ClearedBy::kReboot;
};

// Returns the judgement of a line that the rule matches.
[[nodiscard]] xid::Assessment verdict_of(const LineRule& rule);

// Returns why a pattern is invalid and how to fix it; nullopt if it is valid.
[[nodiscard]] std::optional<std::string> fault_of_pattern(const std::string& pattern);

// Immutable; copies share the compiled patterns. Thread-safe.
class LineRules {
 public:
  LineRules() = default;  // none
  // kInvalid: a pattern is wrong (fault_of_pattern()), there are too many, or together they need
  // too much memory.
  [[nodiscard]] static Result<LineRules> compile(std::vector<LineRule> rules);

  [[nodiscard]] const std::vector<LineRule>& all() const;
  // Returns the rules that match the message of a record, in order, the first of each code; valid
  // while this or a copy lives. Accepts any bytes; no allocation if none matches.
  [[nodiscard]] std::vector<std::reference_wrapper<const LineRule>> match(
      std::string_view message) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;  // null: none
};

}  // namespace gpuward::exporter
