#include "remediator/restart/job_restarter.h"

#include <optional>
#include <utility>
#include <vector>

#include "core/runtime/json.h"

namespace gpuward::remediator {
namespace {

constexpr std::string_view kFailed = "failed: ";
// A TrainJob owns a JobSet; nothing is deeper.
constexpr int kMostOwners = 2;

// What the API server will answer again until somebody changes something.
bool is_final(ErrorKind kind) {
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
  return settled(std::string(kFailed) + words, true);
}

// Nothing was asked for where `known` is empty; what was suspended is never given up.
JobProgress without_answer(const Error& why, const std::string& known, bool is_late) {
  const bool is_over = known.empty() && (is_late || is_final(why.kind));
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

// The object that is asked to restart the pods, which may own the one that the pods name.
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

bool is_settled(std::string_view known) {
  return !known.empty() && !known.starts_with(kKnownSuspended) && !known.starts_with(kKnownAsked);
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

JobProgress JobRestarter::advance(const std::string& job, const std::string& known,
                                  const RestartClaim& claim, const Permit& permit) {
  const auto torn = parse_torn_job(job);
  const JobKind* const kind = torn ? find_job_kind(torn->word) : nullptr;
  if (kind == nullptr) return settled("left alone: gpuward knows no means to restart it", false);
  if (kind->by == RestartBy::kItself) {
    return settled(
        "left alone: its controller makes the whole group anew, unless its "
        "restartPolicy is None",
        false);
  }
  auto named = find(*kind, *torn);
  auto found = named ? find_owning(*std::move(named)) : std::move(named);
  if (!found && found.error().kind == ErrorKind::kNotFound)
    return settled("left alone: it is gone", false);
  if (!found) return without_answer(found.error(), known, claim.is_late);
  auto pods = api_.list_pods(torn->ns, std::string(kind->pod_label) + "=" + torn->name);
  if (!pods) return without_answer(pods.error(), known, claim.is_late);
  const JobMove move = next_move({.kind = *found->kind,
                                  .object = found->object,
                                  .pods = *std::move(pods),
                                  .foreign_owner = found->foreign_owner},
                                 known, claim);
  return carry_out({.found = *found, .known = known, .claim = claim}, move, permit);
}

JobProgress JobRestarter::carry_out(const Target& target, const JobMove& move,
                                    const Permit& permit) {
  switch (move.move) {
    case Move::kWait:
      return waits(target.known, move.words);
    case Move::kSettle:
      return settled(move.words, move.failed);
    case Move::kSuspend:
      return suspend(target, permit);
    case Move::kAsk:
      return ask(target, permit);
    case Move::kResume:
      return resume(target, move, permit);
  }
  return waits(target.known, {});
}

// Where the answer is lost, the annotation says at the next look that it was done.
JobProgress JobRestarter::suspend(const Target& target, const Permit& permit) {
  const kube::CustomObject& object = target.found.object;
  const auto done =
      api_.patch_custom(target.found.type, object.meta.name,
                        suspend_patch(*target.found.kind, object, target.claim.mark), permit);
  if (!done) return without_answer(done.error(), {}, false);
  return waits(std::string(kKnownSuspended) + object.meta.uid, "suspended");
}

// Where the answer is lost, its pods say at the next look whether it was done.
JobProgress JobRestarter::ask(const Target& target, const Permit& permit) {
  const kube::CustomObject& object = target.found.object;
  const auto done =
      api_.create_custom_once({"bus.volcano.sh", "v1alpha1", "commands", target.found.type.ns},
                              restart_command(object, target.claim.mark), permit);
  if (!done && done.error().kind != ErrorKind::kAlreadyExists)
    return without_answer(done.error(), {}, false);
  return waits(std::string(kKnownAsked) + object.meta.uid, "Volcano is asked to restart it");
}

JobProgress JobRestarter::resume(const Target& target, const JobMove& move, const Permit& permit) {
  const kube::CustomObject& object = target.found.object;
  const auto done =
      api_.patch_custom(target.found.type, object.meta.name,
                        resume_patch(*target.found.kind, object, target.claim.mark), permit);
  if (!done) {
    return waits(std::string(kKnownSuspended) + object.meta.uid,
                 "suspended, cannot be resumed yet: " + done.error().message);
  }
  return move.failed ? settled_as_failed("resumed, though " + move.words)
                     : settled("restarted", false);
}

Status JobRestarter::give_back(const std::string& job, const std::string& mark,
                               const Permit& permit) {
  const auto torn = parse_torn_job(job);
  const JobKind* const kind = torn ? find_job_kind(torn->word) : nullptr;
  if (kind == nullptr || kind->by != RestartBy::kSuspension) return {};
  auto named = find(*kind, *torn);
  const auto found = named ? find_owning(*std::move(named)) : std::move(named);
  if (!found && found.error().kind == ErrorKind::kNotFound) return {};
  if (!found) return with_context("reading " + job, found.error());
  if (!is_suspended_by(found->object, mark)) return {};
  const auto done = api_.patch_custom(found->type, found->object.meta.name,
                                      resume_patch(*found->kind, found->object, mark), permit);
  if (done || done.error().kind == ErrorKind::kNotFound) return {};
  return with_context("resuming " + job, done.error());
}

}  // namespace gpuward::remediator
