#include "tests/abi/nvml/facts.h"

#include <sstream>

namespace gpuward::abi {
namespace {

void take_line(std::istringstream& words, Facts& facts) {
  std::string kind, name, member;
  words >> kind >> name;
  if (kind == "package") {
    facts.package_version = name;
  } else if (kind == "size") {
    words >> facts.structures[name].bytes;
  } else if (kind == "member") {
    Place place;
    words >> member >> place.offset >> place.bytes;
    facts.structures[name].members.push_back(place);
  } else if (kind == "constant") {
    words >> facts.constants[name];
  } else if (kind == "function") {
    facts.functions.insert(name);
  }
}

}  // namespace

Facts parse_facts(const std::string& text) {
  Facts facts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    take_line(words, facts);
  }
  return facts;
}

}  // namespace gpuward::abi
