// Patterns of the operator's own on lines of the kernel log (kernel_log.rules). All of them are
// matched at once, in time that is linear in the length of the line, so that lines that match none
// cost little however many rules there are. Read by the settings, asked by the watcher.
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

// What a line that it matches amounts to.
[[nodiscard]] xid::Assessment verdict_of(const LineRule& rule);

// Why it is no pattern, and what to do about it; nullopt where it is one.
[[nodiscard]] std::optional<std::string> fault_of_pattern(const std::string& pattern);

// Immutable; copies share what is compiled. Any thread.
class LineRules {
 public:
  LineRules() = default;  // none
  // kInvalid: a pattern is wrong (fault_of_pattern()), there are too many, or together they need
  // too much memory.
  [[nodiscard]] static Result<LineRules> compile(std::vector<LineRule> rules);

  [[nodiscard]] const std::vector<LineRule>& all() const;
  // Those that match the message of a record, in their order, the first of each code; as long as
  // this or a copy lives. Any bytes; no allocation where none matches.
  [[nodiscard]] std::vector<std::reference_wrapper<const LineRule>> match(
      std::string_view message) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;  // null: none
};

}  // namespace gpuward::exporter
