#include "core/kube/leader_candidate.h"

#include <unistd.h>

#include <array>
#include <optional>
#include <utility>

#include "core/runtime/encoding.h"

namespace gpuward::kube {
namespace {

// client-go waits for retry * (1 + 1.2 * random); Backoff draws from the upper half of its step.
BackoffPolicy between_rounds(const LeaderTimes& times) {
  const auto longest = times.retry * 22 / 10;
  return {.first = longest, .longest = longest, .factor = 1};
}

// A change by another replica does not fail a round; a lease that cannot be created does.
bool is_failure(const LeaseRequest& request, ErrorKind kind) {
  if (kind == ErrorKind::kNotFound) return request.kind != LeaseRequest::Kind::kRead;
  return kind != ErrorKind::kConflict && kind != ErrorKind::kAlreadyExists;
}

}  // namespace

std::string make_leader_identity() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) return "unknown_" + random_hex(16);
  return std::string(host.data()) + "_" + random_hex(16);
}

LeaderCandidate::LeaderCandidate(LeaderOptions options, Api& api, Clock& clock)
    : options_(std::move(options)),
      api_(api),
      clock_(clock),
      state_(options_.ns, options_.name, options_.identity, options_.times),
      jitter_(between_rounds(options_.times), options_.jitter_seed) {}

Status LeaderCandidate::try_to_lead() { return run(state_.begin(clock_.wall())); }

std::chrono::milliseconds LeaderCandidate::pause() {
  return is_leader() ? options_.times.retry : jitter_.next();
}

Status LeaderCandidate::give_back() {
  auto request = state_.give_back(clock_.wall());
  leads_until_ = state_.leads_until();
  return request ? run(std::move(*request)) : Status{};
}

Status LeaderCandidate::run(LeaseRequest request) {
  while (true) {
    const auto asked = clock_.steady();
    const auto answer = send(request);
    auto next = state_.take(request, answer,
                            {.asked = asked, .answered = clock_.steady(), .wall = clock_.wall()});
    leads_until_ = state_.leads_until();
    if (next) {
      request = std::move(*next);
      continue;
    }
    if (answer || !is_failure(request, answer.error().kind)) return {};
    return std::unexpected(answer.error());
  }
}

Result<Lease> LeaderCandidate::send(const LeaseRequest& request) {
  switch (request.kind) {
    case LeaseRequest::Kind::kRead:
      return api_.get_lease(options_.ns, options_.name);
    case LeaseRequest::Kind::kCreate:
      return api_.create_lease(request.lease);
    case LeaseRequest::Kind::kUpdate:
      return api_.update_lease(request.lease);
  }
  return fail(ErrorKind::kInternal, "unknown lease request");
}

}  // namespace gpuward::kube
