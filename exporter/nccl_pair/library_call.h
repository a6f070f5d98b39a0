// Functions of a library that was loaded at run time, each by its C name. Unlike NVML's, all are
// required: first_missing() names a missing one. Used by nccl_abi.h and cuda_abi.h.
#pragma once

#include <string>

#include "exporter/gpu/nvidia/shared_object.h"

namespace gpuward::exporter::nccl_pair {

// Looks up names, and remembers the first missing one.
class Lookup {
 public:
  explicit Lookup(const nvml::SharedObject& library) : library_(library) {}
  [[nodiscard]] void* find(const char* name) {
    void* const address = library_.find(name);
    if (address == nullptr && first_missing_.empty()) first_missing_ = name;
    return address;
  }
  [[nodiscard]] const std::string& first_missing() const { return first_missing_; }

 private:
  const nvml::SharedObject& library_;
  std::string first_missing_;
};

template <typename Signature>
class LibraryCall;

template <typename Answer, typename... Arguments>
class LibraryCall<Answer(Arguments...)> {
 public:
  LibraryCall(Lookup& lookup, const char* name)
      : pointer_(reinterpret_cast<Answer (*)(Arguments...)>(lookup.find(name))), name_(name) {}

  [[nodiscard]] const char* name() const { return name_; }

  // The library's structures have other names, which clang's check of pointer types would report.
#if defined(__clang__)
  __attribute__((no_sanitize("function")))
#endif
  Answer
  operator()(Arguments... arguments) const {
    return pointer_(arguments...);
  }

 private:
  Answer (*pointer_)(Arguments...);
  const char* name_;
};

}  // namespace gpuward::exporter::nccl_pair
