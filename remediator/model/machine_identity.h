// Decides whether two Nodes are the same machine, by what a kubelet reports about the machine
// itself. A Node can be deleted and registered again at any time, but the machine keeps its history
// under any name. docs/machines.md has the table. Pure; used by cluster/machine_history.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gpuward::remediator {

struct MachineIdentity {
  // Name of the node. An instance ID made from this name identifies no machine.
  std::string node;
  std::string instance_id;  // spec.providerID.
  std::string system_uuid;  // status.nodeInfo.systemUUID, from the firmware (DMI).
  std::string boot_id;
};

// Values that two live nodes report at the same time, so that they identify neither machine.
struct SharedIds {
  // system_uuids as returned by normal_uuid(), boot_ids as reported.
  std::set<std::string> system_uuids, boot_ids;
};

enum class Sameness : std::uint8_t {
  kUnknown,        // No sign for the same machine, and no sign against it.
  kDifferent,      // Another machine.
  kSame,           // The same machine.
  kContradictory,  // One sign says the same machine, another sign a different machine.
};

// Compares two machines. An equal boot ID proves the same machine; a different boot ID proves
// nothing. Instance ID and system UUID count for and against it if they identify a machine.
[[nodiscard]] Sameness sameness(const MachineIdentity& was, const MachineIdentity& is,
                                const SharedIds& shared);

// Returns whether spec.providerID identifies a machine. An ID made from the node's name (k3s, kind,
// metal3, GCE) does not, because any machine that gets the name gets that ID too.
[[nodiscard]] bool names_a_machine(std::string_view instance_id, std::string_view node);

// Returns the UUID in lower case; empty if the text is not a UUID, or is a UUID that vendors leave
// in many machines.
[[nodiscard]] std::string normal_uuid(std::string_view system_uuid);

}  // namespace gpuward::remediator
