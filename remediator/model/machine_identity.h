// Whether two Nodes stand for the same machine, by what a kubelet says of the machine itself. A
// Node can be deleted and registered again at any time: a machine keeps its history whatever its
// Node is called. Pure; the table is in docs/machines.md. Used by records/machine_history.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gpuward::remediator {

struct MachineIdentity {
  std::string node;         // its name: an instance ID that is made of it says nothing more
  std::string instance_id;  // spec.providerID
  std::string system_uuid;  // status.nodeInfo.systemUUID: what the firmware says (DMI)
  std::string boot_id;
};

// What two live nodes report at the same time: it proves nothing of either.
struct SharedIds {
  std::set<std::string> system_uuids, boot_ids;  // as normal_uuid makes them; as they are
};

enum class Sameness : std::uint8_t {
  kUnknown,        // nothing speaks for it and nothing against it
  kDifferent,      // another machine
  kSame,           // the same machine
  kContradictory,  // one sign says the same, another says another
};

// An equal boot ID proves that it is the same machine, a different one proves nothing. Instance ID
// and system UUID speak for and against it, where they speak at all.
[[nodiscard]] Sameness sameness(const MachineIdentity& was, const MachineIdentity& is,
                                const SharedIds& shared);

// Whether spec.providerID names a machine: not where it is made of the node's name (k3s, kind,
// metal3, GCE), because whatever machine gets the name gets it too.
[[nodiscard]] bool names_a_machine(std::string_view instance_id, std::string_view node);

// In lower case; empty where it is no UUID, or one that vendors leave in many machines.
[[nodiscard]] std::string normal_uuid(std::string_view system_uuid);

}  // namespace gpuward::remediator
