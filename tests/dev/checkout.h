// A folder with `./dev` in it on a made-up machine: apt, cmake, ctest, git and tests/neighbours are
// scripts that record their arguments and behave as a test sets them. Used by the tests of `./dev`.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace gpuward::dev {

class Checkout {
 public:
  // All its neighbours exist, so that nothing is downloaded or compiled.
  Checkout();

  // Runs `./dev` with these arguments. The environment controls the scripts:
  //   MISSING        packages that are not installed
  //   UNINSTALLABLE  a package that apt-get cannot install
  //   SKIPPED        why a test was skipped
  //   CHANGED        changes that are not committed
  //   TESTS_END_WITH the exit code of ctest
  [[nodiscard]] support::Process::Outcome dev(std::vector<std::string> arguments,
                                              std::map<std::string, std::string> env = {}) const;
  // All calls of the scripts so far, one a line.
  [[nodiscard]] std::string asked() const;
  [[nodiscard]] const std::filesystem::path& path() const { return folder_.path(); }
  // Writes a script into the folder.
  void script(const std::string& path, const std::string& body) const;

 private:
  support::TempDir folder_;
};

}  // namespace gpuward::dev
