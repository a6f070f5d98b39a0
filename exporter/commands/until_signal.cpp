#include "exporter/commands/until_signal.h"

#include <thread>

#include "core/runtime/signals.h"
#include "exporter/config/exit_code.h"

namespace gpuward::exporter {

int until_signal(const std::function<int(const std::stop_token&)>& work) {
  Signals signals;
  std::stop_source stopping;
  std::stop_source done;
  int exit_code = kFailed;
  {
    const std::jthread worker([&] {
      exit_code = work(stopping.get_token());
      done.request_stop();
    });
    signals.wait([] {}, {}, done.get_token());
    stopping.request_stop();
  }
  return exit_code;
}

}  // namespace gpuward::exporter
