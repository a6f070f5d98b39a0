#include "tests/fakes/amd_smi/amd_tree.h"

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <sstream>

namespace gpuward::fake_amd {
namespace {

namespace fs = std::filesystem;

// `4:16=45`: the number 45 in 16 bits at byte 4.
void put(std::string& bytes, const std::string& word) {
  std::size_t offset = 0;
  unsigned bits = 0;
  unsigned long long number = 0;
  if (std::sscanf(word.c_str(), "%zu:%u=%llu", &offset, &bits, &number) != 3) return;
  for (unsigned i = 0; i < bits / 8 && offset + i < bytes.size(); ++i) {
    bytes[offset + i] = static_cast<char>(number >> (8 * i) & 0xffU);
  }
}

std::string binary_of(std::string_view text) {
  std::istringstream words{std::string(text)};
  std::string bytes_word, word;
  std::size_t size = 0;
  words >> bytes_word >> size;
  std::string bytes(size, '\xff');
  while (words >> word) put(bytes, word);
  return bytes;
}

void write_file(const fs::path& path, const std::string& content) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << content;
}

void link(const fs::path& target, const fs::path& at) {
  fs::create_directories(at.parent_path());
  fs::create_directory_symlink(target, at);
}

}  // namespace

std::string content_of(std::string_view text) {
  if (text.starts_with("bytes ")) return binary_of(text);
  std::string content;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_line_end = text[i] == '\\' && i + 1 < text.size() && text[i + 1] == 'n';
    content += is_line_end ? '\n' : text[i];
    if (is_line_end) ++i;
  }
  return content + "\n";
}

AmdTree::AmdTree(const std::string& path) {
  AmdScenario scenario;
  scenario.load(path);
  gpus_ = scenario.gpus();
  for (const auto& [file, text] : scenario.under("sys.")) {
    write_file(folder_ / "sys" / file, content_of(text));
  }
  fs::create_directories(folder_ / "sys/bus/pci/drivers/amdgpu");
  for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) make_gpu(scenario, gpu);
  if (scenario.find("kfd") != nullptr) remove_kfd();
  if (scenario.find("driver") != nullptr) unload_driver();
}

fs::path AmdTree::folder_of(std::size_t gpu) const {
  return folder_ / "sys/devices/pci0000:00" / gpus_.at(gpu);
}

void AmdTree::make_gpu(const AmdScenario& scenario, std::size_t gpu) const {
  const fs::path folder = folder_of(gpu);
  for (const auto& [path, text] : scenario.files(gpu)) {
    write_file(folder / path, content_of(text));
  }
  const fs::path sys = folder_ / "sys";
  link(folder, sys / "bus/pci/devices" / gpus_[gpu]);
  link(folder, sys / "bus/pci/drivers/amdgpu" / gpus_[gpu]);
  const std::string card = "card" + std::to_string(gpu + 1);
  fs::create_directories(folder / "drm" / card);
  link(folder, folder / "drm" / card / "device");
  link(folder / "drm" / card, sys / "class/drm" / card);
  // A connector, whose `device` is the card.
  link(folder / "drm" / card, folder / "drm" / card / (card + "-DP-1") / "device");
  link(folder / "drm" / card / (card + "-DP-1"), sys / "class/drm" / (card + "-DP-1"));
  if (scenario.find("kfd." + std::to_string(gpu)) == nullptr) make_kfd_node(gpu);
}

void AmdTree::make_kfd_node(std::size_t gpu) const {
  unsigned domain = 0, bus = 0, device = 0;
  std::sscanf(gpus_[gpu].c_str(), "%x:%x:%x", &domain, &bus, &device);
  std::ostringstream text;
  text << "cpu_cores_count 0\nsimd_count 1216\nlocation_id " << (bus << 8U | device << 3U)
       << "\ndomain " << domain << "\ngfx_target_version 90402\n";
  const fs::path nodes = folder_ / "sys/class/kfd/kfd/topology/nodes";
  write_file(nodes / "0/properties", "cpu_cores_count 96\nsimd_count 0\ngfx_target_version 0\n");
  write_file(nodes / std::to_string(gpu + 1) / "properties", text.str());
}

void AmdTree::write(std::size_t gpu, const std::string& path, std::string_view content) const {
  write_file(folder_of(gpu) / path, content_of(content));
}

void AmdTree::remove(std::size_t gpu, const std::string& path) const {
  fs::remove_all(folder_of(gpu) / path);
}

void AmdTree::unload_driver() const {
  fs::remove_all(folder_ / "sys/bus/pci/drivers/amdgpu");
  fs::remove_all(folder_ / "sys/class/drm");
}

void AmdTree::remove_kfd() const { fs::remove_all(folder_ / "sys/class/kfd"); }

}  // namespace gpuward::fake_amd
