// Limits the memory of all bodies that a server receives or handles at once. A body takes its bytes
// before they are read, and gives them back once its handler has returned, or the read time-out has
// cut its sender. Nothing waits for bytes: a body that gets none is refused. Used by the exchange.
#pragma once

#include <cstddef>
#include <mutex>

#include "core/http/server/server.h"

namespace gpuward::http {

class BodyBudget {
 public:
  // Bodies up to this size always get their bytes: each connection has so many of its own, and only
  // the rest of the limit is shared. A few large bodies cannot keep small ones out.
  static constexpr std::size_t kSmallBody = 64U << 10U;

  // kInvalid if Limits::max_bodies_bytes has no room for the largest body.
  [[nodiscard]] static Status check(const Limits& limits);
  explicit BodyBudget(const Limits& limits);

 private:
  friend class BodyShare;
  [[nodiscard]] bool take(std::size_t bytes);
  void give_back(std::size_t bytes);

  const bool is_limited_;
  std::mutex mutex_;
  std::size_t left_;  // guarded by mutex_
};

// The bytes of one body. On one thread.
class BodyShare {
 public:
  explicit BodyShare(BodyBudget& budget) : budget_(budget) {}
  ~BodyShare() { budget_.give_back(taken_); }
  BodyShare(const BodyShare&) = delete;
  BodyShare& operator=(const BodyShare&) = delete;

  // From now on the body has `bytes`, more or fewer than before. False: they are not there, and it
  // keeps what it had.
  [[nodiscard]] bool resize(std::size_t bytes);

 private:
  BodyBudget& budget_;
  std::size_t taken_ = 0;
};

}  // namespace gpuward::http
