// What a program says of itself with --help, with the commands below it.
#pragma once

#include <compare>
#include <iosfwd>
#include <set>
#include <string>

namespace gpuward::reference {

struct Flag {
  std::string command = {};   // `policy explain`; empty: of the program itself
  std::string name = {};      // `--log.level`, or `node` of a word without a name
  std::string argument = {};  // `TEXT`; empty: a switch
  std::string preset = {};    // what it is where it is not given
  std::string environment = {};

  friend auto operator<=>(const Flag&, const Flag&) = default;
};

// So that a test says which.
void PrintTo(const Flag& flag, std::ostream* out);

// Of build folder's `program`; a command without flags has one entry without a name.
[[nodiscard]] std::set<Flag> flags_of(const std::string& program);

}  // namespace gpuward::reference
