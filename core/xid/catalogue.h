// The meaning of each code and the action for it, from the tables in core/xid/data (compiled in),
// plus a severity profile and the operator's overrides. Pure and immutable once built; share it by
// shared_ptr<const Catalogue>.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/finding.h"
#include "core/model/result.h"
#include "core/model/severity.h"
#include "core/xid/event.h"

namespace gpuward::xid {

enum class Profile : std::uint8_t {
  kDefault,  // gpuward's recommendation, with a reason in each row
  kSeed,     // exactly the table of the health check suite that gpuward replaces
};

// One row of the data files; the members have the order of the columns. The text lives as long as
// the program.
struct Row {
  std::uint32_t code = 0;
  std::string_view mnemonic;
  std::string_view description;  // in gpuward's words
  std::string_view action;  // NVIDIA's immediate action: "RESTART_BM", "RESET_GPU", "IGNORE", ...
  Severity default_severity = Severity::kMonitor;
  Severity seed_severity = Severity::kMonitor;
  ClearedBy cleared_by = ClearedBy::kReboot;
  bool application_error = false;
  bool clears = false;                     // a recovery, not a fault
  std::string_view why;                    // why this severity
  std::string_view cleared_why;            // why that event clears it
  Fatality fatality = Fatality::kUnknown;  // SXid rows only: the class in the table
  bool word_decides = false;  // SXid rows only: Fatal or Non-fatal in the line overrides the class
};

[[nodiscard]] std::span<const Row> xid_rows();
[[nodiscard]] std::span<const Row> sxid_rows();

// The `why` of a number that no table lists: restored findings with such a number are recognized by
// it.
inline constexpr std::string_view kUnknownCodeWhy =
    "A number in no table: counted and watched, never acted on";

// The catalogue's judgement of an event.
struct Assessment {
  Severity severity = Severity::kMonitor;
  std::string action{};  // "RESTART_BM"
  ClearedBy cleared_by = ClearedBy::kReboot;
  std::string why{};
  bool known = true;    // false: no table lists the code; counted, monitor, never an action
  bool clears = false;  // a recovery (Xid 154 to None, 162): recorded, but lowers nothing by itself
  std::string
      source;  // "table", "seed", "override", "driver" (Xid 154), "decode" (NVLink5, Xid 74)
  // The row that decided: for a renumbered SXid, the row that its text means. nullptr for a code
  // that no table lists and for kinds without numbers.
  const Row* row = nullptr;
};

struct Override {
  std::optional<Severity> severity{};
  std::optional<std::string> action{};
  std::optional<ClearedBy> cleared_by{};
};

struct CatalogueOptions {
  Profile profile = Profile::kDefault;
  std::map<std::uint32_t, Override> xid{};   // by code
  std::map<std::uint32_t, Override> sxid{};  // by code
  Severity nvlink_default =
      Severity::kReset;  // Xid 74 if its registers do not decide (seed: NVLINK_DEFAULT)
  Severity nvlink5_default =
      Severity::kMonitor;             // 144-150 if no rule matches (seed: NVLINK5_DEFAULT)
  std::uint32_t driver_branch = 575;  // chooses the NVLink5 rule set: below 575 or from 575 on
};

// One line of `gpuward_xid_policy_info`.
struct PolicyLine {
  std::uint32_t code = 0;
  Severity severity = Severity::kMonitor;
  std::string action;
  std::string source;
};

class Catalogue {
 public:
  explicit Catalogue(CatalogueOptions options = {});

  // Thread-safe. Returns the severity, action and clearing rule for one event. `gpu_name` ("NVIDIA
  // A100-SXM4-80GB") matters only in the seed profile; empty if the inventory has no name.
  [[nodiscard]] Assessment judge(const Event& event, std::string_view gpu_name = {}) const;
  // Returns the current policy for each Xid of the table and of the overrides, ascending by code.
  [[nodiscard]] std::vector<PolicyLine> xid_policy() const;
  // Returns the row of a code; nullptr if the table has none.
  [[nodiscard]] static const Row* find_xid(std::uint32_t code);
  [[nodiscard]] static const Row* find_sxid(std::uint32_t code);

 private:
  [[nodiscard]] Assessment from_row(const Row* row) const;
  [[nodiscard]] Assessment judge_xid(const Event& event, std::string_view gpu_name) const;
  [[nodiscard]] Assessment judge_sxid(const Event& event) const;

  CatalogueOptions options_;
};

}  // namespace gpuward::xid
