#include "core/http/server/body_budget.h"

namespace gpuward::http {
namespace {

std::size_t bytes_of_small_bodies(const Limits& limits) {
  return limits.max_connections * BodyBudget::kSmallBody;
}

}  // namespace

Status BodyBudget::check(const Limits& limits) {
  const bool has_room =
      limits.max_bodies_bytes >= limits.max_body_bytes + bytes_of_small_bodies(limits);
  if (limits.max_bodies_bytes == 0 || has_room) return {};
  return fail(ErrorKind::kInvalid,
              "HTTP server: max_bodies_bytes is too small for one body of max_body_bytes");
}

BodyBudget::BodyBudget(const Limits& limits)
    : is_limited_(limits.max_bodies_bytes != 0),
      left_(is_limited_ ? limits.max_bodies_bytes - bytes_of_small_bodies(limits) : 0) {}

bool BodyBudget::take(std::size_t bytes) {
  if (!is_limited_) return true;
  const std::lock_guard lock(mutex_);
  if (bytes > left_) return false;
  left_ -= bytes;
  return true;
}

void BodyBudget::give_back(std::size_t bytes) {
  if (!is_limited_) return;
  const std::lock_guard lock(mutex_);
  left_ += bytes;
}

bool BodyShare::resize(std::size_t bytes) {
  const std::size_t wanted = bytes > BodyBudget::kSmallBody ? bytes : 0;
  if (wanted > taken_ && !budget_.take(wanted - taken_)) return false;
  if (wanted < taken_) budget_.give_back(taken_ - wanted);
  taken_ = wanted;
  return true;
}

}  // namespace gpuward::http
