#include "exporter/gpu/worker/gpu_probe.h"

#include <utility>

namespace gpuward::exporter {

GpuProbe::GpuProbe(std::unique_ptr<WorkerProcess> process, GpuName gpu, Clock::Steady deadline)
    : process_(std::move(process)), gpu_(std::move(gpu)), deadline_(deadline) {
  (void)process_->send(kReadRequest);  // where it is not taken, no answer comes
}

GpuProbe::Outcome GpuProbe::look(Clock::Steady now) {
  (void)process_->read_complaints();
  bool is_broken = false;
  messages_.feed(process_->read_output(), [&](std::string_view line) {
    const auto message = decode_message(line);
    is_broken |= !message;
    has_answered_ |= message && message->report;
  });
  if (has_answered_) return Outcome::kAnswered;
  is_broken |= messages_.has_overflowed() || process_->output() < 0;
  return is_broken || now >= deadline_ ? Outcome::kSilent : Outcome::kWaiting;
}

std::unique_ptr<Reapable> GpuProbe::end() {
  process_->kill();
  return std::move(process_);
}

}  // namespace gpuward::exporter
