// Feeds the reader of the kubelet's answers a real one and then changed ones, always the same for a
// seed:
//   pod_resources_mutations SAMPLE ROUNDS [SEED]   SAMPLE: a message in hexadecimal
//   pod_resources_mutations SAMPLE --write FILE    its bytes, as libFuzzer wants its first input
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>

#include "tests/fuzz/pod_resources_target.h"

namespace {

std::string read_hex(const char* path) {
  std::ifstream in(path);
  std::string bytes;
  for (char high = 0, low = 0; in >> high >> low;) {
    bytes += static_cast<char>(std::strtol(std::string{high, low}.c_str(), nullptr, 16));
  }
  return bytes;
}

class Mutator {
 public:
  Mutator(const std::string& sample, std::uint64_t seed) : sample_(sample), random_(seed) {}

  std::string next() {
    std::string text = sample_;
    for (auto changes = 1 + below(5); changes > 0; --changes) change(text);
    return text;
  }

 private:
  std::size_t below(std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_);
  }

  void change(std::string& text) {
    const auto at = below(text.size() + 1);
    switch (below(5)) {
      case 0:
        text.insert(at, 1, static_cast<char>(below(256)));
        return;
      case 1:
        text.erase(at, below(16) + 1);
        return;
      case 2:
        text.resize(at);
        return;
      case 3:
        text.insert(at, text.substr(below(text.size() + 1), below(80)));
        return;
      default:
        if (at < text.size()) text[at] = static_cast<char>(below(256));
    }
  }

  const std::string& sample_;
  std::mt19937_64 random_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: pod_resources_mutations SAMPLE ROUNDS [SEED] | SAMPLE --write FILE\n",
               stderr);
    return 2;
  }
  const std::string sample = read_hex(argv[1]);
  if (sample.empty()) {
    std::fprintf(stderr, "%s: no message\n", argv[1]);
    return 1;
  }
  if (std::string(argv[2]) == "--write" && argc > 3) {
    std::ofstream(argv[3], std::ios::binary) << sample;
    return 0;
  }
  gpuward::fuzz::check_pod_resources(sample);
  const long rounds = std::strtol(argv[2], nullptr, 10);
  Mutator mutator(sample, argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1);
  for (long i = 0; i < rounds; ++i) gpuward::fuzz::check_pod_resources(mutator.next());
  std::printf("one message and %ld mutations\n", rounds);
  return 0;
}
