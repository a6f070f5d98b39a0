#include "exporter/host/machine.h"

#include <gtest/gtest.h>

#include "tests/support/host_tree.h"

namespace gpuward::exporter {
namespace {

constexpr const char* kUuid = "sys/class/dmi/id/product_uuid";
constexpr const char* kProduct = "sys/class/dmi/id/product_name";

TEST(Machine, IsWhatTheFirmwareSays) {
  support::HostTree host;
  host.write(kUuid, "4C4C4544-0057-3410-8053-C4C04F465433\n").write(kProduct, "PowerEdge XE9680\n");
  const Machine machine = read_machine(host.paths());
  EXPECT_EQ(machine.system_uuid, "4c4c4544-0057-3410-8053-c4c04f465433");
  EXPECT_EQ(machine.product_name, "PowerEdge XE9680");
}

TEST(Machine, IsNotKnownIfTheFirmwareHasNoUuidOrOneThatManyMachinesShare) {
  support::HostTree host;
  EXPECT_EQ(read_machine(host.paths()), Machine());
  for (const char* const uuid :
       {"00000000-0000-0000-0000-000000000000", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
        "03000200-0400-0500-0006-000700080009"}) {
    host.write(kUuid, uuid);
    EXPECT_EQ(read_machine(host.paths()).system_uuid, "") << uuid;
  }
}

}  // namespace
}  // namespace gpuward::exporter
