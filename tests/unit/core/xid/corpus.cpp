#include "tests/unit/core/xid/corpus.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "tests/places.inc"

namespace gpuward::xid::test {
namespace {

std::string read_file(const std::string& name) {
  const std::string path = std::string{GPUWARD_SOURCE_DIR} + "/tests/testdata/kernel_log/" + name;
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// Only the last field contains commas and quotes, and no test reads it.
std::vector<std::string> split(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> fields;
  for (std::string field; std::getline(in, field, ',');) fields.push_back(field);
  return fields;
}

std::vector<std::string> read_lines(const std::string& name) {
  std::istringstream in(read_file(name));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

std::vector<LabelledLine> load_corpus() {
  const auto lines = read_lines("corpus.txt");
  const auto labels = read_lines("corpus_labels.csv");
  std::vector<LabelledLine> corpus;
  for (std::size_t i = 1; i < labels.size(); ++i) {
    const auto field = split(labels[i]);
    const auto number = static_cast<std::size_t>(std::stoul(field.at(0)));
    corpus.push_back({number, lines.at(number - 1), field.at(1), field.at(2), field.at(3),
                      field.at(4), field.at(5), field.at(7), field.at(8)});
  }
  return corpus;
}

}  // namespace gpuward::xid::test
