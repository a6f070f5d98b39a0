// gpuward-demo, behind `./dev demo`: runs the whole flow on a fake Kubernetes API, prints each
// step, and keeps running until Ctrl-C. Needs no root and no GPU, and changes nothing outside its
// temporary folder.
// `--exit-after-story` ends by itself, for the tests.
#include <cstring>
#include <iostream>
#include <string_view>
#include <thread>

#include "core/runtime/signals.h"
#include "tests/e2e/demo_show.h"

int main(int argc, char** argv) {
  const bool stays = argc == 1;
  if (argc > 2 || (argc == 2 && std::string_view(argv[1]) != "--exit-after-story")) {
    std::cerr << "usage: gpuward-demo [--exit-after-story]\n";
    return 2;
  }
  gpuward::Signals signals;  // before any thread starts
  int exit_code = 0;
  std::stop_source over;
  {
    // The show has its own thread: the processes that it spawns live as long as that thread.
    std::jthread show([&](const std::stop_token& stop) {
      exit_code = gpuward::e2e::run_demo(stays, stop);
      over.request_stop();
    });
    signals.wait({}, {}, over.get_token());
  }
  return exit_code;
}
