// A /sys as amdgpu fills it, made from a scenario (amd_scenario.h) in its own folder: the PCI bus,
// the driver's folder, DRM cards with connectors, KFD's topology. Used by the tests of code that
// reads AMD GPUs from sysfs.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "tests/fakes/amd_smi/amd_scenario.h"
#include "tests/support/temp_dir.h"

namespace gpuward::fake_amd {

class AmdTree {
 public:
  // `scenario`: the path of its file.
  explicit AmdTree(const std::string& scenario);

  [[nodiscard]] std::string sys() const { return (folder_ / "sys").string(); }
  // Replaces a file in the GPU's folder; `content` as in a scenario.
  void write(std::size_t gpu, const std::string& path, std::string_view content) const;
  void remove(std::size_t gpu, const std::string& path) const;
  void unload_driver() const;
  void remove_kfd() const;

 private:
  [[nodiscard]] std::filesystem::path folder_of(std::size_t gpu) const;
  void make_gpu(const AmdScenario& scenario, std::size_t gpu) const;
  void make_kfd_node(std::size_t gpu) const;

  support::TempDir folder_;
  std::vector<std::string> gpus_;
};

// The bytes for a scenario's text.
[[nodiscard]] std::string content_of(std::string_view text);

}  // namespace gpuward::fake_amd
