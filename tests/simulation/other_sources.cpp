#include "tests/simulation/other_sources.h"

#include <algorithm>

#include "remediator/inbox/sources/source_parts.h"
#include "remediator/inbox/sources/source_poll.h"

namespace gpuward::remediator::simulation {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr minutes kPollEvery{1}, kGoneFor{3};
constexpr seconds kSoonest{15};  // the product reads the conditions, which cost nothing, more often

kube::ApiOptions api_options() {
  kube::ApiOptions options;
  options.server = "http://fake";
  options.retry_deadline = milliseconds(1);
  return options;
}

SourceParts parts_of(Stage& stage, AnsweringPlaces& places, const ClusterView& view, kube::Api& api,
                     const NodeSigns& signs, const NodeAnnouncements& announcements,
                     ScrapeStates& scrapes) {
  SourceParts parts{.policy = stage.policy,
                    .known = view,
                    .nodes = view,
                    .announcements = announcements,
                    .node_lines = view,
                    .clock = stage.clock,
                    .prometheus = {},
                    .prometheus_client = &places,
                    .loki = {},
                    .loki_client = &places,
                    .signs = stage.setting.falls_silent ? &signs : nullptr,
                    .scrapes = &scrapes,
                    .api = api};
  const Places& setting = stage.setting.places;
  if (setting.prometheus && !stage.is_off(Sabotage::kPrometheusAlerts))
    parts.prometheus = {.url = "http://prometheus", .every = seconds(30), .gone_for = kGoneFor};
  if (setting.logs)
    parts.loki = {
        .place = {.url = "http://loki"}, .namespaces = {}, .state_namespace = kStateNamespace};
  return parts;
}

}  // namespace

Result<http::ClientResponse> CursorWire::send(const http::ClientRequest& request) {
  const bool is_write = request.method != "GET";
  require(!is_write || stage_.holder == identity_, "leader",
          identity_ + " writes how far the log was read and " + stage_.holder + " has the lease");
  Chance& chance = stage_.places_chance;
  if (stage_.is_quiet || !chance.happens(stage_.setting.fault)) {
    if (!is_write && stage_.is_off(Sabotage::kLogCursor)) {
      http::ClientResponse answer;
      answer.status = 404;
      return answer;
    }
    return client_.send(request);
  }
  if (chance.happens(0.5)) (void)client_.send(request);
  return fail(ErrorKind::kTimeout, "no answer");
}

Result<http::ClientResponse> CursorWire::stream(const http::ClientRequest&, milliseconds,
                                                std::stop_token,
                                                const std::function<bool(std::string_view)>&) {
  return fail(ErrorKind::kInvalid, "nothing is streamed here");
}

OtherSources::OtherSources(Stage& stage, AnsweringPlaces& places, const ClusterView& view,
                           Intake& intake, kube::Credentials& credentials, std::string identity,
                           ScrapeStates& scrapes)
    : stage_(stage),
      intake_(intake),
      announcements_(stage, view),
      wire_(stage, std::move(identity)),
      fence_(wire_, [this] { return leads_ != nullptr && (*leads_)(); }),
      api_(api_options(), fence_, credentials, stage.clock),
      alertmanager_("http://alertmanager", places),
      poll_({.gone_for = kGoneFor, .policy = &stage.policy, .known = &view}, alertmanager_, intake,
            stage.clock),
      poll_due_(stage.clock.steady()) {
  for (auto& source :
       make_sources(parts_of(stage, places, view, api_, view, announcements_, scrapes))) {
    const bool is_off = source->name() == "condition" && stage.is_off(Sabotage::kConditions);
    if (!is_off) sources_.push_back({std::move(source), stage.clock.steady()});
  }
}

bool OtherSources::is_due(bool leads) const {
  const Clock::Steady now = stage_.clock.steady();
  if (stage_.setting.places.polls && poll_due_ <= now) return true;
  return leads &&
         std::ranges::any_of(sources_, [&](const Asked& asked) { return asked.due <= now; });
}

void OtherSources::go_on(const std::function<bool()>& leads) {
  const Clock::Steady now = stage_.clock.steady();
  if (stage_.setting.places.polls && poll_due_ <= now && !stage_.is_off(Sabotage::kPoll)) {
    poll_due_ = now + kPollEvery;
    if (const auto done = poll_.round(); !done)
      stage_.trace.say("the poll: " + done.error().message);
  }
  leads_ = &leads;
  for (Asked& asked : sources_) {
    if (leads() && asked.due <= now) ask(asked);
  }
  leads_ = nullptr;
}

void OtherSources::ask(Asked& asked) {
  const auto round = ask_once(*asked.source, intake_, stage_.clock);
  const std::string name(asked.source->name());
  if (!round) stage_.trace.say(name + ": " + round.error().message);
  if (round && round->taken.accepted > 0)
    stage_.trace.say(name + ": " + std::to_string(round->taken.accepted) + " accepted");
  const bool has_more = round && round->findings.has_more;
  asked.due =
      stage_.clock.steady() +
      (has_more ? milliseconds(200) : std::max<milliseconds>(asked.source->every(), kSoonest));
}

}  // namespace gpuward::remediator::simulation
