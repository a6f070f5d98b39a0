#include "tests/fakes/nvml/scenario.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace gpuward::fake_nvml {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string beside(const std::string& file, const std::string& name) {
  if (name.starts_with('/')) return name;
  const auto slash = file.rfind('/');
  return slash == std::string::npos ? name : file.substr(0, slash + 1) + name;
}

// "gpu.*.ecc" forgets "gpu.3.ecc.mode" too.
bool is_under(std::string_view key, std::string_view prefix) {
  if (key.starts_with(prefix)) return true;
  constexpr std::string_view kAnyGpu = "gpu.*.";
  if (!prefix.starts_with(kAnyGpu) || !key.starts_with("gpu.")) return false;
  const auto dot = key.find('.', 4);
  return dot != std::string_view::npos &&
         key.substr(dot + 1).starts_with(prefix.substr(kAnyGpu.size()));
}

}  // namespace

void Scenario::load(const std::string& path, int depth) {
  std::ifstream file(path);
  if (!file || depth > 8) {
    std::fprintf(stderr, "fake nvml: cannot read scenario %s\n", path.c_str());
    return;
  }
  for (std::string line; std::getline(file, line);) take(path, trimmed(line), depth);
}

void Scenario::take(const std::string& path, std::string_view line, int depth) {
  if (line.empty() || line.starts_with('#')) return;
  const auto equals = line.find('=');
  if (equals == std::string_view::npos) {
    std::fprintf(stderr, "fake nvml: %s: no `=` in: %.*s\n", path.c_str(),
                 static_cast<int>(line.size()), line.data());
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

const std::string* Scenario::find(const std::string& key) const {
  const auto found = lines_.find(key);
  return found == lines_.end() ? nullptr : &found->second;
}

Value Scenario::of(const std::string& key) const {
  const std::string* const text = find(key);
  if (text == nullptr) return {kFakeNotSupported, {}, false};
  if (text->starts_with('!')) return {std::atoi(text->c_str() + 1), {}};
  return {kFakeSuccess, *text};
}

Value Scenario::of_gpu(int gpu, const std::string& key) const {
  const std::string own = "gpu." + std::to_string(gpu) + "." + key;
  return of(find(own) != nullptr ? own : "gpu.*." + key);
}

std::optional<long long> to_number(const std::string& text) {
  const bool is_hex = text.starts_with("0x");
  char* end = nullptr;
  errno = 0;
  // As unsigned first: NVML's sentinels fill all 64 bits.
  const long long value =
      text.starts_with('-')
          ? std::strtoll(text.c_str(), &end, 10)
          : static_cast<long long>(std::strtoull(text.c_str(), &end, is_hex ? 16 : 10));
  if (text.empty() || *end != '\0' || errno != 0) return std::nullopt;
  return value;
}

}  // namespace gpuward::fake_nvml
