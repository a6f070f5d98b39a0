#include <algorithm>

#include "core/runtime/text.h"
#include "exporter/pods/pod_resources.h"
#include "exporter/pods/wire.h"
#include "tests/fuzz/target.h"

namespace gpuward::fuzz {
namespace {

void check_fields(std::string_view input) {
  exporter::WireReader reader(input);
  std::size_t fields = 0;
  while (const auto field = reader.next()) {
    hold(++fields <= input.size(), "a field takes at least a byte");
    hold(field->number != 0, "a field has a number");
    hold(field->bytes.empty() ||
             (field->bytes.data() > input.data() &&
              field->bytes.data() + field->bytes.size() <= input.data() + input.size()),
         "bytes lie within the message");
  }
  hold(!reader.next(), "the end is the end");
}

void check_names(const exporter::Workload& user) {
  for (const std::string* name : {&user.ns, &user.pod, &user.container}) {
    hold(name->size() <= 253 && is_valid_utf8(*name), "a name is short and text");
  }
}

}  // namespace

void check_input(std::string_view input) {
  check_fields(input);
  const auto workloads = exporter::parse_pod_resources(input);
  if (!workloads) return;
  hold(workloads->is_known, "what could be read is known");
  hold(workloads->by_device.size() <= 4096, "devices are bounded");
  for (const auto& [device, users] : workloads->by_device) {
    hold(!device.empty() && !users.empty(), "a device has a name and a user");
    hold(std::ranges::is_sorted(users), "users are in order");
    std::ranges::for_each(users, check_names);
  }
}

}  // namespace gpuward::fuzz
