#include "remediator/model/machine_identity.h"

#include <gtest/gtest.h>

namespace gpuward::remediator {
namespace {

constexpr const char* kUuid = "4c4c4544-0042-3510-8054-b7c04f4a5731";
constexpr const char* kOtherUuid = "4c4c4544-0042-3510-8054-b7c04f4a5732";
constexpr const char* kEc2 = "aws:///eu-west-1a/i-0a1b";
constexpr const char* kOtherEc2 = "aws:///eu-west-1a/i-0a1c";

struct Row {
  const char* what;
  MachineIdentity was, is;
  Sameness expected;
};

MachineIdentity machine(const char* instance, const char* uuid, const char* boot) {
  return {.node = "gpu-7", .instance_id = instance, .system_uuid = uuid, .boot_id = boot};
}

// The same table as in docs/machines.md.
TEST(MachineIdentity, IsComparedByTheTable) {
  const Row rows[] = {
      {"same boot", machine("", "", "b1"), machine("", "", "b1"), Sameness::kSame},
      {"same boot, whatever else", machine(kEc2, kUuid, "b1"), machine("", kOtherUuid, "b1"),
       Sameness::kSame},
      {"another boot alone", machine("", "", "b1"), machine("", "", "b2"), Sameness::kUnknown},
      {"same instance", machine(kEc2, "", "b1"), machine(kEc2, "", "b2"), Sameness::kSame},
      {"other instance", machine(kEc2, "", "b1"), machine(kOtherEc2, "", "b2"),
       Sameness::kDifferent},
      {"same UUID", machine("", kUuid, "b1"), machine("", kUuid, "b2"), Sameness::kSame},
      {"other UUID", machine("", kUuid, "b1"), machine("", kOtherUuid, "b2"), Sameness::kDifferent},
      {"same instance, other UUID", machine(kEc2, kUuid, "b1"), machine(kEc2, kOtherUuid, "b2"),
       Sameness::kContradictory},
      {"other instance, same UUID", machine(kEc2, kUuid, "b1"), machine(kOtherEc2, kUuid, "b2"),
       Sameness::kContradictory},
      {"name for an ID", machine("k3s://gpu-7", "", "b1"), machine("k3s://gpu-7", "", "b2"),
       Sameness::kUnknown},
      {"name for an ID, other UUID", machine("k3s://gpu-7", kUuid, "b1"),
       machine("k3s://gpu-7", kOtherUuid, "b2"), Sameness::kDifferent},
      {"nothing known", machine("", "", ""), machine("", "", ""), Sameness::kUnknown},
  };
  for (const Row& row : rows) EXPECT_EQ(sameness(row.was, row.is, {}), row.expected) << row.what;
}

TEST(MachineIdentity, IsNotProvenByWhatTwoLiveNodesReport) {
  const SharedIds shared{.system_uuids = {kUuid}, .boot_ids = {"b1"}};

  EXPECT_EQ(sameness(machine("", kUuid, "b1"), machine("", kUuid, "b1"), shared),
            Sameness::kUnknown);
}

TEST(MachineIdentity, IsNotNamedByAnIdThatIsMadeOfTheNodesName) {
  EXPECT_TRUE(names_a_machine(kEc2, "gpu-7"));
  EXPECT_TRUE(names_a_machine(kEc2, "i-0a1b.eu-west-1.compute.internal"));
  EXPECT_TRUE(names_a_machine("azure:///subscriptions/s/virtualMachines/0", "aks-gpu-7"));
  EXPECT_TRUE(names_a_machine("openstack:///0b4c7f0e-11a2-4c59-9d3c-1e0c5cf7d1a0", "gpu-7"));

  EXPECT_FALSE(names_a_machine("", "gpu-7"));
  EXPECT_FALSE(names_a_machine("k3s://gpu-7", "gpu-7"));
  EXPECT_FALSE(names_a_machine("kind://docker/kind/kind-worker", "kind-worker"));
  EXPECT_FALSE(names_a_machine("metal3://rack/host-3/gpu-7-abcd", "gpu-7"));
  EXPECT_FALSE(names_a_machine("gce://project/europe-west1-b/gpu-7", "gpu-7"));
  EXPECT_FALSE(names_a_machine("vsphere://GPU-7", "gpu-7.rack.example"));
}

TEST(MachineIdentity, KnowsTheUuidsThatVendorsLeaveInManyMachines) {
  EXPECT_EQ(normal_uuid("4C4C4544-0042-3510-8054-B7C04F4A5731"), kUuid);

  for (const char* text :
       {"", "Not Settable", "00000000-0000-0000-0000-000000000000",
        "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF", "03000200-0400-0500-0006-000700080009",
        "12345678-1234-5678-90AB-CDDEEFAABBCC", "6a4e1d2f0b3c4d5e8f90a1b2c3d4e5f6"}) {
    EXPECT_EQ(normal_uuid(text), "") << text;
  }
}

}  // namespace
}  // namespace gpuward::remediator
