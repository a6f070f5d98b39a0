#include "remediator/tell/page/readiness.h"

namespace gpuward::remediator {

Readiness::Readiness(kube::Api& api, const ClusterView& view, Clock& clock,
                     std::chrono::milliseconds every)
    : api_(api), view_(view), clock_(clock), every_(every) {
  thread_ = std::jthread([this](const std::stop_token& stop) {
    do {
      answers_ = api_.ready().has_value();
    } while (clock_.sleep_for(every_, stop));
  });
}

std::optional<std::string> Readiness::objection() const {
  if (!answers_) return "the API server does not answer";
  if (!view_.informers().synced()) return "nodes and remediations have not been listed yet";
  return std::nullopt;
}

}  // namespace gpuward::remediator
