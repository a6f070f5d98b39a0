// What a native check gathers while it looks: findings by the table of codes, one for each code and
// device, and what could not be looked at. Made by each run, ends as a CheckOutcome.
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

  // A second line for the same code and device is put behind the first.
  void add(Code code, const std::string& pci_bus_id, const std::string& line);
  // The same, more or less severe than the table says; `because` is added to its meaning.
  void add_as(Code code, Severity severity, const std::string& pci_bus_id, const std::string& line,
              std::string_view because);
  // The same as monitor, because it is too soon after boot or driver load to judge.
  void add_too_soon(Code code, const std::string& pci_bus_id, const std::string& line);
  // Sets Finding::event of a finding that was added: the driver keeps reporting one event.
  void name_event(Code code, const std::string& pci_bus_id, const std::string& event);
  // Nobody could look: what is known of it stays. Without an address: of any device.
  void cannot_tell(Code code, std::string pci_bus_id);
  void cannot_tell_anything(std::string pci_bus_id);

  // What was found, or is found, under one of these two codes.
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

// The worst of them; kNone of none.
[[nodiscard]] Severity worst_of(const std::vector<Finding>& findings);

// For people: "row_remap_failure on 0000:4e:00 (isolate); …", the worst first, at most `most`.
[[nodiscard]] std::string describe_findings(std::vector<Finding> findings, std::size_t most = 8);

}  // namespace gpuward::exporter
