#include "remediator/model/machine_identity.h"

#include <algorithm>
#include <array>

#include "core/runtime/text.h"

namespace gpuward::remediator {
namespace {

// Providers that write a name of their own there.
constexpr std::array<std::string_view, 7> kNameSchemes = {
    "k3s://", "kind://", "metal3://", "k0s://", "rke2://", "minikube://", "baremetal://"};

// UUIDs that vendors who do not number their boards leave in firmware, in addition to those whose
// digits are all equal.
constexpr std::array<std::string_view, 5> kPlaceholders = {
    "03000200-0400-0500-0006-000700080009",  // AMI's sample, and the same with its bytes swapped
    "00020003-0004-0005-0006-000700080009", "01234567-8910-1112-1314-151617181920",
    "4c4c4544-0000-2010-8020-80c04f202020",  // Dell, without a service tag
    "fefefefe-fefe-fefe-fefe-fefefefefefe",
};
constexpr std::string_view kCountedUp = "12345678-";  // ...-1234-5678-90ab-cddeefaabbcc and others

bool is_uuid(std::string_view text) {
  constexpr std::string_view kShape = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  return std::ranges::equal(text, kShape, [](char c, char shape) {
    return shape == '-' ? c == '-' : std::isxdigit(static_cast<unsigned char>(c)) != 0;
  });
}

bool is_placeholder(std::string_view uuid) {
  const bool is_one_digit =
      std::ranges::all_of(uuid, [&](char c) { return c == '-' || c == uuid.front(); });
  return is_one_digit || uuid.starts_with(kCountedUp) ||
         std::ranges::find(kPlaceholders, uuid) != kPlaceholders.end();
}

bool has_segment(std::string_view path, std::string_view name) {
  for (std::size_t begin = 0; begin <= path.size() && !name.empty();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    if (path.substr(begin, end - begin) == name) return true;
    begin = end + 1;
  }
  return false;
}

// The result of comparing one sign.
enum class Says : std::uint8_t { kNoWord, kEqual, kUnequal };

Says compare(const std::string& was, const std::string& is) {
  if (was.empty() || is.empty()) return Says::kNoWord;
  return was == is ? Says::kEqual : Says::kUnequal;
}

std::string speaking_instance(const MachineIdentity& machine) {
  return names_a_machine(machine.instance_id, machine.node) ? machine.instance_id : "";
}

std::string speaking_uuid(const MachineIdentity& machine, const SharedIds& shared) {
  const std::string uuid = normal_uuid(machine.system_uuid);
  return shared.system_uuids.contains(uuid) ? "" : uuid;
}

}  // namespace

bool names_a_machine(std::string_view instance_id, std::string_view node) {
  if (instance_id.empty()) return false;
  const std::string id = to_lower(instance_id);
  // In EC2 the last segment is the instance's own ID, and nodes may be named after it.
  if (id.starts_with("aws://")) return true;
  if (std::ranges::any_of(kNameSchemes, [&](auto scheme) { return id.starts_with(scheme); }))
    return false;
  const std::string name = to_lower(node);
  return !has_segment(id, name) && !has_segment(id, name.substr(0, name.find('.')));
}

std::string normal_uuid(std::string_view system_uuid) {
  const std::string uuid = to_lower(system_uuid);
  return is_uuid(uuid) && !is_placeholder(uuid) ? uuid : "";
}

Sameness sameness(const MachineIdentity& was, const MachineIdentity& is, const SharedIds& shared) {
  const bool is_same_boot = compare(was.boot_id, is.boot_id) == Says::kEqual;
  if (is_same_boot && !shared.boot_ids.contains(is.boot_id)) return Sameness::kSame;
  const std::array signs = {compare(speaking_instance(was), speaking_instance(is)),
                            compare(speaking_uuid(was, shared), speaking_uuid(is, shared))};
  const bool speaks_for = std::ranges::find(signs, Says::kEqual) != signs.end();
  const bool speaks_against = std::ranges::find(signs, Says::kUnequal) != signs.end();
  if (speaks_for && speaks_against) return Sameness::kContradictory;
  if (speaks_for) return Sameness::kSame;
  return speaks_against ? Sameness::kDifferent : Sameness::kUnknown;
}

}  // namespace gpuward::remediator
