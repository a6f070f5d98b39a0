#include "tests/fakes/nccl/scene.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace gpuward::fake_nccl {
namespace {

Scene read_scene() {
  Scene scene;
  const char* const told = std::getenv("GPUWARD_FAKE_NCCL");
  std::istringstream words(told == nullptr ? "" : told);
  for (std::string word; words >> word;) {
    const auto equals = word.find('=');
    const std::string key = word.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (key == "folder") scene.folder = value;
    if (key == "fault") scene.fault = value;
    if (key == "gpus") scene.gpus = std::stoi(value);
    if (key == "version") scene.version = std::stoi(value);
    if (key == "free_mib") scene.free_mib = std::stoull(value);
  }
  return scene;
}

}  // namespace

const Scene& scene() {
  static const Scene kScene = read_scene();
  return kScene;
}

void leave(const std::string& name, const std::string& text) {
  const auto path = std::filesystem::path(scene().folder) / name;
  const std::string half = path.string() + "." + std::to_string(::getpid());
  std::ofstream(half) << text;
  std::filesystem::rename(half, path);
}

std::optional<std::string> find(const std::string& name) {
  std::ifstream file(std::filesystem::path(scene().folder) / name);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace gpuward::fake_nccl
