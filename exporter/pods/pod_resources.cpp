#include "exporter/pods/pod_resources.h"

#include <algorithm>
#include <string>

#include "core/runtime/text.h"
#include "exporter/pods/device_id.h"
#include "exporter/pods/wire.h"

namespace gpuward::exporter {
namespace {

// A node has some ten GPUs, each split into seven at most or shared by some hundred pods.
constexpr std::size_t kMostDevices = 4096;
constexpr std::size_t kMostUses = 65'536;
constexpr std::size_t kLongestName = 253;  // of any Kubernetes object

std::string name_from(std::string_view bytes) { return to_valid_utf8(bytes, kLongestName); }

class Parser {
 public:
  // ListPodResourcesResponse
  Result<Workloads> parse(std::string_view message) {
    each(message, [this](std::uint32_t number, std::string_view bytes) {
      if (number == 1) read_pod(bytes);
    });
    if (is_broken_) return fail(ErrorKind::kInvalid, "not a pod-resources message");
    if (is_too_large_) return fail(ErrorKind::kTooLarge, "more GPU devices than a node can have");
    for (auto& [device, users] : workloads_.by_device) {
      std::ranges::sort(users);
      users.erase(std::ranges::unique(users).begin(), users.end());
    }
    workloads_.is_known = true;
    return std::move(workloads_);
  }

 private:
  template <typename Take>
  void each(std::string_view message, const Take& take) {
    WireReader reader(message);
    while (const auto field = reader.next()) {
      if (field->type == WireType::kBytes) take(field->number, field->bytes);
    }
    is_broken_ |= reader.is_broken();
  }

  // PodResources. Fields may come in any order, so the names are read first.
  void read_pod(std::string_view message) {
    user_ = {};
    each(message, [this](std::uint32_t number, std::string_view bytes) {
      if (number == 1) user_.pod = name_from(bytes);
      if (number == 2) user_.ns = name_from(bytes);
    });
    each(message, [this](std::uint32_t number, std::string_view bytes) {
      if (number == 3) read_container(bytes);
    });
  }

  // ContainerResources
  void read_container(std::string_view message) {
    user_.container.clear();
    each(message, [this](std::uint32_t number, std::string_view bytes) {
      if (number == 1) user_.container = name_from(bytes);
    });
    each(message, [this](std::uint32_t number, std::string_view bytes) {
      if (number == 2) read_devices(bytes);
      if (number == 5) read_claims(bytes);
    });
  }

  // ContainerDevices
  void read_devices(std::string_view message) {
    std::string_view resource;
    each(message, [&](std::uint32_t number, std::string_view bytes) {
      if (number == 1) resource = bytes;
    });
    each(message, [&](std::uint32_t number, std::string_view bytes) {
      if (number == 2) add(device_id_of_resource(resource, name_from(bytes)));
    });
  }

  // DynamicResource
  void read_claims(std::string_view message) {
    each(message, [this](std::uint32_t number, std::string_view bytes) {
      if (number == 4) read_claim(bytes);
    });
  }

  // ClaimResource
  void read_claim(std::string_view message) {
    std::string_view driver, device;
    each(message, [&](std::uint32_t number, std::string_view bytes) {
      if (number == 2) driver = bytes;
      if (number == 4) device = bytes;
    });
    add(device_id_of_claim(driver, name_from(device)));
  }

  void add(const std::optional<std::string>& device) {
    if (!device) return;
    const bool is_new = !workloads_.by_device.contains(*device);
    is_too_large_ |= (is_new && workloads_.by_device.size() >= kMostDevices) || uses_ >= kMostUses;
    if (is_too_large_) return;
    ++uses_;
    workloads_.by_device[*device].push_back(user_);
  }

  Workloads workloads_;
  Workload user_;  // the one being read
  std::size_t uses_ = 0;
  bool is_broken_ = false, is_too_large_ = false;
};

}  // namespace

Result<Workloads> parse_pod_resources(std::string_view message) { return Parser().parse(message); }

}  // namespace gpuward::exporter
