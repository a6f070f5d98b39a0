#include "exporter/host/modules.h"

#include <sys/stat.h>

#include <algorithm>

#include "core/runtime/attribute.h"

namespace gpuward::exporter {
namespace {

using Wall = std::chrono::system_clock::time_point;

Wall wall_of(const timespec& time) {
  return Wall(std::chrono::duration_cast<Wall::duration>(std::chrono::seconds(time.tv_sec) +
                                                         std::chrono::nanoseconds(time.tv_nsec)));
}

Module::State state_of(const std::optional<std::string>& text) {
  if (text == "coming") return Module::State::kComing;
  if (text == "going") return Module::State::kGoing;
  return Module::State::kLive;
}

}  // namespace

std::optional<Module> read_module(const HostPaths& host, const std::string& name) {
  const std::filesystem::path folder = host.sys / "module" / name;
  struct stat about{};
  if (::stat(folder.c_str(), &about) != 0 || !S_ISDIR(about.st_mode)) return std::nullopt;
  return Module{name, read_attribute(folder / "version").value_or(""),
                state_of(read_attribute(folder / "initstate")), about.st_ino,
                wall_of(about.st_mtim)};
}

Wall DriverAges::loaded_since(const Module& module, Wall booted) {
  Seen& seen = seen_[module.name];
  if (seen.load != module.load) seen = {module.load, module.seen_since};
  seen.since = std::min(seen.since, module.seen_since);
  return std::max(seen.since, booted);
}

}  // namespace gpuward::exporter
