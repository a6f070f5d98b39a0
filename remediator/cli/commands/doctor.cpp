#include "remediator/cli/commands/doctor.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/command_line/table.h"
#include "core/kube/node_names.h"
#include "core/runtime/json.h"
#include "remediator/cli/commands/command_json.h"
#include "remediator/cluster/remediation_store.h"
#include "remediator/model/fleet.h"
#include "remediator/tell/texts/connection_links.h"

namespace gpuward::remediator {
namespace {

constexpr std::chrono::seconds kLookEvery{5};

std::string status_of(const kube::Node& node) {
  for (const auto& [key, value] : node.meta.labels) {
    if (is_node_key(key, NodeName::kStatus)) return value;
  }
  return {};
}

// Returns why no replica judges the node's exporter; empty if one does.
std::string why_not_judged(const kube::Node& node, bool has_open, WallTime now) {
  if (has_open) return "the node has an open Remediation";
  if (!is_gpu_node(node)) return "the node has no GPUs according to its labels and resources";
  if (node.meta.deleting) return "the node is being deleted";
  if (!kube::is_ready(node)) return "the node is not Ready";
  const bool is_new = node.meta.created && now - *node.meta.created < std::chrono::minutes(15);
  return is_new ? "the node is younger than 15 minutes" : "";
}

void leave_open(const std::string& why, std::vector<Link>& links) {
  for (Link& link : links) {
    const bool is_of_exporter = link.name == "target" || link.name == "series";
    if (!why.empty() && is_of_exporter && link.state == LinkState::kWorks)
      link = {link.name, LinkState::kUnknown, "Not checked: " + why};
  }
}

// The label is only reliable if its exporter is running.
Link finding_link(const kube::Node& node, const std::vector<Link>& links) {
  const std::string status = status_of(node);
  const auto target = std::ranges::find(links, "target", &Link::name);
  if (!status.empty() && target != links.end() && target->state != LinkState::kWorks)
    return {"finding", LinkState::kUnknown,
            "The status label is " + status +
                (target->state == LinkState::kBroken
                     ? ", but Prometheus cannot scrape the node's exporter"
                     : ", but the node's exporter is not checked")};
  if (status.empty())
    return {"finding", LinkState::kUnknown,
            "The node has no status label: no exporter has written one (config.node.labels)"};
  if (status == "pass")
    return {"finding", LinkState::kWorks, "The exporter finds nothing, so no alert is expected"};
  return {"finding", LinkState::kWorks, "The exporter's status label is " + status};
}

// The records are newer than the replica's last check.
void note_records(const std::vector<Remediation>& remediations, const std::string& node,
                  Link& record) {
  for (const Remediation& one : remediations) {
    if (one.node != node || !one.open()) continue;
    record = {"record", LinkState::kWorks,
              "Remediation " + one.name + " is " + std::string(to_string(one.status.phase))};
    return;
  }
}

Result<std::vector<Link>> links_of_node(const CommandFlags& flags, kube::Api& api,
                                        const ConnectionReading& reading) {
  const auto node = api.get_node(flags.node);
  if (!node) return std::unexpected(node.error());
  const auto remediations = RemediationStore(api).list_all();
  if (!remediations) return std::unexpected(remediations.error());
  auto links = node_links(reading, flags.node);
  const bool has_open = std::ranges::any_of(
      *remediations, [&](const Remediation& one) { return one.node == flags.node && one.open(); });
  leave_open(why_not_judged(*node, has_open, reading.now), links);
  links.insert(links.begin(), finding_link(*node, links));
  note_records(*remediations, flags.node, links.back());
  return links;
}

std::string text_of(const std::vector<Link>& links) {
  std::vector<std::vector<std::string>> rows{{"LINK", "STATE", "SEEN"}};
  for (const Link& link : links)
    rows.push_back({link.name, std::string(to_string(link.state)), link.text});
  const std::string text = table_text(rows) + "\n";
  const Link* const broken = first_broken(links);
  if (broken == nullptr) return text + "No link is broken. To test the whole chain, run a drill.\n";
  return text + "NOT CONNECTED: the first broken link is " + broken->name +
         ".\nNext: " + broken->next + "\n";
}

std::string json_of(const std::vector<Link>& links) {
  Json list = Json::array();
  for (const Link& link : links) {
    list.push_back({{"link", link.name},
                    {"state", to_string(link.state)},
                    {"text", link.text},
                    {"next", link.next}});
  }
  const Link* const broken = first_broken(links);
  return dump_json({{"links", std::move(list)},
                    {"firstBroken", broken == nullptr ? Json(nullptr) : Json(broken->name)}});
}

Result<Diagnosis> diagnose(const CommandFlags& flags, kube::Api& api, Clock& clock) {
  const auto reading = read_connections(api, flags.state_namespace, clock.wall());
  if (!reading) return std::unexpected(reading.error());
  const auto links =
      flags.node.empty() ? fleet_links(*reading) : links_of_node(flags, api, *reading);
  if (!links) return std::unexpected(links.error());
  Diagnosis diagnosis{.text = {}, .is_connected = first_broken(*links) == nullptr};
  if (is_for_people(flags.output)) {
    diagnosis.text = text_of(*links);
    return diagnosis;
  }
  auto text = in_format(flags.output, json_of(*links));
  if (!text) return std::unexpected(text.error());
  diagnosis.text = *std::move(text);
  return diagnosis;
}

}  // namespace

Result<Diagnosis> run_doctor(const CommandFlags& flags, kube::Api& api, Clock& clock) {
  const auto until = clock.steady() + flags.wait;
  auto diagnosis = diagnose(flags, api, clock);
  while (diagnosis && !diagnosis->is_connected && clock.steady() < until) {
    (void)clock.sleep_for(kLookEvery, {});
    diagnosis = diagnose(flags, api, clock);
  }
  return diagnosis;
}

}  // namespace gpuward::remediator
