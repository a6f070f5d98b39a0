// A shared library opened at run time: gpuward is built and runs without the vendor's driver. Used
// by Session, which alone decides when it is opened and closed.
#pragma once

#include <string>

#include "core/model/result.h"

namespace gpuward::exporter::nvml {

class SharedLibrary {
 public:
  // kNotFound where there is no such file (no driver on this machine); kUnavailable, with the
  // loader's words, where there is one that cannot be loaded.
  [[nodiscard]] static Result<SharedLibrary> open(const std::string& name);

  SharedLibrary(SharedLibrary&& other) noexcept;
  SharedLibrary& operator=(SharedLibrary&&) = delete;
  SharedLibrary(const SharedLibrary&) = delete;
  SharedLibrary& operator=(const SharedLibrary&) = delete;
  ~SharedLibrary();

  [[nodiscard]] void* find(const char* symbol) const;  // null where it has none of that name

 private:
  explicit SharedLibrary(void* handle) : handle_(handle) {}
  void* handle_;
};

}  // namespace gpuward::exporter::nvml
