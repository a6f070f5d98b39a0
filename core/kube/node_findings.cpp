#include "core/kube/node_findings.h"

#include <array>

#include "core/runtime/clock.h"
#include "core/runtime/json.h"
#include "core/runtime/text.h"

namespace gpuward {
namespace {

struct Text {
  const char* key;
  std::string NodeFinding::* text;
  std::size_t longest;
};

constexpr std::size_t kLong = 500, kShort = 64;
constexpr std::array<Text, 10> kTexts{{{"check", &NodeFinding::check, kShort},
                                       {"code", &NodeFinding::code, kShort},
                                       {"severity", &NodeFinding::severity, kShort},
                                       {"gpu", &NodeFinding::gpu, kShort},
                                       {"pciBusID", &NodeFinding::pci_bus_id, kShort},
                                       {"serial", &NodeFinding::serial, kShort},
                                       {"workload", &NodeFinding::workload, kLong},
                                       {"meaning", &NodeFinding::meaning, kLong},
                                       {"line", &NodeFinding::line, kLong},
                                       {"witness", &NodeFinding::witness, kShort}}};

Json to_json(const NodeFinding& finding) {
  Json json = {{"firstSeen", to_rfc3339(finding.first_seen)},
               {"lastSeen", to_rfc3339(finding.last_seen)}};
  for (const Text& one : kTexts) {
    const std::string& text = finding.*one.text;
    if (!text.empty()) json[one.key] = to_valid_utf8(text, one.longest);
  }
  if (finding.is_unknown) json["unknown"] = true;
  return json;
}

std::optional<NodeFinding> to_finding(const Json& json) {
  NodeFinding finding;
  for (const Text& one : kTexts)
    finding.*one.text = to_valid_utf8(string_at(json, one.key), one.longest);
  const auto first = parse_rfc3339(string_at(json, "firstSeen"));
  const auto last = parse_rfc3339(string_at(json, "lastSeen"));
  if (finding.check.empty() || !first || !last) return std::nullopt;
  finding.first_seen = *first;
  finding.last_seen = *last;
  finding.is_unknown = member_at(json, "unknown") == true;
  return finding;
}

}  // namespace

std::string node_findings_text(const std::vector<NodeFinding>& findings) {
  Json json = Json::array();
  for (const NodeFinding& finding : findings) json.push_back(to_json(finding));
  return dump_json(json);
}

std::vector<NodeFinding> node_findings_of(const kube::Node& node) {
  const auto found = node.meta.annotations.find(std::string(kFindingsAnnotation));
  if (found == node.meta.annotations.end()) return {};
  const auto json = parse_json(found->second);
  if (!json || !json->is_array()) return {};
  std::vector<NodeFinding> findings;
  for (const Json& one : *json) {
    if (auto finding = to_finding(one)) findings.push_back(*std::move(finding));
    if (findings.size() == kMostNodeFindings) break;
  }
  return findings;
}

std::string summary_of(const NodeFinding& finding) {
  std::string text = finding.check;
  if (!finding.code.empty()) text += " " + finding.code;
  if (!finding.gpu.empty()) text += " on GPU " + finding.gpu;
  if (finding.pci_bus_id.empty()) return text;
  return text +
         (finding.gpu.empty() ? " on " + finding.pci_bus_id : " (" + finding.pci_bus_id + ")");
}

}  // namespace gpuward
