#include "core/runtime/signals.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <memory>
#include <system_error>

#include "core/runtime/clock.h"

namespace gpuward {
namespace {

constexpr std::chrono::seconds kTick{1};

// A descriptor that becomes readable when a stop is requested.
class StopDescriptor {
 public:
  explicit StopDescriptor(const std::stop_token& stop)
      : descriptor_(::eventfd(0, EFD_CLOEXEC)),
        on_stop_(std::make_unique<std::stop_callback<Wake>>(stop, Wake{descriptor_})) {
    if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  }
  ~StopDescriptor() {
    on_stop_.reset();
    ::close(descriptor_);
  }
  StopDescriptor(const StopDescriptor&) = delete;
  StopDescriptor& operator=(const StopDescriptor&) = delete;
  [[nodiscard]] int number() const { return descriptor_; }

 private:
  struct Wake {
    int descriptor;
    void operator()() const { static_cast<void>(::eventfd_write(descriptor, 1)); }
  };
  int descriptor_;
  std::unique_ptr<std::stop_callback<Wake>> on_stop_;
};

// Returns the number of the next pending signal; 0 if there is none.
int next_signal(int descriptor) {
  signalfd_siginfo info{};
  if (::read(descriptor, &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return 0;
  return static_cast<int>(info.ssi_signo);
}

}  // namespace

Signals::Signals() {
  sigset_t wanted;
  sigemptyset(&wanted);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&wanted, signal);
  if (const int error = ::pthread_sigmask(SIG_BLOCK, &wanted, nullptr); error != 0) {
    throw std::system_error(error, std::generic_category(), "pthread_sigmask");
  }
  std::signal(SIGPIPE, SIG_IGN);
  descriptor_ = ::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
  if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "signalfd");
}

Signals::~Signals() { ::close(descriptor_); }

int Signals::wait(const std::function<void()>& on_hangup, const std::function<void()>& on_tick,
                  std::stop_token stop) {
  const SystemClock clock;
  const StopDescriptor stopped(stop);
  Clock::Steady next_tick = clock.steady() + kTick;
  while (!stop.stop_requested()) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(next_tick - clock.steady()).count();
    pollfd watched[] = {{descriptor_, POLLIN, 0}, {stopped.number(), POLLIN, 0}};
    static_cast<void>(::poll(watched, 2, left > 0 ? static_cast<int>(left) : 0));
    for (int signal = next_signal(descriptor_); signal != 0; signal = next_signal(descriptor_)) {
      if (signal != SIGHUP) return signal;
      on_hangup();
    }
    if (clock.steady() < next_tick) continue;
    next_tick = clock.steady() + kTick;
    if (on_tick) on_tick();
  }
  return 0;
}

}  // namespace gpuward
