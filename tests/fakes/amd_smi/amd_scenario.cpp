#include "tests/fakes/amd_smi/amd_scenario.h"

#include <cstdio>
#include <fstream>
#include <sstream>

namespace gpuward::fake_amd {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string beside(const std::string& file, const std::string& name) {
  const auto slash = file.rfind('/');
  return name.starts_with('/') || slash == std::string::npos ? name
                                                             : file.substr(0, slash + 1) + name;
}

}  // namespace

void AmdScenario::load(const std::string& path, int depth) {
  std::ifstream file(path);
  if (!file || depth > 8) {
    std::fprintf(stderr, "fake amd: cannot read scenario %s\n", path.c_str());
    return;
  }
  for (std::string line; std::getline(file, line);) take(path, trimmed(line), depth);
}

void AmdScenario::take(const std::string& path, std::string_view line, int depth) {
  if (line.empty() || line.starts_with('#')) return;
  const auto equals = line.find('=');
  if (equals == std::string_view::npos) {
    std::fprintf(stderr, "fake amd: %s: no `=` in: %.*s\n", path.c_str(),
                 static_cast<int>(line.size()), line.data());
    return;
  }
  const std::string key(trimmed(line.substr(0, equals)));
  const std::string value(trimmed(line.substr(equals + 1)));
  if (key == "include") {
    load(beside(path, value), depth + 1);
  } else if (key == "unset") {
    std::erase_if(lines_, [&](const auto& entry) { return entry.first.starts_with(value); });
  } else {
    lines_[key] = value;
  }
}

const std::string* AmdScenario::find(const std::string& key) const {
  const auto found = lines_.find(key);
  return found == lines_.end() ? nullptr : &found->second;
}

const std::string* AmdScenario::of_gpu(std::string_view first, std::size_t gpu,
                                       const std::string& key) const {
  const std::string prefix(first);
  const std::string* const own = find(prefix + "." + std::to_string(gpu) + "." + key);
  return own != nullptr ? own : find(prefix + ".*." + key);
}

std::vector<std::string> AmdScenario::gpus() const {
  std::vector<std::string> found;
  const std::string* const list = find("gpus");
  std::istringstream words(list == nullptr ? "" : *list);
  for (std::string word; words >> word;) found.push_back(word);
  return found;
}

std::map<std::string, std::string> AmdScenario::under(const std::string& prefix) const {
  std::map<std::string, std::string> found;
  for (auto line = lines_.lower_bound(prefix);
       line != lines_.end() && line->first.starts_with(prefix); ++line) {
    found[line->first.substr(prefix.size())] = line->second;
  }
  return found;
}

std::map<std::string, std::string> AmdScenario::files(std::size_t gpu) const {
  std::map<std::string, std::string> found = under("gpu.*.");
  for (auto& [path, content] : under("gpu." + std::to_string(gpu) + ".")) {
    found[path] = content;
  }
  return found;
}

}  // namespace gpuward::fake_amd
