#include "exporter/gpu/nvidia/shared_object.h"

#include <dlfcn.h>

#include <utility>

namespace gpuward::exporter::nvml {
namespace {

// Checks glibc's message. If a dependency of the library is missing, the message names the
// dependency; that is a broken installation, not a missing driver.
bool says_no_such_file(const std::string& name, const std::string& words) {
  return words.starts_with(name + ": cannot open shared object file:") &&
         words.ends_with("No such file or directory");
}

}  // namespace

Result<SharedObject> SharedObject::open(const std::string& name) {
  if (void* const handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    return SharedObject(handle);
  }
  const char* const reason = ::dlerror();
  std::string words = reason == nullptr ? name + " cannot be loaded" : reason;
  const ErrorKind kind =
      says_no_such_file(name, words) ? ErrorKind::kNotFound : ErrorKind::kUnavailable;
  return fail(kind, std::move(words));
}

SharedObject::SharedObject(SharedObject&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)) {}

SharedObject::~SharedObject() {
  if (handle_ != nullptr) ::dlclose(handle_);
}

void* SharedObject::find(const char* symbol) const { return ::dlsym(handle_, symbol); }

}  // namespace gpuward::exporter::nvml
