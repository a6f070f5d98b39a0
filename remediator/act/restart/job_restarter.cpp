#include "remediator/act/restart/job_restarter.h"

#include <optional>
#include <utility>
#include <vector>

#include "core/runtime/json.h"
#include "core/runtime/text.h"
#include "remediator/model/pod_facts.h"

namespace gpuward::remediator {
namespace {

constexpr std::string_view kFailed = "failed: ";
// The record has many jobs.
constexpr std::size_t kLongestKnown = 300;
// A TrainJob owns a JobSet; no known kind nests deeper.
constexpr int kMostOwners = 2;

// The request changed nothing, and a retry would get the same answer until the cause is fixed.
bool is_refused(ErrorKind kind) {
  return kind == ErrorKind::kInvalid || kind == ErrorKind::kForbidden ||
         kind == ErrorKind::kRefused || kind == ErrorKind::kTooLarge;
}

JobProgress settled(std::string words, bool failed) {
  return {.known = words, .words = std::move(words), .is_settled = true, .failed = failed};
}
JobProgress waits(const std::string& known, std::string words) {
  return {.known = known, .words = std::move(words)};
}
JobProgress settled_as_failed(const std::string& words) {
  return settled(to_valid_utf8(std::string(kFailed) + words, kLongestKnown), true);
}

// If `known` is empty, nothing was requested yet. A job that may be suspended is never settled as
// failed here.
JobProgress without_answer(const Error& why, const std::string& known, bool is_late) {
  const bool is_over = known.empty() && (is_late || is_refused(why.kind));
  return is_over ? settled_as_failed(why.message) : waits(known, why.message);
}

struct Owner {
  std::string group, kind, name, uid;
};

std::optional<Owner> controller_of(const kube::CustomObject& object) {
  const Json& owners = member_at(member_at(*object.json, "metadata"), "ownerReferences");
  if (!owners.is_array()) return std::nullopt;
  for (const Json& owner : owners) {
    if (member_at(owner, "controller") != true) continue;
    const std::string api_version = string_at(owner, "apiVersion");
    return Owner{.group = api_version.substr(0, api_version.find('/')),
                 .kind = string_at(owner, "kind"),
                 .name = string_at(owner, "name"),
                 .uid = string_at(owner, "uid")};
  }
  return std::nullopt;
}

// It makes Jobs and changes none.
bool is_cron_job(const Owner& owner) { return owner.group == "batch" && owner.kind == "CronJob"; }

}  // namespace

// The object that can restart the pods: the one that the pods name, or its owner.
struct JobRestarter::Found {
  const JobKind* kind;
  kube::ResourceType type;
  kube::CustomObject object;
  std::string foreign_owner;
};

struct JobRestarter::Target {
  const Found& found;
  const std::string& known;
  const RestartClaim& claim;
};

std::string JobRestarter::known_of(std::string_view how, const Found& found) {
  return std::string(how) + found.object.meta.uid + " " + std::string(found.kind->word) + " " +
         found.type.ns + "/" + found.object.meta.name;
}

// The last read has shown that this Remediation has not suspended the job.
JobProgress JobRestarter::refused_or_waits(const Target& target, const Error& why) {
  return is_refused(why.kind) ? settled_as_failed(why.message) : waits(target.known, why.message);
}

bool is_intended(std::string_view known) { return known.starts_with(kKnownIntended); }

bool is_settled(std::string_view known) {
  return !known.empty() && !is_intended(known) && !known.starts_with(kKnownSuspended) &&
         !known.starts_with(kKnownAsked);
}

bool has_failed(std::string_view known) { return known.starts_with(kFailed); }

Result<JobRestarter::Found> JobRestarter::find(const JobKind& kind, const TornJob& torn) {
  auto answer = Result<kube::CustomObject>(fail(ErrorKind::kNotFound, "no version is served"));
  for (const std::string_view version : kind.versions) {
    if (version.empty()) continue;
    kube::ResourceType type{std::string(kind.group), std::string(version), std::string(kind.plural),
                            torn.ns};
    answer = api_.get_custom(type, torn.name);
    if (answer) return Found{&kind, std::move(type), *std::move(answer), {}};
    if (answer.error().kind != ErrorKind::kNotFound) break;
  }
  return std::unexpected(answer.error());
}

Result<JobRestarter::Found> JobRestarter::find_owning(Found found) {
  for (int depth = 0; depth < kMostOwners; ++depth) {
    const auto owner = controller_of(found.object);
    if (!owner || is_cron_job(*owner)) return found;
    const JobKind* const kind = find_job_kind(owner->group, owner->kind);
    if (kind == nullptr || kind->by != RestartBy::kSuspension) break;
    auto above = find(*kind, {.word = {}, .ns = found.type.ns, .name = owner->name});
    if (!above) return above;
    if (above->object.meta.uid != owner->uid) break;
    found = *std::move(above);
  }
  if (const auto owner = controller_of(found.object))
    found.foreign_owner = owner->kind + " " + owner->name;
  return found;
}

// An object that was already changed is read by its own name, since the job that led to it may be
// gone.
Result<JobRestarter::Found> JobRestarter::find_target(const TornJob& torn,
                                                      const std::string& known) {
  const std::string_view text = known;
  const auto uid = text.find(' ') + 1;
  const auto changed =
      known.empty() ? std::nullopt : parse_torn_job(text.substr(text.find(' ', uid) + 1));
  const JobKind* const kind = changed ? find_job_kind(changed->word) : nullptr;
  if (kind != nullptr) return find(*kind, *changed);
  auto named = find(*find_job_kind(torn.word), torn);
  return named ? find_owning(*std::move(named)) : std::move(named);
}

JobProgress JobRestarter::advance(const std::string& job, const std::string& known,
                                  const RestartClaim& claim, const Permit& permit) {
  const auto torn = parse_torn_job(job);
  const JobKind* const kind = torn ? find_job_kind(torn->word) : nullptr;
  if (kind == nullptr) return settled("left alone: gpuward cannot restart this kind", false);
  if (kind->by == RestartBy::kItself) {
    return settled(
        "left alone: its controller recreates the whole group, unless its "
        "restartPolicy is None",
        false);
  }
  const auto found = find_target(*torn, known);
  if (!found && found.error().kind == ErrorKind::kNotFound)
    return settled("left alone: it is gone", false);
  if (!found) return without_answer(found.error(), known, claim.is_late);
  const Target target{.found = *found, .known = known, .claim = claim};
  auto pods = api_.list_pods(torn->ns, std::string(job_label(torn->word)) + "=" + torn->name);
  if (!pods) return without_pods(target, pods.error(), permit);
  const JobMove move = next_move({.kind = *found->kind,
                                  .object = found->object,
                                  .pods = *std::move(pods),
                                  .foreign_owner = found->foreign_owner},
                                 known, claim);
  return carry_out(target, move, permit);
}

// The job itself says whether this Remediation has suspended it, regardless of the record.
JobProgress JobRestarter::without_pods(const Target& target, const Error& why,
                                       const Permit& permit) {
  const bool is_late = target.claim.is_late;
  if (is_suspended_by(target.found.object, target.claim.mark)) {
    if (!is_late) return waits(target.known, why.message);
    return resume(target, {Move::kResume, "its pods cannot be listed: " + why.message, true},
                  permit);
  }
  if (target.found.kind->by != RestartBy::kSuspension)
    return without_answer(why, target.known, is_late);
  return is_late ? settled_as_failed(why.message) : refused_or_waits(target, why);
}

JobProgress JobRestarter::carry_out(const Target& target, const JobMove& move,
                                    const Permit& permit) {
  switch (move.move) {
    case Move::kWait:
      return waits(target.known, move.words);
    case Move::kSettle:
      return settled(move.words, move.failed);
    case Move::kSuspend:
    case Move::kAsk:
      if (!is_intended(target.known)) return intend(target, permit);
      return move.move == Move::kSuspend ? suspend(target, permit) : ask(target, permit);
    case Move::kResume:
      return resume(target, move, permit);
  }
  return waits(target.known, {});
}

JobProgress JobRestarter::intend(const Target& target, const Permit& permit) {
  if (const auto allowed = permit(); !allowed) return waits(target.known, allowed.error().message);
  return waits(known_of(kKnownIntended, target.found), "is about to be restarted");
}

// If the answer is lost, the annotation shows at the next read whether the patch was applied.
JobProgress JobRestarter::suspend(const Target& target, const Permit& permit) {
  const kube::CustomObject& object = target.found.object;
  const auto done =
      api_.patch_custom(target.found.type, object.meta.name,
                        suspend_patch(*target.found.kind, object, target.claim.mark), permit);
  if (!done) return refused_or_waits(target, done.error());
  return waits(known_of(kKnownSuspended, target.found), "suspended");
}

// If the answer is lost, the pods show at the next read whether Volcano got the Command.
JobProgress JobRestarter::ask(const Target& target, const Permit& permit) {
  const kube::CustomObject& object = target.found.object;
  const auto done =
      api_.create_custom_once({"bus.volcano.sh", "v1alpha1", "commands", target.found.type.ns},
                              restart_command(object, target.claim.mark), permit);
  if (!done && done.error().kind != ErrorKind::kAlreadyExists)
    return refused_or_waits(target, done.error());
  return waits(known_of(kKnownAsked, target.found), "requested a restart from Volcano");
}

JobProgress JobRestarter::resume(const Target& target, const JobMove& move, const Permit& permit) {
  const kube::CustomObject& object = target.found.object;
  const auto done =
      api_.patch_custom(target.found.type, object.meta.name,
                        resume_patch(*target.found.kind, object, target.claim.mark), permit);
  if (!done) {
    return waits(known_of(kKnownSuspended, target.found),
                 "suspended, cannot be resumed yet: " + done.error().message);
  }
  return move.failed ? settled_as_failed("resumed, though " + move.words)
                     : settled("restarted", false);
}

Status JobRestarter::give_back(const std::string& job, const std::string& known,
                               const std::string& mark, const Permit& permit) {
  const auto torn = parse_torn_job(job);
  const JobKind* const kind = torn ? find_job_kind(torn->word) : nullptr;
  if (kind == nullptr || kind->by != RestartBy::kSuspension) return {};
  const auto found = find_target(*torn, known);
  if (!found && found.error().kind == ErrorKind::kNotFound) return {};
  if (!found) return with_context("reading " + job, found.error());
  if (!is_suspended_by(found->object, mark)) return {};
  const auto done = api_.patch_custom(found->type, found->object.meta.name,
                                      resume_patch(*found->kind, found->object, mark), permit);
  if (done || done.error().kind == ErrorKind::kNotFound) return {};
  return with_context("resuming " + job, done.error());
}

}  // namespace gpuward::remediator
