#include "tests/fakes/kube/world.h"

#include <array>
#include <cstdio>
#include <string_view>

namespace gpuward::fakes {
namespace {

// splitmix64: neighbouring inputs give unrelated numbers.
std::uint64_t scrambled(std::uint64_t number) {
  number += 0x9e3779b97f4a7c15U;
  number = (number ^ (number >> 30U)) * 0xbf58476d1ce4e5b9U;
  number = (number ^ (number >> 27U)) * 0x94d049bb133111ebU;
  return number ^ (number >> 31U);
}

}  // namespace

std::string World::new_uid() {
  const std::uint64_t number = ++uids;
  const std::uint64_t high = scrambled(number);
  const std::uint64_t low = scrambled(high);
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%08x-%04x-4%03x-a%03x-%012llx",
                static_cast<unsigned>(high >> 32U), static_cast<unsigned>(high >> 16U & 0xffffU),
                static_cast<unsigned>(high & 0xfffU), static_cast<unsigned>(low >> 52U),
                static_cast<unsigned long long>(low & 0xffffffffffffU));
  return text.data();
}

std::string World::new_suffix() {
  constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  std::uint64_t number = scrambled(++uids);
  std::string suffix;
  for (int i = 0; i < 5; ++i, number /= kLetters.size())
    suffix += kLetters[number % kLetters.size()];
  return suffix;
}

}  // namespace gpuward::fakes
