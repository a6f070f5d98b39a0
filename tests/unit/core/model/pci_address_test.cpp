#include "core/model/pci_address.h"

#include <gtest/gtest.h>

namespace gpuward {
namespace {

std::string bus_id_of(std::string_view text) {
  const auto address = parse_pci_address(text);
  return address ? address->bus_id() : "refused";
}

TEST(PciAddress, ComesOutTheSameHoweverTheSourceWritesIt) {
  for (const std::string_view text :
       {"0000:4e:00", "0000:4E:00", "0000:4e:00.0", "00000000:4E:00.0", "4e:00.0", "4E:00"}) {
    EXPECT_EQ(bus_id_of(text), "0000:4e:00") << text;
  }
}

TEST(PciAddress, KeepsDomainsOfEightDigits) {
  EXPECT_EQ(bus_id_of("00010001:0a:1f"), "10001:0a:1f");
}

TEST(PciAddress, KeepsDeviceNumbersThatOnlyVirtualGpusHave) {
  EXPECT_EQ(bus_id_of("0002:00:c5"), "0002:00:c5");
}

TEST(PciAddress, NamesTheFunctionOnlyIfItIsKnown) {
  EXPECT_EQ(parse_pci_address("0000:4e:00")->full(), "0000:4e:00");
  EXPECT_EQ(parse_pci_address("0000:4e:00.1")->full(), "0000:4e:00.1");
}

TEST(PciAddress, IsTheSameDeviceWithAndWithoutAFunction) {
  const auto bare = parse_pci_address("0000:4e:00");
  EXPECT_TRUE(bare->same_device(*parse_pci_address("4e:00.0")));
  EXPECT_FALSE(bare->same_device(*parse_pci_address("4f:00.0")));
  EXPECT_FALSE(bare->same_device(*parse_pci_address("0001:4e:00")));
}

TEST(PciAddress, IsRefusedWhenAnyPartIsMissingOrTooLong) {
  for (const std::string_view text :
       {"", ":", "4e", "4e:", ":00", "0000:4e:", "000:4e:00", "123456789:4e:00", "0000:4e:00.",
        "0000:4e:00.00", "0000:4e:000", "0000:4:00", "0000:4e:00:00", "0000:4g:00", "0000:4e:00 ",
        " 0000:4e:00", "-000:4e:00", "0x00:4e:00", "N/A"}) {
    EXPECT_EQ(bus_id_of(text), "refused") << text;
  }
}

}  // namespace
}  // namespace gpuward
