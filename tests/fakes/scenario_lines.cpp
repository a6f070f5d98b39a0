#include "tests/fakes/scenario_lines.h"

#include <cstdio>
#include <fstream>
#include <utility>

namespace gpuward::fakes {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string beside(const std::string& file, const std::string& name) {
  const auto slash = file.rfind('/');
  const bool stands_alone = name.starts_with('/') || slash == std::string::npos;
  return stands_alone ? name : file.substr(0, slash + 1) + name;
}

// "gpu.*.ecc" also removes "gpu.3.ecc.mode".
bool is_under(std::string_view key, std::string_view prefix) {
  if (key.starts_with(prefix)) return true;
  constexpr std::string_view kAnyGpu = "gpu.*.";
  if (!prefix.starts_with(kAnyGpu) || !key.starts_with("gpu.")) return false;
  const auto dot = key.find('.', 4);
  return dot != std::string_view::npos &&
         key.substr(dot + 1).starts_with(prefix.substr(kAnyGpu.size()));
}

}  // namespace

void ScenarioLines::load(const std::string& path, int depth) {
  std::ifstream file(path);
  if (!file || depth > 8) {
    std::fprintf(stderr, "fake: cannot read scenario %s\n", path.c_str());
    return;
  }
  for (std::string line; std::getline(file, line);) take(path, trimmed(line), depth);
}

void ScenarioLines::take(const std::string& path, std::string_view line, int depth) {
  if (line.empty() || line.starts_with('#')) return;
  const auto equals = line.find('=');
  if (equals == std::string_view::npos) {
    std::fprintf(stderr, "fake: %s: no `=` in: %.*s\n", path.c_str(), static_cast<int>(line.size()),
                 line.data());
    return;
  }
  const std::string key(trimmed(line.substr(0, equals)));
  std::string value(trimmed(line.substr(equals + 1)));
  if (key == "include") {
    load(beside(path, value), depth + 1);
  } else if (key == "unset") {
    std::erase_if(lines_, [&](const auto& entry) { return is_under(entry.first, value); });
  } else {
    lines_[key] = std::move(value);
  }
}

const std::string* ScenarioLines::find(const std::string& key) const {
  const auto found = lines_.find(key);
  return found == lines_.end() ? nullptr : &found->second;
}

const std::string* ScenarioLines::of_gpu(std::string_view first, std::size_t gpu,
                                         std::string_view key) const {
  const auto key_of = [&](const std::string& place) {
    return std::string(first).append(".").append(place).append(".").append(key);
  };
  const std::string* const own = find(key_of(std::to_string(gpu)));
  return own != nullptr ? own : find(key_of("*"));
}

std::map<std::string, std::string> ScenarioLines::under(std::string_view prefix) const {
  std::map<std::string, std::string> found;
  for (auto line = lines_.lower_bound(prefix);
       line != lines_.end() && line->first.starts_with(prefix); ++line) {
    found[line->first.substr(prefix.size())] = line->second;
  }
  return found;
}

}  // namespace gpuward::fakes
