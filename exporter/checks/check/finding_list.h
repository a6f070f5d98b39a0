// Collects the findings of a native check, one for each code and device, and the parts that it
// could not examine. Each run makes its own list and turns it into a CheckOutcome.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "exporter/checks/check/check.h"
#include "exporter/checks/check/finding_codes.h"

namespace gpuward::exporter {

class FindingList {
 public:
  enum class Profile : bool { kOurs, kSeed };
  explicit FindingList(Profile profile) : profile_(profile) {}
  explicit FindingList(const CheckSettings& settings)
      : profile_(settings.is_seed_profile ? Profile::kSeed : Profile::kOurs) {}

  // Appends a second line for the same code and device to the first.
  void add(Code code, const std::string& pci_bus_id, const std::string& line);
  // Like add(), but with another severity than the table has; `because` is appended to the meaning.
  void add_as(Code code, Severity severity, const std::string& pci_bus_id, const std::string& line,
              std::string_view because);
  // Like add_as() with monitor, because it is too soon after boot or driver load to judge.
  void add_too_soon(Code code, const std::string& pci_bus_id, const std::string& line);
  // Sets Finding::event of a finding that was added, because the driver keeps reporting one event.
  void name_event(Code code, const std::string& pci_bus_id, const std::string& event);
  // The check could not examine this: known findings stay. An empty address means any device.
  void cannot_tell(Code code, std::string pci_bus_id);
  void cannot_tell_anything(std::string pci_bus_id);

  // Adds findings under one of two codes, confirmed or unconfirmed.
  void suspect(Suspected suspected) { suspected_.push_back(std::move(suspected)); }

  [[nodiscard]] const std::vector<Finding>& findings() const { return findings_; }
  [[nodiscard]] std::vector<Finding> take_findings() { return std::move(findings_); }
  [[nodiscard]] std::vector<Untold> take_untold() { return std::move(untold_); }
  [[nodiscard]] std::vector<Suspected> take_suspected() { return std::move(suspected_); }

 private:
  [[nodiscard]] Finding* find(Code code, const std::string& pci_bus_id);

  Profile profile_;
  std::vector<Finding> findings_;
  std::vector<Untold> untold_;
  std::vector<Suspected> suspected_;
};

// Returns the highest severity; kNone for an empty list.
[[nodiscard]] Severity worst_of(const std::vector<Finding>& findings);

// Returns a text for people, the worst first, at most `most` findings: "row_remap_failure on
// 0000:4e:00 (isolate); …".
[[nodiscard]] std::string describe_findings(std::vector<Finding> findings, std::size_t most = 8);

}  // namespace gpuward::exporter
