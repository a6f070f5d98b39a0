// Feeds a target real inputs and then changed ones, always the same for a seed:
//   SOMETHING_mutations CORPUS ROUNDS [SEED]      replay, then that many mutations; CORPUS is a
//   file
//                                                 of lines, a message in hexadecimal (.hex) or a
//                                                 folder of files
//   SOMETHING_mutations CORPUS --write FOLDER     one file an input, as libFuzzer wants its first
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/fuzz/target.h"

namespace {

using Lines = std::vector<std::string>;

std::string read_whole(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string read_hex(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::string bytes;
  for (char high = 0, low = 0; in >> high >> low;) {
    bytes += static_cast<char>(std::strtol(std::string{high, low}.c_str(), nullptr, 16));
  }
  return bytes;
}

// The lines of a file; for a folder, the whole text of each file, sorted by name.
Lines read_lines(const std::filesystem::path& path) {
  if (path.extension() == ".hex") return {read_hex(path)};
  Lines lines;
  if (std::filesystem::is_directory(path)) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(path)) files.push_back(entry);
    std::ranges::sort(files);
    for (const auto& file : files) lines.push_back(read_whole(file));
    return lines;
  }
  std::ifstream in(path, std::ios::binary);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

class Mutator {
 public:
  Mutator(const Lines& lines, std::uint64_t seed) : lines_(lines), random_(seed) {}

  std::string next() {
    std::string text = pick_line();
    for (auto changes = below(6); changes > 0; --changes) change(text);
    return text;
  }

 private:
  std::size_t below(std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_);
  }
  const std::string& pick_line() { return lines_[below(lines_.size())]; }
  char any_byte() { return static_cast<char>(below(256)); }

  void change(std::string& text) {
    const auto at = below(text.size() + 1);
    switch (below(7)) {
      case 0:
        text.insert(at, 1, any_byte());
        return;
      case 1:
        text.erase(at, below(8) + 1);
        return;
      case 2:
        text.resize(at);
        return;
      case 3:
        text.insert(at, pick_line());
        return;
      case 4:
        text.insert(at, "\n");
        return;
      case 5:
        text.insert(at, text.substr(below(text.size() + 1), below(40)));
        return;
      default:
        if (at < text.size()) text[at] = any_byte();
    }
  }

  const Lines& lines_;
  std::mt19937_64 random_;
};

void write_seeds(const Lines& lines, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::ofstream(folder / ("input_" + std::to_string(i + 1)), std::ios::binary) << lines[i];
  }
}

std::uint64_t number(const char* text, std::uint64_t fallback) {
  std::uint64_t value = fallback;
  const std::string_view view{text};
  std::from_chars(view.data(), view.data() + view.size(), value);
  return value;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: SOMETHING_mutations CORPUS ROUNDS [SEED] | CORPUS --write FOLDER\n", stderr);
    return 2;
  }
  const auto lines = read_lines(argv[1]);
  if (lines.empty() || lines.front().empty()) {
    std::fprintf(stderr, "%s: no inputs\n", argv[1]);
    return 1;
  }
  if (std::string_view{argv[2]} == "--write" && argc > 3) {
    write_seeds(lines, argv[3]);
    return 0;
  }
  for (const auto& line : lines) gpuward::fuzz::check_input(line);
  const auto rounds = number(argv[2], 0);
  Mutator mutator(lines, argc > 3 ? number(argv[3], 1) : 1);
  for (std::uint64_t i = 0; i < rounds; ++i) gpuward::fuzz::check_input(mutator.next());
  std::printf("%zu inputs and %llu mutations\n", lines.size(),
              static_cast<unsigned long long>(rounds));
  return 0;
}
