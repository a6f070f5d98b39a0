#include "exporter/checks/check/finding_list.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace gpuward::exporter {
namespace {

constexpr std::size_t kMostLineBytes = 1024;

void append_line(std::string& text, const std::string& line) {
  if (text.size() + line.size() + 2 > kMostLineBytes) return;
  text += (text.empty() ? "" : "; ") + line;
}

}  // namespace

void FindingList::add(Code code, const std::string& pci_bus_id, const std::string& line) {
  const FindingCode& row = row_of(code);
  add_as(code, profile_ == Profile::kSeed ? row.seed_severity : row.severity, pci_bus_id, line, {});
}

void FindingList::add_as(Code code, Severity severity, const std::string& pci_bus_id,
                         const std::string& line, std::string_view because) {
  const FindingCode& row = row_of(code);
  const auto known = std::ranges::find_if(findings_, [&](const Finding& finding) {
    return finding.code == row.code && finding.pci_bus_id == pci_bus_id;
  });
  if (known != findings_.end()) {
    append_line(known->line, line);
    known->severity = std::max(known->severity, severity);
    return;
  }
  Finding finding;
  finding.check = row.check;
  finding.code = row.code;
  finding.pci_bus_id = pci_bus_id;
  finding.severity = severity;
  finding.cleared_by = row.cleared_by;
  finding.evidence = Evidence::kMeasured;
  append_line(finding.line, line);
  finding.why = row.meaning;
  if (!because.empty()) finding.why.append(": ").append(because);
  findings_.push_back(std::move(finding));
}

Finding* FindingList::find(Code code, const std::string& pci_bus_id) {
  const auto found = std::ranges::find_if(findings_, [&](const Finding& finding) {
    return finding.code == name_of(code) && finding.pci_bus_id == pci_bus_id;
  });
  return found == findings_.end() ? nullptr : &*found;
}

void FindingList::name_event(Code code, const std::string& pci_bus_id, const std::string& event) {
  if (Finding* added = find(code, pci_bus_id)) added->event = event;
}

void FindingList::add_too_soon(Code code, const std::string& pci_bus_id, const std::string& line) {
  add_as(code, Severity::kMonitor, pci_bus_id, line, "too soon after boot or driver load to judge");
  if (Finding* added = find(code, pci_bus_id)) added->is_too_soon = true;
}

void FindingList::cannot_tell(Code code, std::string pci_bus_id) {
  untold_.push_back({std::string(name_of(code)), std::move(pci_bus_id)});
}

void FindingList::cannot_tell_anything(std::string pci_bus_id) {
  untold_.push_back({{}, std::move(pci_bus_id)});
}

Severity worst_of(const std::vector<Finding>& findings) {
  Severity worst = Severity::kNone;
  for (const Finding& finding : findings) worst = std::max(worst, finding.severity);
  return worst;
}

std::string describe_findings(std::vector<Finding> findings, std::size_t most) {
  std::erase_if(findings, [](const Finding& each) { return each.severity == Severity::kNone; });
  std::ranges::sort(findings, [](const Finding& left, const Finding& right) {
    return std::tie(right.severity, left.check, left.code, left.pci_bus_id) <
           std::tie(left.severity, right.check, right.code, right.pci_bus_id);
  });
  std::string text;
  for (std::size_t i = 0; i < std::min(most, findings.size()); ++i) {
    const Finding& finding = findings[i];
    text += text.empty() ? "" : "; ";
    // The codes of kernel log findings are numbers, so the check's name goes first.
    if (finding.evidence != Evidence::kMeasured) text += finding.check + " ";
    text += finding.code;
    if (!finding.pci_bus_id.empty()) text += " on " + finding.pci_bus_id;
    text.append(" (").append(to_string(finding.severity)).append(")");
  }
  if (findings.size() > most) text += "; and " + std::to_string(findings.size() - most) + " more";
  return text;
}

}  // namespace gpuward::exporter
