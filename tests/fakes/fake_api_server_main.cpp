// gpuward-fake-apiserver: the fake as a program, for `./dev demo` and for manual tests.
//   gpuward-fake-apiserver [--listen 127.0.0.1:0] [--kubeconfig FILE] [--node NAME]... [--kubelet]
// Writes a kubeconfig, prints its URL on one line and serves until SIGINT or SIGTERM. With
// --kubelet, deleted pods disappear at once.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "core/runtime/clock.h"
#include "core/runtime/signals.h"
#include "tests/fakes/fake_api_server.h"
#include "tests/fakes/kube_objects.h"

namespace {

struct Arguments {
  std::string listen = "127.0.0.1:0";
  std::string kubeconfig;
  std::vector<std::string> nodes;
  bool kubelet = false;
  std::string fault;  // the error in them
};

Arguments parse(const std::vector<std::string>& words) {
  Arguments arguments;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool has_value = i + 1 < words.size();
    if (words[i] == "--kubelet") {
      arguments.kubelet = true;
    } else if (words[i] == "--listen" && has_value) {
      arguments.listen = words[++i];
    } else if (words[i] == "--kubeconfig" && has_value) {
      arguments.kubeconfig = words[++i];
    } else if (words[i] == "--node" && has_value) {
      arguments.nodes.push_back(words[++i]);
    } else {
      arguments.fault = "unknown or incomplete argument: " + words[i];
    }
  }
  return arguments;
}

bool write_kubeconfig(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  return static_cast<bool>(file.flush());
}

int run(const Arguments& arguments) {
  using namespace gpuward;
  Signals signals;
  SystemClock clock;
  fakes::FakeApiServerOptions options;
  options.listen_address = arguments.listen;
  if (arguments.kubelet) options.kube.pod_end = fakes::PodEnd::kAtOnce;
  const auto server = fakes::FakeApiServer::start(clock, options);
  if (!server) {
    std::cerr << "gpuward-fake-apiserver: " << server.error().message << "\n";
    return 1;
  }
  for (const std::string& node : arguments.nodes) {
    (*server)->kube().create("/api/v1/nodes", fakes::ready_node(node));
  }
  if (!arguments.kubeconfig.empty() &&
      !write_kubeconfig(arguments.kubeconfig, (*server)->kubeconfig())) {
    std::cerr << "gpuward-fake-apiserver: cannot write " << arguments.kubeconfig << "\n";
    return 1;
  }
  std::cout << (*server)->url() << std::endl;
  signals.wait({});
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = parse({argv + 1, argv + argc});
  if (!arguments.fault.empty()) {
    std::cerr << "gpuward-fake-apiserver: " << arguments.fault
              << "\nusage: gpuward-fake-apiserver [--listen 127.0.0.1:0] [--kubeconfig FILE] "
                 "[--node NAME]... [--kubelet]\n";
    return 2;
  }
  return run(arguments);
}
