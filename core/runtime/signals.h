// SIGTERM, SIGINT and SIGHUP as plain calls on one thread (signalfd); SIGPIPE is ignored. main()
// creates it once, before any thread starts, so that every thread inherits the mask. A child
// process inherits it too: code that spawns one sets an empty mask for it
// (posix_spawnattr_setsigmask).
#pragma once

#include <functional>
#include <stop_token>

namespace gpuward {

class Signals {
 public:
  Signals();   // blocks the signals for this thread and those it starts
  ~Signals();  // they stay blocked: a second SIGTERM must not cut an orderly stop short
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // Blocks until SIGTERM or SIGINT (returns its number). Meanwhile it calls on_hangup for each
  // SIGHUP and on_tick about once a second (may be empty). `stop` ends it too (returns 0).
  int wait(const std::function<void()>& on_hangup, const std::function<void()>& on_tick = {},
           std::stop_token stop = {});

 private:
  int descriptor_ = -1;
};

}  // namespace gpuward
