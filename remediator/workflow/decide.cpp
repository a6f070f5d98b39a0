#include "remediator/workflow/decide.h"

#include <algorithm>
#include <array>

#include "remediator/safety/human_override.h"
#include "remediator/safety/node_mark.h"

namespace gpuward::remediator {
namespace {

using std::chrono::seconds;

constexpr std::array<std::string_view, 7> kVerdicts = {"record",     "quarantine", "hold", "pause",
                                                       "ask-report", "release",    "close"};
constexpr seconds kReportInterval{15};  // how often a node that may return is looked at
constexpr std::size_t kNamedAlerts = 8;

std::string words(const std::vector<Step>& steps) {
  if (steps.empty()) return "nothing";
  std::string text;
  for (const Step step : steps) {
    if (!text.empty()) text += ", ";
    text += to_string(step);
  }
  return text;
}

bool contains(const std::vector<Step>& steps, Step step) {
  return std::find(steps.begin(), steps.end(), step) != steps.end();
}

// Only words that stay the same: curl's texts have milliseconds in them, and would make a new
// status of every look.
std::string why_no_report(const Error& error) {
  const bool is_unreachable = error.kind == ErrorKind::kUnavailable ||
                              error.kind == ErrorKind::kTimeout ||
                              error.kind == ErrorKind::kOverloaded;
  return is_unreachable ? "Prometheus does not answer" : error.message;
}

// One decision in the making: guards first, in order; the first that speaks wins.
class Decider {
 public:
  Decider(const Policy& policy, const World& world, WallTime now)
      : policy_(policy), world_(world), remediation_(world.remediation), now_(now) {}

  Decision run() {
    add_evidence();
    if (const char* gone = node_is_another()) {
      return close(Phase::kSuperseded, "guard.node-identity", gone);
    }
    if (was_released()) {
      return close(Phase::kReleased, "return_to_service", "what was ours is off the node again");
    }
    if (const auto why = exclusion_of(policy_, *world_.node)) return keep_off("excluded", *why);
    if (world_.node->meta.deleting) {
      return keep_off("guard.node-deleting", "the node is being deleted");
    }
    if (const auto what = human_override(remediation_, *world_.node); what && !is_paused()) {
      return verdict(Verdict::kPause, Phase::kPaused, "guard.human", *what + ": hands off");
    }
    return remediation_.any_firing() ? decide_firing() : decide_ended();
  }

 private:
  void add_evidence() {
    std::size_t named = 0;
    for (const AlertEvidence& alert : remediation_.alerts) {
      if (named++ == kNamedAlerts) break;
      decision_.reasons.push_back("alert " + alert.alertname +
                                  (alert.firing() ? " fires" : " has ended") + ", severity " +
                                  std::string(to_string(alert.severity)));
    }
  }

  const char* node_is_another() const {
    if (world_.node == nullptr) return "the node is gone";
    if (world_.node->meta.uid != remediation_.node_uid)
      return "a new node has taken the node's name";
    return nullptr;
  }

  bool is_paused() const { return remediation_.status.phase == Phase::kPaused; }

  Phase standing_phase() const { return is_paused() ? Phase::kPaused : Phase::kQuarantined; }

  bool ours_on_node() const {
    const auto mark = mark_on(*world_.node);
    if (mark && mark->name == remediation_.name) return true;
    if (our_taint_on(*world_.node)) return true;
    return remediation_.status.has_done(Step::kCordon) && world_.node->unschedulable &&
           remediation_.status.pre_existing_cordon == false && !was_returned();
  }

  bool was_returned() const { return remediation_.status.find(Step::kReturn) != nullptr; }

  bool was_released() const {
    return was_returned() && !ours_on_node() && !remediation_.any_firing();
  }

  Decision verdict(Verdict what, Phase phase, std::string rule, std::string message) {
    decision_.verdict = what;
    decision_.phase = phase;
    decision_.rule = std::move(rule);
    decision_.message = std::move(message);
    decision_.reasons.push_back(decision_.message);
    return decision_;
  }

  Decision close(Phase phase, std::string rule, std::string message) {
    return verdict(Verdict::kClose, phase, std::move(rule), std::move(message));
  }

  // Nothing is done; the phase says whether something of ours stands.
  Decision keep_off(std::string rule, const std::string& why) {
    if (!ours_on_node() && !remediation_.any_firing()) return ended_without_trace();
    if (ours_on_node() || is_paused()) {
      return verdict(Verdict::kHold, standing_phase(), std::move(rule),
                     why + ": what stands stays");
    }
    return verdict(Verdict::kRecord, Phase::kObserved, std::move(rule), why + ": recorded only");
  }

  Decision ended_without_trace() {
    return close(Phase::kEnded, "alerts.ended", "the alerts ended; nothing of ours is on the node");
  }

  Decision decide_firing() {
    if (is_paused()) {
      return verdict(Verdict::kHold, Phase::kPaused, "guard.human", remediation_.status.message);
    }
    const std::string rule = "severities." + std::string(to_string(remediation_.severity));
    const std::vector<Step> wanted = steps_for(policy_, remediation_.severity);
    decision_.reasons.push_back("policy " + rule + " in mode " +
                                std::string(to_string(policy_.mode)) + ": " + words(wanted));
    if (wanted.empty()) {
      if (ours_on_node()) {
        return verdict(Verdict::kHold, Phase::kQuarantined, rule, "what stands stays");
      }
      return verdict(Verdict::kRecord, Phase::kObserved, rule, record_only_message());
    }
    if (contains(wanted, Step::kCordon) && cordoned_by_others()) {
      decision_.reasons.emplace_back(
          "the node was cordoned by somebody else before: that cordon stays");
    }
    decision_.steps = wanted;
    return verdict(
        Verdict::kQuarantine, Phase::kQuarantined, rule,
        "severity " + std::string(to_string(remediation_.severity)) + ": " + words(wanted));
  }

  std::string record_only_message() const {
    if (remediation_.severity == Severity::kMonitor) return "severity monitor is recorded only";
    const auto planned = policy_.steps.find(remediation_.severity);
    if (planned == policy_.steps.end() || planned->second.empty()) {
      return "the policy has no steps for this severity";
    }
    return "mode " + std::string(to_string(policy_.mode)) + ": would do " + words(planned->second);
  }

  bool cordoned_by_others() const {
    const auto mark = mark_on(*world_.node);
    if (mark && mark->cordon) return mark->pre_existing_cordon;
    return world_.node->unschedulable;
  }

  Decision decide_ended() {
    if (!ours_on_node()) return ended_without_trace();
    const Phase phase = standing_phase();
    const std::string rule = "return_to_service";
    if (!policy_.return_to_service.enabled) {
      return verdict(Verdict::kHold, phase, rule, "the alerts ended; the policy returns no nodes");
    }
    if (!allows(policy_.mode, Step::kReturn)) {
      return verdict(Verdict::kHold, phase, rule, "the alerts ended; mode observe changes nothing");
    }
    if (!world_.report) {
      return verdict(Verdict::kAskReport, phase, rule, "the alerts ended; is the node well?");
    }
    if (const auto why = objection()) {
      decision_.look_again = kReportInterval;
      return verdict(Verdict::kHold, phase, rule, "the alerts ended, but " + *why);
    }
    return verdict(
        Verdict::kRelease, Phase::kReleased, rule,
        "the alerts ended and a newer report of the same boot says that the node is well");
  }

  std::optional<std::string> objection() const {
    if (!*world_.report)
      return "there is no health report: " + why_no_report(world_.report->error());
    return objection_to(**world_.report, *world_.node,
                        {.after = remediation_.ended_at().value_or(now_),
                         .max_age = policy_.return_to_service.max_report_age,
                         .now = now_});
  }

  const Policy& policy_;
  const World& world_;
  const Remediation& remediation_;
  WallTime now_;
  Decision decision_;
};

}  // namespace

std::string_view to_string(Verdict verdict) { return kVerdicts[static_cast<std::size_t>(verdict)]; }

Decision decide(const Policy& policy, const World& world, WallTime now) {
  return Decider(policy, world, now).run();
}

}  // namespace gpuward::remediator
