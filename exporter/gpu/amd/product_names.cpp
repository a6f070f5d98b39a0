#include "exporter/gpu/amd/product_names.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <string_view>

namespace gpuward::exporter::amd {
namespace {

struct Product {
  std::uint64_t device;
  std::string_view name;
};

// pci.ids, vendor 1002.
constexpr Product kProducts[] = {
    {0x738c, "AMD Instinct MI100"},  {0x7408, "AMD Instinct MI250X"},
    {0x740c, "AMD Instinct MI250X"}, {0x740f, "AMD Instinct MI210"},
    {0x74a0, "AMD Instinct MI300A"}, {0x74a1, "AMD Instinct MI300X"},
    {0x74a2, "AMD Instinct MI308X"}, {0x74a5, "AMD Instinct MI325X"},
    {0x75a0, "AMD Instinct MI350X"}, {0x75a3, "AMD Instinct MI355X"},
};

}  // namespace

std::string product_name(std::uint64_t device) {
  const auto* const found = std::ranges::find(kProducts, device, &Product::device);
  if (found != std::end(kProducts)) return std::string(found->name);
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), device, 16).ptr;
  return "AMD GPU 0x" + std::string(digits.data(), end);
}

}  // namespace gpuward::exporter::amd
