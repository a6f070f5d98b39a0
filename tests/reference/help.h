// The --help of a program and of its commands.
#pragma once

#include <compare>
#include <iosfwd>
#include <set>
#include <string>

namespace gpuward::reference {

struct Flag {
  std::string command = {};   // `policy explain`; empty: the program's own
  std::string name = {};      // `--log.level`, or `node` of a word without a name
  std::string argument = {};  // `TEXT`; empty: a switch
  std::string preset = {};    // the value without the flag
  std::string environment = {};

  friend auto operator<=>(const Flag&, const Flag&) = default;
};

// So that a test prints it readably.
void PrintTo(const Flag& flag, std::ostream* out);

// The flags of `program` in the build folder; a command without flags has one entry without a name.
[[nodiscard]] std::set<Flag> flags_of(const std::string& program);

}  // namespace gpuward::reference
