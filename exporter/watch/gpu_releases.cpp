#include "exporter/watch/gpu_releases.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/runtime/files.h"

namespace gpuward::exporter {
namespace {

// The requester adds the time that its program has to stop.
constexpr std::chrono::minutes kSlack{1};
constexpr std::string_view kLabelOfNode = "a label of the Node";

}  // namespace

GpuReleases::GpuReleases(const std::filesystem::path& state_folder, std::string boot_id,
                         Store& store, Clock& clock, Log& log)
    : requests_(state_folder),
      boot_id_(std::move(boot_id)),
      store_(store),
      clock_(clock),
      log_(log) {
  requests_.remove_old_answers();
  tick();
}

bool GpuReleases::tick(std::optional<std::string> asking_label) {
  const bool was_wanted = is_wanted();
  read_requests();
  take(std::move(asking_label));
  if (!is_wanted() && !was_wanted) return false;
  if (!is_wanted()) log_.warn("Taking GPUs again: no program asks for them");
  is_released_ = is_released_ && is_wanted();
  publish();
  return is_wanted();
}

void GpuReleases::read_requests() {
  const WallTime now = clock_.wall();
  std::map<std::filesystem::path, Granted> known = std::exchange(granted_, {});
  const std::set<std::filesystem::path> ended = std::exchange(ended_, {});
  for (auto& [path, request] : requests_.read()) {
    if (ended.contains(path)) {  // it could not be removed
      ended_.insert(path);
      continue;
    }
    const auto before = known.find(path);
    const bool is_over = before != known.end() && clock_.steady() >= before->second.ends;
    std::string why = is_over ? "its time is over" : "";
    if (before == known.end())
      why = request ? objection_to(*request, now) : request.error().message;
    if (!why.empty()) {
      end(path, why, before == known.end());
    } else if (before != known.end()) {
      granted_.insert(known.extract(before));
    } else {
      log_.warn(
          "Releasing GPUs",
          {{"who", request->who}, {"why", request->why}, {"until", to_rfc3339(request->until)}});
      const Clock::Steady ends = clock_.steady() + (request->until - now);
      granted_.emplace(std::move(path), Granted{*std::move(request), ends});
    }
  }
}

void GpuReleases::take(std::optional<std::string> asking_label) {
  if (!asking_label) return label_.reset();
  if (!label_) {
    log_.warn("Releasing GPUs", {{"who", std::string(kLabelOfNode)}, {"why", *asking_label}});
    label_.emplace("", clock_.steady());
  }
  label_->text = *std::move(asking_label);
  const bool is_overdue = clock_.steady() - label_->since >= kLongestLabel;
  if (!is_overdue || std::exchange(label_->is_overdue_said, true)) return;
  log_.error("GPUs still released: the label of the Node has not changed back",
             {{"label", label_->text}, {"minutes", std::to_string(kLongestLabel.count())}});
}

std::string GpuReleases::objection_to(const ReleaseRequest& request, WallTime now) const {
  if (request.boot_id != boot_id_) return "it is of another boot";
  if (request.until <= now) return "its time is over";
  if (request.until > now + kLongest + kSlack)
    return "it asks for more than " + std::to_string(kLongest.count()) + " minutes";
  return {};
}

// Removes the file, so that it is not read again. A requester that waits for an answer gets the
// reason.
void GpuReleases::end(const std::filesystem::path& path, const std::string& why, bool is_new) {
  log_.warn(is_new ? "Refusing request for the GPUs" : "Ending release of the GPUs",
            {{"file", path.string()}, {"reason", why}});
  requests_.remove(path);
  ended_.insert(path);
  if (is_new) static_cast<void>(write_file_atomically(RequestFolder::answer_to(path), why, 0600));
}

void GpuReleases::confirm(bool holds_none) {
  if (!is_wanted()) return;
  if (holds_none && !is_released_ && label_)
    log_.info("Released GPUs", {{"who", std::string(kLabelOfNode)}});
  is_released_ = holds_none;
  publish();
  if (!holds_none) return;
  std::string fault;
  for (auto& [path, granted] : granted_) {
    if (granted.is_answered) continue;
    const auto said = write_file_atomically(RequestFolder::answer_to(path), kReleased, 0600);
    granted.is_answered = said.has_value();
    if (!said) fault = said.error().message;
    if (said) log_.info("Released GPUs", {{"who", granted.request.who}});
  }
  if (!fault.empty() && fault != said_fault_)
    log_.error("Failed to answer a request for the GPUs, retrying", {{"error", fault}});
  said_fault_ = fault;
}

void GpuReleases::publish() {
  std::optional<GpuRelease> release;
  for (const auto& [path, granted] : granted_) {
    const bool is_longest = !release || granted.request.until > release->until;
    if (is_longest) release = {granted.request.who, granted.request.why, granted.request.until};
  }
  if (label_) release = {std::string(kLabelOfNode), label_->text, std::nullopt};
  if (release) release->is_released = is_released_;
  store_.update_health([&](Health& health) { health.release = std::move(release); });
}

}  // namespace gpuward::exporter
