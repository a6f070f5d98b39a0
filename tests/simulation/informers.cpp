#include "tests/simulation/informers.h"

#include <algorithm>
#include <utility>

#include "remediator/cluster/remediation_json.h"

namespace gpuward::remediator::simulation {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr seconds kWatch{15};  // how long a watch without changes lasts
constexpr int kMostTurns = 10;

kube::ApiOptions options_of(Stage& stage) {
  kube::ApiOptions options;
  options.server = "http://fake";
  options.retry_deadline = milliseconds(1);  // an informer retries by itself
  options.page_size = stage.setting.nodes > 100 ? 500 : stage.informer_chance.one_of({2, 5, 100});
  options.jitter_seed = stage.informer_chance.next() | 1U;
  return options;
}

// The handlers; a sabotage may lose some of the calls.
kube::InformerHandlers handlers_of(const Stage& stage, const WatchWire& wire,
                                   kube::InformerHandlers handlers) {
  if (!stage.is_off(Sabotage::kUnlisted)) return handlers;
  handlers.on_delete = [&wire, deleted = std::move(handlers.on_delete)](const std::string& name) {
    if (!wire.has_listed()) deleted(name);
  };
  return handlers;
}

}  // namespace

Informers::Line::Line(Stage& stage, kube::Credentials& credentials, Resource kind,
                      const ViewFeed& feed)
    : wire(stage, kind),
      api(options_of(stage), wire, credentials, stage.clock),
      clock(stage),
      informer(
          api, clock, wire.collection(),
          handlers_of(stage, wire,
                      kind == Resource::kNode ? node_handlers(feed) : remediation_handlers(feed)),
          stage.informer_chance.next() | 1U),
      due(stage.clock.steady()) {}

Informers::Informers(Stage& stage, kube::Credentials& credentials, const ViewFeed& feed)
    : stage_(stage),
      nodes_(stage, credentials, Resource::kNode, feed),
      remediations_(stage, credentials, Resource::kRemediation, feed) {}

void Informers::hear(std::size_t count) {
  const std::size_t behind = stage_.setting.watches_differ && !stage_.is_quiet
                                 ? stage_.informer_chance.weighted({50, 25, 25})
                                 : 0;
  if (behind != 1) nodes_.wire.serve(count);
  if (behind != 2) remediations_.wire.serve(count);
  take_turns(nodes_);
  take_turns(remediations_);
}

void Informers::go_on() {
  for (Line* const line : {&nodes_, &remediations_}) {
    if (stage_.clock.steady() - line->wire.spoke() >= kWatch) take_turns(*line);
  }
}

void Informers::die_until(Clock::Steady end) {
  nodes_.wire.die_until(end);
  remediations_.wire.die_until(end);
}

void Informers::take_turns(Line& line) {
  Chance& chance = stage_.informer_chance;
  if (!stage_.is_quiet && chance.happens(stage_.setting.watch_fault / 4))
    line.wire.die_until(stage_.clock.steady() + chance.span(seconds(20), minutes(3)));
  // In the quiet time no informer misses a change because it waits before a retry.
  const auto is_due = [&] { return stage_.is_quiet || line.due <= stage_.clock.steady(); };
  for (int i = 0; i < kMostTurns && is_due(); ++i) {
    const milliseconds wait = line.informer.turn({});
    line.due = std::max(stage_.clock.steady() + wait, line.wire.busy_until());
    if (line.wire.has_told_all()) return;
  }
}

void Informers::note(Look& look) const {
  look.heard_nodes = nodes_.wire.told();
  look.heard_remediations = remediations_.wire.told();
  look.listened = std::min(nodes_.wire.spoke(), remediations_.wire.spoke());
}

}  // namespace gpuward::remediator::simulation
