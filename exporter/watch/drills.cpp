#include "exporter/watch/drills.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/runtime/files.h"

namespace gpuward::exporter {
namespace {

std::string text_of(const Finding& finding) {
  return finding.check + " " + finding.code + " on " + finding.pci_bus_id + ", severity " +
         std::string(to_string(finding.severity));
}

bool is_same_fault(const Finding& a, const Finding& b) {
  return a.check == b.check && a.code == b.code && a.pci_bus_id == b.pci_bus_id;
}

}  // namespace

Drills::Drills(const std::filesystem::path& state_folder, Store& store, const CurrentPolicy& policy,
               Clock& clock, Log& log)
    : folder_path_(drill_folder(state_folder)),
      folder_(folder_path_),
      store_(store),
      policy_(policy),
      clock_(clock),
      log_(log) {
  std::error_code error;
  std::filesystem::remove_all(folder_path_, error);
}

void Drills::tick() {
  const RequestFolder::Taken taken = folder_.take();
  for (const RequestFolder::Request& request : taken.requests) {
    const auto done = carry_out(request.text);
    const std::string answer = done ? *done : "refused: " + done.error().message;
    if (!done) log_.warn("Drill refused", {{"error", done.error().message}});
    if (const auto said =
            write_file_atomically(RequestFolder::answer_to(request.path), answer, 0600);
        !said)
      log_.warn("Failed to write the answer to a drill request", {{"error", said.error().message}});
  }
  const auto ended = std::erase_if(
      running_, [now = clock_.steady()](const Running& one) { return now >= one.ends; });
  if (ended != 0) {
    log_.info("Drill expired", {{"count", std::to_string(ended)}});
    publish();
  }
}

void Drills::clear(const ClearRequest& request) {
  const auto ended = std::erase_if(
      running_, [&](const Running& one) { return request.matches(one.drill.finding); });
  if (ended == 0) return;
  log_.info("Drill ended because its finding was cleared", {{"count", std::to_string(ended)}});
  publish();
}

Result<std::string> Drills::carry_out(const std::string& text) {
  const auto request = parse_drill_request(text);
  if (!request) return std::unexpected(request.error());
  return request->kind == DrillKind::kEnd ? end(request->gpu) : start(*request);
}

Result<std::string> Drills::start(const DrillRequest& request) {
  const Snapshot snapshot = store_.snapshot();
  const auto gpu = named_gpu(snapshot.gpus, request.gpu);
  if (!gpu) return std::unexpected(gpu.error());
  const WallTime now = clock_.wall();
  auto finding = injected_finding(request, *gpu, snapshot, *policy_.get(), now);
  if (!finding) return std::unexpected(finding.error());
  const std::string what = text_of(*finding);
  // A repeated drill restarts its time.
  std::erase_if(running_,
                [&](const Running& one) { return is_same_fault(one.drill.finding, *finding); });
  if (running_.size() >= kMost)
    return fail(ErrorKind::kOverloaded,
                std::to_string(kMost) + " drills are already running on this node");
  const WallTime until = now + request.lasts;
  running_.push_back({.drill = {.finding = *std::move(finding), .until = until},
                      .ends = clock_.steady() + request.lasts});
  publish();
  log_.warn("Drill started", {{"what", what}, {"until", to_rfc3339(until)}});
  return "drill started: " + what + ", until " + to_rfc3339(until);
}

Result<std::string> Drills::end(const std::string& gpu) {
  std::string bus_id;
  if (!gpu.empty()) {
    const auto named = named_gpu(store_.gpus(), gpu);
    if (!named) return std::unexpected(named.error());
    bus_id = named->pci.bus_id();
  }
  const auto ended = std::erase_if(running_, [&](const Running& one) {
    return bus_id.empty() || one.drill.finding.pci_bus_id == bus_id;
  });
  if (ended == 0)
    return fail(ErrorKind::kNotFound,
                "no drill is running on " + (bus_id.empty() ? std::string("this node") : bus_id));
  publish();
  log_.info("Drill ended on request", {{"count", std::to_string(ended)}});
  return "drills ended: " + std::to_string(ended);
}

void Drills::publish() {
  std::vector<Drill> drills;
  for (const Running& one : running_) drills.push_back(one.drill);
  store_.set_drills(std::move(drills));
}

}  // namespace gpuward::exporter
