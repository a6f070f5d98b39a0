#include "tests/simulation/stage.h"

#include "core/kube/parse.h"
#include "remediator/safety/breaker.h"
#include "remediator/safety/ledger_json.h"
#include "remediator/workflow/remediation_json.h"
#include "tests/fakes/remediation_definition.h"
#include "tests/simulation/bend.h"

namespace gpuward::remediator::simulation {
namespace {

const std::string kNodes = "/api/v1/nodes/";
const std::string kConfigMaps = "/api/v1/namespaces/" + kStateNamespace + "/configmaps";

kube::Node node_in(const Json& json) { return *kube::parse_node(dump_json(json)); }

}  // namespace

Stage::Stage(std::uint64_t seed, Size size, Sabotage switched_off)
    : chance(seed),
      setting(draw_setting(chance, size)),
      sabotage(switched_off),
      meant(setting.policy),
      policy(bent_policy(*this, setting.policy)) {
  kube.create(kDefinitions, remediation_definition());
  kube.create("/api/v1/namespaces", {{"metadata", {{"name", kStateNamespace}}}});
  kube.create(kConfigMaps, {{"metadata", {{"name", kSwitchName}}}, {"data", {{"stop", "false"}}}});
}

void Stage::create_node(const Json& node) {
  truth.put_node(node_in(kube.create("/api/v1/nodes", node)), Writer::kOthers, ++tick);
}

void Stage::patch_node(const std::string& name, const Json& patch) {
  truth.put_node(node_in(kube.patch(kNodes + name, patch)), Writer::kOthers, ++tick);
}

void Stage::patch_node_status(const std::string& name, const Json& patch) {
  truth.put_node(node_in(kube.patch_status(kNodes + name, patch)), Writer::kOthers, ++tick);
}

void Stage::remove_node(const std::string& name) {
  kube.remove(kNodes + name);
  ++tick;
  truth.drop_node(name);
}

void Stage::set_policy(Policy next) {
  policy.set(bent_policy(*this, next));
  meant.set(std::move(next));
}

// One that says nonsense stops too.
void Stage::turn_switch(bool stops) {
  const std::string text = stops ? chance.one_of({"true", "tru", ""}) : "false";
  kube.patch(kConfigMaps + "/" + kSwitchName, {{"data", {{"stop", text}}}});
  stopped_at = stops ? std::optional(++tick) : std::nullopt;
}

void Stage::close_breaker() {
  const Ledger closed = *remediator::close_breaker(truth.ledger(), "alice", clock.wall());
  kube.patch(kConfigMaps + "/" + kLedgerName,
             {{"data", {{"ledger.json", *encode_ledger(closed)}}}});
  truth.put_ledger(closed, Writer::kOthers, ++tick);
}

void Stage::forget_ledger() {
  if (!kube.has(kConfigMaps + "/" + kLedgerName)) return;
  kube.patch(kConfigMaps + "/" + kLedgerName, {{"data", {{"ledger.json", *encode_ledger({})}}}});
}

void Stage::annotate_remediation(const std::string& name, const Json& annotations) {
  const Json patch = {{"metadata", {{"annotations", annotations}}}};
  const Json now = kube.patch(remediation_collection() + "/" + name, patch);
  truth.put_remediation(*parse_remediation(dump_json(now)), ++tick);
}

}  // namespace gpuward::remediator::simulation
