// The kinds that the fake API serves: a table of built-in ones, and those that
// CustomResourceDefinitions add. A Resource has the differences of its kind from the others; the
// rest of the fake is generic.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/runtime/json.h"
#include "tests/fakes/kube/failure.h"

namespace gpuward::fakes {

struct Traits {
  bool namespaced = false;
  bool has_status = false;    // a status subresource: the main one does not change .status
  bool keeps_status = false;  // a new object may have a status (a kubelet registers its node so)
  bool has_generation = false;
  bool unconditional_update = false;  // PUT without resourceVersion
  bool create_on_update = false;      // PUT of an absent object creates it
};

struct Resource {
  std::string group, version, plural, singular, kind;
  std::vector<std::string> short_names;
  Traits traits;
  bool custom = false;
  Json schema = nullptr;   // openAPIV3Schema of a custom kind
  Json columns = nullptr;  // additionalPrinterColumns of a custom kind

  [[nodiscard]] std::string api_version() const {
    return group.empty() ? version : group + "/" + version;
  }
  [[nodiscard]] std::string collection() const {
    return group + "/" + plural;
  }  // shared by versions
  [[nodiscard]] About about() const { return {group, plural, kind}; }
};

using ResourcePtr = std::shared_ptr<const Resource>;

class Registry {
 public:
  Registry();  // with the built-in kinds
  // Any thread. Null if there is none.
  [[nodiscard]] ResourcePtr find(std::string_view group, std::string_view version,
                                 std::string_view plural) const;
  [[nodiscard]] bool serves(std::string_view group, std::string_view version) const;
  [[nodiscard]] std::vector<ResourcePtr> all() const;
  // Replaces the kinds that an earlier definition of that group and plural added.
  void define(const std::string& group, const std::string& plural, std::vector<Resource> versions);

 private:
  mutable std::mutex mutex_;
  std::vector<ResourcePtr> resources_;
};

}  // namespace gpuward::fakes
