#include "tests/fakes/nvml/fake_nvml.h"

#include <algorithm>
#include <fstream>
#include <utility>

#include "tests/places.inc"

namespace gpuward::fake_nvml {
namespace {

std::string include_line(std::string_view scenario) {
  return std::string("include = ") + GPUWARD_SOURCE_DIR + "/tests/testdata/invented/nvml/" +
         std::string(scenario) + ".conf\n";
}

}  // namespace

FakeNvml::FakeNvml(std::string_view scenario)
    : text_(include_line(scenario)),
      scenario_("GPUWARD_FAKE_NVML", scenario_path()),
      log_("GPUWARD_FAKE_NVML_LOG", (folder_ / "calls.log").string()) {
  write();
}

std::string FakeNvml::library() {
  return std::string(GPUWARD_BIN_DIR) + "/../lib/fakes/libnvidia-ml.so.1";
}

std::string FakeNvml::old_driver_library() {
  return std::string(GPUWARD_BIN_DIR) + "/../lib/fakes/old_driver/libnvidia-ml.so.1";
}

std::string FakeNvml::lasting_library() {
  return std::string(GPUWARD_BIN_DIR) + "/../lib/fakes/stays_mapped/libnvidia-ml.so.1";
}

void FakeNvml::set(std::string_view key, std::string_view value) {
  text_.append(key).append(" = ").append(value).append("\n");
  write();
}

void FakeNvml::play(std::string_view scenario) {
  text_ = include_line(scenario);
  write();
}

void FakeNvml::play_lines(std::string lines) {
  text_ = std::move(lines);
  write();
}

void FakeNvml::raise_xid(int gpu, unsigned code, std::string_view instances) const {
  std::ofstream xids(scenario_path() + ".xids", std::ios::app);
  xids << gpu << ' ' << code << ' ' << instances << '\n';
}

std::vector<std::string> FakeNvml::calls() const {
  std::ifstream log(folder_ / "calls.log");
  std::vector<std::string> lines;
  for (std::string line; std::getline(log, line);) lines.push_back(line);
  return lines;
}

std::size_t FakeNvml::count_calls(std::string_view function) const {
  const std::string start = std::string(function) + " ";
  return static_cast<std::size_t>(std::ranges::count_if(
      calls(), [&](const std::string& line) { return line.starts_with(start); }));
}

// Replaces the file atomically, so that the library never reads half of it.
void FakeNvml::write() const {
  const std::string path = scenario_path();
  std::ofstream(path + ".new") << text_;
  std::filesystem::rename(path + ".new", path);
}

}  // namespace gpuward::fake_nvml
