// Whether two Nodes are the same machine, judged by what a kubelet reports about the machine
// itself. A Node can be deleted and registered again at any time; the machine keeps its history
// under any name. Pure; docs/machines.md has the table. Used by records/machine_history.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gpuward::remediator {

struct MachineIdentity {
  std::string node;         // its name: an instance ID made from it adds nothing
  std::string instance_id;  // spec.providerID
  std::string system_uuid;  // status.nodeInfo.systemUUID, from the firmware (DMI)
  std::string boot_id;
};

// Values that two live nodes report at the same time: they identify neither machine.
struct SharedIds {
  std::set<std::string> system_uuids, boot_ids;  // from normal_uuid(); as reported
};

enum class Sameness : std::uint8_t {
  kUnknown,        // no sign for the same machine, and none against it
  kDifferent,      // another machine
  kSame,           // the same machine
  kContradictory,  // one sign says the same machine, another sign a different one
};

// An equal boot ID proves the same machine; a different one proves nothing. Instance ID and system
// UUID count for and against it, if they identify a machine at all.
[[nodiscard]] Sameness sameness(const MachineIdentity& was, const MachineIdentity& is,
                                const SharedIds& shared);

// Whether spec.providerID identifies a machine. It does not if it is made from the node's name
// (k3s, kind, metal3, GCE), because any machine that gets the name gets that ID too.
[[nodiscard]] bool names_a_machine(std::string_view instance_id, std::string_view node);

// Returns the UUID in lower case; empty if the text is not a UUID, or is one that vendors leave in
// many machines.
[[nodiscard]] std::string normal_uuid(std::string_view system_uuid);

}  // namespace gpuward::remediator
