// The code that gets hostile input: one target is linked with each driver (mutations.cpp, and
// fuzzer.cpp under clang).
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace gpuward::fuzz {

// Aborts if the code under test breaks a promise. Not thread-safe.
void check_input(std::string_view input);

// A promise of the code under test.
inline void hold(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

}  // namespace gpuward::fuzz
