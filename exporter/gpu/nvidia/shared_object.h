// A shared library opened at run time: gpuward builds and runs without the vendor's driver. Used by
// Session, which alone decides when NVML is opened and closed, and by exporter/nccl_pair.
#pragma once

#include <string>

#include "core/model/result.h"

namespace gpuward::exporter::nvml {

class SharedObject {
 public:
  // kNotFound if there is no such file (no driver on this machine); kUnavailable, with the loader's
  // message, if the file cannot be loaded.
  [[nodiscard]] static Result<SharedObject> open(const std::string& name);

  SharedObject(SharedObject&& other) noexcept;
  SharedObject& operator=(SharedObject&&) = delete;
  SharedObject(const SharedObject&) = delete;
  SharedObject& operator=(const SharedObject&) = delete;
  ~SharedObject();

  [[nodiscard]] void* find(const char* symbol) const;  // null if it has no symbol of that name

 private:
  explicit SharedObject(void* handle) : handle_(handle) {}
  void* handle_;
};

}  // namespace gpuward::exporter::nvml
