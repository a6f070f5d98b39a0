#include "tests/fakes/amd_smi/amd_scenario.h"

#include <sstream>

namespace gpuward::fake_amd {

std::vector<std::string> AmdScenario::gpus() const {
  std::vector<std::string> found;
  const std::string* const list = find("gpus");
  std::istringstream words(list == nullptr ? "" : *list);
  for (std::string word; words >> word;) found.push_back(word);
  return found;
}

std::map<std::string, std::string> AmdScenario::files(std::size_t gpu) const {
  std::map<std::string, std::string> found = under("gpu." + std::to_string(gpu) + ".");
  found.merge(under("gpu.*."));
  return found;
}

}  // namespace gpuward::fake_amd
