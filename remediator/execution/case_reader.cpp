#include "remediator/execution/case_reader.h"

#include <utility>

#include "core/kube/names.h"
#include "remediator/model/node_mark.h"

namespace gpuward::remediator {
namespace {

using std::chrono::milliseconds;

// How old the list of exclusions may be where nothing is taken away from anybody.
constexpr milliseconds kExclusionAge{15'000};

// As it was when the Remediation was opened.
kube::Node remembered_node(const Remediation& remediation) {
  kube::Node node;
  node.meta.name = remediation.node;
  node.meta.uid = remediation.node_uid;
  node.boot_id = remediation.boot_id;
  node.provider_id = remediation.instance_id;
  return node;
}

Case case_of(Remediation remediation, std::optional<kube::Node> node,
             std::shared_ptr<const Policy> policy) {
  Case now{.remediation = std::move(remediation),
           .node = std::move(node),
           .target = {},
           .policy = std::move(policy)};
  if (now.node) now.policy = policy_for(std::move(now.policy), now.node->meta.labels);
  const bool is_same = now.node && now.node->meta.uid == now.remediation.node_uid;
  now.target = is_same ? *now.node : remembered_node(now.remediation);
  return now;
}

}  // namespace

std::optional<Case> CaseReader::recall(const std::string& name,
                                       std::shared_ptr<const Policy> policy) {
  if (is_distrusted(name)) return std::nullopt;
  auto remediation = parts_.view.last_remediation(name);
  if (!remediation || !remediation->open()) return std::nullopt;
  const auto node = parts_.view.last_node(remediation->node);
  if (!node) return std::nullopt;
  Case now = case_of(std::move(*remediation), *node, std::move(policy));
  if (!look_up_exclusion(now, kExclusionAge)) return std::nullopt;
  return now;
}

Result<std::optional<FreshCase>> CaseReader::read(const std::string& name,
                                                  std::shared_ptr<const Policy> policy) {
  auto remediation = parts_.store.read(name);
  if (!remediation) {
    if (remediation.error().kind != ErrorKind::kNotFound)
      return std::unexpected(remediation.error());
    parts_.view.remove_remediation(name);
    return std::nullopt;
  }
  parts_.view.put_remediation(*remediation);
  if (!remediation->open())
    return FreshCase(case_of(std::move(*remediation), std::nullopt, std::move(policy)));
  if (auto valid = kube::validate_node_name(remediation->node); !valid)
    return std::unexpected(valid.error());
  auto node = parts_.api.get_node(remediation->node);
  if (!node && node.error().kind != ErrorKind::kNotFound) return std::unexpected(node.error());
  if (node) {
    if (auto known = look_up_named(*node, name); !known) return std::unexpected(known.error());
  }
  trust(name);
  FreshCase now(case_of(std::move(*remediation),
                        node ? std::optional(std::move(*node)) : std::nullopt, std::move(policy)));
  if (auto known = look_up_exclusion(*now, milliseconds(0)); !known)
    return std::unexpected(known.error());
  return now;
}

// The view may not know yet that the Remediation is open which the node's annotation names: then
// taint and cordon would be taken for a leftover.
Status CaseReader::look_up_named(const kube::Node& node, const std::string& reading) {
  const auto mark = mark_on(node);
  if (!mark || mark->name == reading) return {};
  auto named = parts_.store.read(mark->name);
  if (named) {
    parts_.view.put_remediation(*std::move(named));
    return {};
  }
  // What somebody wrote there may be no name, and a record may be broken: nobody acts for either.
  const bool is_none =
      named.error().kind == ErrorKind::kNotFound || named.error().kind == ErrorKind::kInvalid;
  if (!is_none) return std::unexpected(named.error());
  parts_.view.remove_remediation(mark->name);
  return {};
}

// Before harm, when all is read afresh, as it is; else as it was a moment ago.
Status CaseReader::look_up_exclusion(Case& now, milliseconds max_age) {
  if (parts_.exclusions == nullptr || !now.node) return {};
  const auto list = parts_.exclusions->read(max_age);
  if (!list) return std::unexpected(list.error());
  now.excluded = exclusion_for(*list, *now.node, parts_.clock.wall());
  return {};
}

void CaseReader::distrust(const std::string& name) {
  const std::lock_guard lock(mutex_);
  distrusted_.insert(name);
}

bool CaseReader::is_distrusted(const std::string& name) {
  const std::lock_guard lock(mutex_);
  return distrusted_.contains(name);
}

void CaseReader::trust(const std::string& name) {
  const std::lock_guard lock(mutex_);
  distrusted_.erase(name);
}

}  // namespace gpuward::remediator
